// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::metrics {

enum class Better { higher, lower, neither };

// One quantity of a result, under its one name: what tables, JSON, `llmscape list metrics`, `compare` and the docs say.
struct Metric {
  std::string_view key;      // "ttft_s"
  std::string_view section;  // of run.json, where it stands: "latency"; empty: at the top
  std::string_view unit;     // in files; empty: a count
  std::string_view text;     // the definition, in a line
  Better better = Better::neither;
  bool distribution = false;   // has mean, std, p50, p90, p95, p99 and max
  std::string_view vllm = {};  // what vLLM's benchmark results call it, in ms and with its statistic where it is a time
  std::string_view aiperf = {};  // what AIPerf calls it
};

// In the order in which they are printed.
std::span<const Metric> metrics();

// One number of a result: a metric, or a statistic of its distribution. What CSV files, SLOs, objectives and baselines
// speak of.
struct Column {
  std::string name;          // "ttft_s.p99", "goodput_rps"
  const Metric* metric;      // of metrics()
  std::string statistic;     // "p99"; empty: the metric is one number
  std::string json_pointer;  // where run.json has it: "/latency/ttft_s/p99"
};
// All of them, in the order of metrics().
const std::vector<Column>& columns();
// Its name as expressions write it, without the unit of times: "ttft.p99".
std::string short_name(const Column& column);
// By its name, or its short one; nullptr if there is none.
const Column* find_column(std::string_view name);
// That one, or all statistics of a metric ("ttft"); empty if there is none.
std::vector<const Column*> find_columns(std::string_view name);

}  // namespace llmscape::metrics
