// SPDX-License-Identifier: Apache-2.0
// AIPerf's profile_export.jsonl, a record a request, and its profile_export_aiperf.json, figures alone. Keys:
// src/aiperf/common/models/record_models.py (MetricRecordInfo) and export_models.py (JsonExportData), 0.2 to 0.4.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "sim/observe/json_file.hpp"
#include "sim/observe/readers.hpp"
#include "sim/result/metric_table.hpp"
#include "traces/row.hpp"

namespace llmscape::observe {
namespace {

using Json = JsonFile::Json;

bool recognises(std::string_view beginning) {
  return beginning.find("\"request_start_ns\"") != beginning.npos ||
         (beginning.find("\"time_to_first_token\"") != beginning.npos && beginning.find("\"avg\"") != beginning.npos);
}

// Seconds of one of the metric's unit; 1 for what is no time. Nothing after reporting.
std::optional<double> per_second(const JsonFile& file, const Json& metric) {
  const std::string unit = file.text(metric, "unit");
  for (const auto& [name, seconds] : {std::pair("ns", 1e-9), {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"sec", 1.0}})
    if (unit == name) return seconds;
  if (unit.empty() || unit == "count" || unit.starts_with("token") || unit.starts_with("request")) return 1;
  file.error("unit", fmt::format("{} is no unit of a time, of tokens or of requests", in_quotes(unit)));
  return std::nullopt;
}

std::optional<double> value_of(const JsonFile& file, const Json& metrics, const std::string& key, bool needed) {
  const auto found = metrics.find(key);
  if (found == metrics.end() && !needed) return std::nullopt;
  if (found == metrics.end() || !found->is_object()) {
    file.error(key, fmt::format("'{}' must be an object with 'value' and 'unit'", key));
    return std::nullopt;
  }
  const auto value = file.number(*found, "value");
  const auto unit = per_second(file, *found);
  return value && unit ? std::optional(*value * *unit) : std::nullopt;
}

// Requests, warm-up aside.
struct Sent {
  std::size_t count = 0, repeated = 0, warmup = 0;
};

// A number by which the record is known, as in files that were joined: by its id and start, as an attempt after another
// has a start of its own. 0 where the file does not say.
std::uint64_t record_of(const JsonFile& file, const Json& metadata) {
  const std::string id = file.text(metadata, "x_request_id");
  const auto start = metadata.find("request_start_ns");
  if (id.empty() || start == metadata.end()) return 0;
  return std::max<std::uint64_t>(1, std::hash<std::string>()(id + '@' + start->dump()));
}

std::optional<double> number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// A record of an error as a request that its client gave up, where it says when, and how long the prompt was: AIPerf
// tells it as `error_isl`. Errors differ from version to version: what is no number there tells nothing.
std::optional<Request> given_up(const Json& record) {
  const Json& metadata = record["metadata"];
  const auto metrics = record.find("metrics");
  const auto start = number_in(metadata, "request_start_ns");
  auto end = number_in(metadata, "cancellation_time_ns");
  const Json& error = record["error"];
  const std::string type =
      error.is_object() && error.contains("type") && error["type"].is_string() ? error["type"].get<std::string>() : "";
  const bool timed_out = type == "timed_out" || type.find("Timeout") != type.npos;
  if (timed_out && !end) end = number_in(metadata, "request_end_ns");
  if (!start || !end || *end <= *start || metrics == record.end() || !metrics->is_object()) return std::nullopt;
  const auto tokens = [&](const char* key) -> double {
    const auto metric = metrics->find(key);
    return metric != metrics->end() && metric->is_object() ? number_in(*metric, "value").value_or(0) : 0;
  };
  const double prompt = std::max(tokens("input_sequence_length"), tokens("error_isl"));
  const double output = tokens("output_sequence_length");
  constexpr auto kMost = static_cast<double>(JsonFile::kMostTokens);
  if (!(prompt >= 1 && prompt <= kMost) || !(output >= 0 && output <= kMost)) return std::nullopt;
  Request r;
  r.arrival = *start * 1e-9;
  r.prompt_tokens = static_cast<std::int64_t>(prompt);
  r.output_tokens = static_cast<std::int64_t>(output);
  r.gave_up = (*end - *start) * 1e-9;
  return r;
}

void read_record(const JsonFile& file, Observed& observed, Sent& sent) {
  const Json& root = file.root();
  if (!root.contains("metadata") || !root["metadata"].is_object())
    return file.error("metadata", "'metadata' is missing");
  const std::string phase = file.text(root["metadata"], "benchmark_phase");
  if (const auto start = number_in(root["metadata"], "request_start_ns"); start && *start >= 0)
    observed.first_call = std::min(*start * 1e-9, observed.first_call.value_or(*start * 1e-9));
  if (!phase.empty() && phase != "profiling") {
    ++sent.warmup;
    return;
  }
  const std::uint64_t record = record_of(file, root["metadata"]);
  if (record != 0 && !observed.records.insert(record).second) {
    ++sent.repeated;
    return;
  }
  ++sent.count;
  if (root.contains("error") && !root["error"].is_null()) {
    if (auto request = given_up(root)) {
      request->id = record;
      observed.requests.push_back(*request);
    }
    return;
  }
  if (!root.contains("metrics") || !root["metrics"].is_object()) return file.error("metrics", "'metrics' is missing");
  const Json& metrics = root["metrics"];
  const auto start = file.number(root["metadata"], "request_start_ns");
  const auto prompt = value_of(file, metrics, "input_sequence_length", true),
             output = value_of(file, metrics, "output_sequence_length", true);
  if (!start || !prompt || !output) return;
  Request r;
  r.arrival = *start * 1e-9;
  constexpr auto kMost = static_cast<double>(JsonFile::kMostTokens);
  if (*prompt > kMost || *output > kMost) return file.error("metrics", "more tokens than a sequence has");
  r.prompt_tokens = static_cast<std::int64_t>(*prompt);
  r.output_tokens = static_cast<std::int64_t>(*output);
  r.ttft = value_of(file, metrics, "time_to_first_token", false);
  r.e2e = value_of(file, metrics, "request_latency", false);
  r.id = record;
  // This project's own records say what was in the prefix cache.
  if (const auto found = value_of(file, metrics, "prefix_hit_tokens", false)) {
    observed.hits.found += std::min(*found, *prompt);
    observed.hits.asked += *prompt;
  }
  if (r.prompt_tokens > 0 && r.output_tokens > 0) observed.requests.push_back(r);
}

void read_figures(const JsonFile& file, Observed& observed) {
  for (const metrics::Column& column : metrics::columns()) {
    if (column.metric->aiperf.empty()) continue;
    const auto metric = file.root().find(std::string(column.metric->aiperf));
    const std::string statistic = column.statistic.empty() || column.statistic == "mean" ? "avg" : column.statistic;
    if (metric == file.root().end() || !metric->is_object() || !metric->contains(statistic)) continue;
    const auto value = file.number(*metric, statistic);
    const auto unit = per_second(file, *metric);
    if (value && unit) observed.numbers[column.name] = *value * *unit;
  }
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  LineReader lines(path);
  const auto first = lines.next();
  if (!first || first->find("\"request_start_ns\"") == first->npos) {
    if (const auto file = JsonFile::read(path, diagnostics)) read_figures(*file, observed);
    return;
  }
  traces::RowFile rows(path);
  Sent sent;
  while (const auto row = rows.next(diagnostics))
    if (const auto record = JsonFile::parse(path, std::string(row->text()), row->line(), diagnostics))
      read_record(*record, observed, sent);
  observed.note_unanswered(sent.count);
  if (sent.warmup > 0)
    observed.notes.push_back(fmt::format("{} records of a warm-up are left out: the server had them too", sent.warmup));
  if (sent.repeated > 0)
    observed.notes.push_back(
        fmt::format("{} of {} records repeat one before them (x_request_id and start) and are not counted",
                    sent.repeated, sent.count + sent.repeated));
}

}  // namespace

Reader aiperf() { return {"aiperf", "AIPerf's profile_export.jsonl or profile_export_aiperf.json", recognises, read}; }

}  // namespace llmscape::observe
