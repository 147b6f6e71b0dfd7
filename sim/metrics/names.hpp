// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace llmscape::metrics {

enum class Better { higher, lower, neither };

// One quantity of a result, under its one name: what tables, JSON, `llmscape list metrics`, `compare` and the docs say.
struct Metric {
  std::string_view key;      // "ttft_s"
  std::string_view section;  // of run.json, where it stands: "latency"; empty: at the top
  std::string_view unit;     // in files; empty: a count
  std::string_view text;     // the definition, in a line
  Better better = Better::neither;
  bool distribution = false;   // has mean, p50, p90, p95, p99 and max
  std::string_view vllm = {};  // what vLLM's benchmark results call it, in ms and with its statistic where it is a time
  std::string_view aiperf = {};  // what AIPerf calls it
};

// In the order in which they are printed.
std::span<const Metric> metrics();

}  // namespace llmscape::metrics
