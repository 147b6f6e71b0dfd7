// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/result/result.hpp"

namespace llmscape::report {

// The result under the keys of vLLM's benchmark results (benchmarks/lib, `vllm bench serve --save-result`), times in
// ms, so that scripts that read those read this. Counts and sums are of the measured window. Keys whose values
// would be per request are absent; requests.jsonl has those.
std::string to_vllm_json(const result::RunResult& result);

}  // namespace llmscape::report
