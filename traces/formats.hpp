// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/request_trace.hpp"

// The formats of trace_formats(), one source file each. A file's keys and columns are described at the head of its
// source.
namespace llmscape::traces {

TraceFormat azure_csv();
TraceFormat mooncake_jsonl();
TraceFormat ragpulse_jsonl();
TraceFormat vllm_jsonl();
TraceFormat agent_csv();
TraceFormat dynamo_jsonl();
TraceFormat otlp_json();
TraceFormat weka_jsonl();
TraceFormat llmscape_jsonl();

}  // namespace llmscape::traces
