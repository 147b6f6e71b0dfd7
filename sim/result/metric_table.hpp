// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "sim/result/result.hpp"

namespace llmscape::serving {
struct Request;
}

namespace llmscape::metrics {

// What of a scenario decides which distributions its requests have.
struct Serving {
  bool stages_shared = false;  // streams of requests take turns on the stages of a pipeline
};

enum class Better { higher, lower, neither };

// What servers did beside what the errors of kernels explain: an interval of `run --intervals` from `below` times its
// low to `above` times its high end holds nine of ten figures of measured deployments (validation/server_spread.hpp,
// which fits these factors; docs/accuracy.md says on what).
struct ServerSpread {
  double below = 1, above = 1;
  // Of joules and watts: they multiply what lies above those of devices at rest, which are known, and the high end is
  // no more than what the devices may draw comes to in the time that was predicted.
  bool above_idle = false;
};

// An end of an interval, and of it what does not vary beside what a device does.
struct End {
  double value = 0;
  double idle = 0;             // of ServerSpread::above_idle
  std::optional<double> most;  // what it may be at most
  template <class Message>
  void cross(Message& m) {
    m(value, idle, most);
  }
};
// Where servers would show an interval from one end to the other.
std::pair<double, double> on_servers(const ServerSpread& spread, const End& low, const End& high);

// One quantity of a result: its one name, what it means, and how it is taken. Observer, JSON, CSV, intervals, summary,
// `llmscape list metrics`, pages, `compare` and `check` follow from these rows.
struct Metric {
  std::string_view key;         // "ttft_s"
  std::string_view section;     // of run.json, where it stands: "latency"; empty: at the top
  std::string_view label = {};  // in the summary's table of latencies: "TTFT"; empty: it is not there
  std::string_view unit;        // in files; empty: a count
  std::string_view text;        // the definition, in a line
  Better better = Better::neither;
  bool interval = false;                 // `run --intervals` says what the errors of the kernel models could make of it
  const ServerSpread* server = nullptr;  // of its mean and median, or of the one number; absent: not known
  bool distribution = false;             // has mean, std, p50, p90, p95, p99 and max
  // Of a measured completed request, for a distribution that the observer keeps. Others are told of by name
  // (RunResult::latency).
  std::optional<Seconds> (*of_request)(const serving::Request&) = nullptr;
  bool (*applies)(const Serving&) = nullptr;  // absent: however it is served
  // Of one number; nothing where the run has none. Absent: it is told by name (RunResult::numbers).
  std::optional<double> (*value)(const result::RunResult&) = nullptr;
  std::string_view vllm = {};  // what vLLM's benchmark results call it, in ms and with its statistic where it is a time
  std::string_view aiperf = {};  // what AIPerf calls it

  // That number of a result.
  [[nodiscard]] std::optional<double> number(const result::RunResult& result) const;
};

// Distributions, and single numbers: a row of one of these tables is all that a metric needs beside what observes it.
std::span<const Metric> latencies();
std::span<const Metric> phases();  // of requests
std::span<const Metric> numbers();
// Of them: energy, cost and area.
std::span<const Metric> energy_numbers();
// Of them: what the memory of a device was for, at its peak.
std::span<const Metric> memory_numbers();
// Of them: what was loaded into it for models that take turns.
std::span<const Metric> turns_numbers();
// The distributions that an observer keeps of requests, in its order.
std::vector<const Metric*> latencies_of(const Serving& serving);
// All, in the order in which they are printed.
const std::vector<Metric>& metrics();

// What is said of a distribution.
struct Statistic {
  std::string_view name;
  double result::Percentiles::* of;
  bool interval;  // where its metric has one
};
inline constexpr std::array kStatistics = {
    Statistic{"mean", &result::Percentiles::mean, true}, Statistic{"std", &result::Percentiles::std, false},
    Statistic{"p50", &result::Percentiles::p50, true},   Statistic{"p90", &result::Percentiles::p90, true},
    Statistic{"p95", &result::Percentiles::p95, true},   Statistic{"p99", &result::Percentiles::p99, true},
    Statistic{"max", &result::Percentiles::max, false}};

// One number of a result: a metric, or a statistic of its distribution. What CSV files, SLOs, objectives and baselines
// speak of.
struct Column {
  std::string name;       // "ttft_s.p99", "goodput_rps"
  const Metric* metric;   // of metrics()
  std::string statistic;  // "p99"; empty: the metric is one number
  double result::Percentiles::* of;
  bool interval;             // as of the metric and the statistic
  std::string json_pointer;  // where run.json has it: "/latency/ttft_s/p99"

  // Nothing where the run has none.
  [[nodiscard]] std::optional<double> value(const result::RunResult& result) const;
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
