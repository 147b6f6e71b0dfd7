// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/process_pool.hpp"
#include "sim/report/accuracy_parts.hpp"

namespace llmscape::report {
namespace {

using validation::MeasuredRow;
using validation::MeasuredTable;
using Rows = std::vector<const MeasuredRow*>;

// Prompts of conversations and questions, whose lengths nobody recorded: an assumption, and twice as long.
constexpr int kAssumed = 300, kTwiceAsLong = 600;
// Of code around a hole: an assumption.
constexpr int kOfCompletion = 1000;
constexpr const char* kCompletion = "sourcegraph-fim";

std::vector<std::string> prompts_of(int tokens) { return {fmt::format("workload.stream.prompt.value={}", tokens)}; }

// The rows with a host that makes each step as long as the measured time between tokens.
MeasuredTable at_measured_rate(MeasuredTable table) {
  const auto itl = std::ranges::find(table.metrics, "itl", &validation::TableMetric::name) - table.metrics.begin();
  for (MeasuredRow& row : table.rows)
    if (const auto seconds = row.measured[static_cast<std::size_t>(itl)]) {
      row.overrides.push_back(fmt::format("hardware.devices[0].host.per_step={} ms", 1e3 * *seconds));
      row.overrides.emplace_back("hardware.devices[0].host.per_request=0 us");
    }
  return table;
}

bool of_completion(const MeasuredRow& row) {
  const auto task = row.value("task");
  return task && validation::text_of(*task) == kCompletion;
}

// Of those that lack the lengths of their prompts alone.
Rows completion_rows(const MeasuredTable& table) {
  Rows rows;
  for (const MeasuredRow& row : table.rows)
    if (of_completion(row) && row.left_out && row.left_out->starts_with("lengths of prompts")) rows.push_back(&row);
  return rows;
}

}  // namespace

void add_energy(const AccuracyTask& task, AccuracyPage& page) {
  const auto table = task.rows("ml_energy_h100.csv.gz", validation::RowKind::batch, "ml_energy.yaml");
  if (!table) return;
  const MeasuredTable at_rate = at_measured_rate(*table);
  const auto& catalogs = task.sources.catalogs;
  EnergyAccuracy energy;
  energy.about =
      "ml-energy/leaderboard @ 0cd52da: vLLM 0.11.1 on 1 to 8 H100, all calls at once, power of the GPUs alone in the "
      "window in which `max_num_seqs` calls are served. Nothing is fitted to these rows.";
  struct Way {
    std::string name;
    const MeasuredTable* table;
    std::vector<std::string> overrides;
  };
  const std::vector<Way> ways = {
      {fmt::format("end to end, prompts of {} tokens (assumed)", kAssumed), &*table, prompts_of(kAssumed)},
      {fmt::format("end to end, prompts of {} tokens", kTwiceAsLong), &*table, prompts_of(kTwiceAsLong)},
      {fmt::format("measured rate put in, prompts of {} tokens", kAssumed), &at_rate, prompts_of(kAssumed)}};
  std::map<std::string, EnergyRows> by_model;
  std::map<std::string, int> missing;  // rows that have no prediction, by the reason
  energy.all.name = "all";
  for (const Way& way : ways) {
    task.about_to("full batches on H100, " + way.name);
    energy.ways.push_back(way.name);
    const auto points = simulate_rows(*way.table, rows_to_predict(*way.table), way.overrides, catalogs, default_jobs());
    if (energy.ways.size() == 1)
      for (const auto& point : points)
        if (!point.refused.empty()) ++missing[point.refused];
    energy.all.ways.push_back(compare_points(*way.table, all_of(points)));
    for (const auto& group : group_points(points, {"model_id"})) {
      EnergyRows& rows = by_model[group.name];
      rows.name = group.name;
      rows.ways.push_back(compare_points(*way.table, group.points));
    }
  }
  for (auto& [name, rows] : by_model) energy.by_model.push_back(std::move(rows));
  task.about_to("full batches on H100, intervals");
  energy.coverage = coverage_of(task, *table, rows_to_predict(*table), {"model_id"});
  const Rows completion = completion_rows(*table);
  energy.apart.name = fmt::format("code completion, prompts of {} tokens (assumed)", kOfCompletion);
  const auto apart = simulate_rows(*table, completion, prompts_of(kOfCompletion), catalogs, default_jobs());
  energy.apart.ways.push_back(compare_points(*table, all_of(apart)));
  for (const MeasuredRow& row : table->rows)
    if (row.left_out) ++missing[*row.left_out];
  for (const auto& [reason, rows] : missing)
    energy.notes.push_back(fmt::format("left out: {} of {} rows: {}", rows, table->rows.size(), reason));
  page.energy = std::move(energy);
}

}  // namespace llmscape::report
