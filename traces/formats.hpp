// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/request_trace.hpp"

// The formats of trace_formats(), one source file each.
namespace llmscape::traces {

// Azure LLM inference traces: TIMESTAMP,ContextTokens,GeneratedTokens. Lengths and arrivals only.
TraceFormat azure_csv();
// Mooncake: timestamp (ms), input_length, output_length, hash_ids, one for each 512 prompt tokens.
TraceFormat mooncake_jsonl();

}  // namespace llmscape::traces
