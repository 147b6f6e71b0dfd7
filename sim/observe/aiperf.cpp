// SPDX-License-Identifier: Apache-2.0
// AIPerf's profile_export.jsonl, a record a request, and its profile_export_aiperf.json, figures alone. Keys:
// src/aiperf/common/models/record_models.py (MetricRecordInfo) and export_models.py (JsonExportData), 0.2 to 0.4.
#include <fmt/format.h>

#include "base/files.hpp"
#include "sim/observe/json_file.hpp"
#include "sim/observe/readers.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::observe {
namespace {

using Json = JsonFile::Json;

bool recognises(std::string_view beginning) {
  return beginning.find("\"request_start_ns\"") != beginning.npos ||
         (beginning.find("\"time_to_first_token\"") != beginning.npos && beginning.find("\"avg\"") != beginning.npos);
}

double per_second(const Json& metric) {
  const std::string unit =
      metric.contains("unit") && metric["unit"].is_string() ? metric["unit"].get<std::string>() : "";
  return unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "ns" ? 1e-9 : 1;
}

std::optional<double> value_of(const JsonFile& file, const Json& metrics, const std::string& key, bool needed) {
  const auto found = metrics.find(key);
  if (found == metrics.end() && !needed) return std::nullopt;
  if (found == metrics.end() || !found->is_object()) {
    file.error(key, fmt::format("'{}' must be an object with 'value' and 'unit'", key));
    return std::nullopt;
  }
  const auto value = file.number(*found, "value");
  return value ? std::optional(*value * per_second(*found)) : std::nullopt;
}

void read_record(const JsonFile& file, Observed& observed) {
  const Json& root = file.root();
  if (!root.contains("metadata") || !root["metadata"].is_object())
    return file.error("metadata", "'metadata' is missing");
  if (root["metadata"].value("benchmark_phase", "profiling") != "profiling") return;  // warm-up
  if (root.contains("error") && !root["error"].is_null()) return;
  if (!root.contains("metrics") || !root["metrics"].is_object()) return file.error("metrics", "'metrics' is missing");
  const Json& metrics = root["metrics"];
  const auto start = file.number(root["metadata"], "request_start_ns");
  const auto prompt = value_of(file, metrics, "input_sequence_length", true),
             output = value_of(file, metrics, "output_sequence_length", true);
  if (!start || !prompt || !output) return;
  Request r;
  r.arrival = *start * 1e-9;
  r.prompt_tokens = static_cast<std::int64_t>(*prompt);
  r.output_tokens = static_cast<std::int64_t>(*output);
  r.ttft = value_of(file, metrics, "time_to_first_token", false);
  r.e2e = value_of(file, metrics, "request_latency", false);
  if (r.prompt_tokens > 0 && r.output_tokens > 0) observed.requests.push_back(r);
}

void read_figures(const JsonFile& file, Observed& observed) {
  for (const metrics::Column& column : metrics::columns()) {
    if (column.metric->aiperf.empty()) continue;
    const auto metric = file.root().find(std::string(column.metric->aiperf));
    const std::string statistic = column.statistic.empty() || column.statistic == "mean" ? "avg" : column.statistic;
    if (metric == file.root().end() || !metric->is_object() || !metric->contains(statistic)) continue;
    if (const auto value = file.number(*metric, statistic))
      observed.numbers[column.name] = *value * per_second(*metric);
  }
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  LineReader lines(path);
  const auto first = lines.next();
  if (!first || first->find("\"request_start_ns\"") == first->npos) {
    if (const auto file = JsonFile::read(path, diagnostics)) read_figures(*file, observed);
    return;
  }
  for (auto line = first; line; line = lines.next()) {
    if (line->find_first_not_of(" \t") == line->npos) continue;
    if (const auto record = JsonFile::parse(path, std::string(*line), lines.line(), diagnostics))
      read_record(*record, observed);
  }
  if (!lines.error().empty())
    diagnostics.error({std::make_shared<const SourceText>(SourceText{path, ""}), lines.line() + 1, 1}, lines.error());
}

}  // namespace

Reader aiperf() { return {"aiperf", "AIPerf's profile_export.jsonl or profile_export_aiperf.json", recognises, read}; }

}  // namespace llmscape::observe
