// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/process_pool.hpp"
#include "sim/report/accuracy_parts.hpp"

namespace llmscape::report {
namespace {

using validation::Comparison;

std::optional<validation::MeasuredTable> silicon(const AccuracyTask& task) {
  return task.rows("silicon_dev.csv.gz", validation::RowKind::deployment, "silicon.yaml");
}

// Metrics have the name of their software behind them where the table has several.
void add_batches(const AccuracyTask& task, const char* file, const char* mapping, const std::string& software,
                 RunAccuracy run, AccuracyPage& page) {
  task.about_to(run.name);
  const auto table = task.rows(file, validation::RowKind::batch, mapping);
  if (!table) return;
  const auto points = simulate_rows(*table, rows_to_predict(*table), {}, task.sources.catalogs, default_jobs());
  const std::vector<std::string> by = software.empty() ? std::vector<std::string>{} : std::vector{software};
  for (const auto& group : group_points(points, by))
    for (Comparison& c : compare_points(*table, group.points)) {
      if (!software.empty()) c.metric += ", " + group.name;
      run.comparisons.push_back(std::move(c));
    }
  std::ranges::sort(run.comparisons, {}, &Comparison::metric);
  for (const Comparison& c : run.comparisons)
    run.notes.push_back(fmt::format("{}: the largest error is that of {}, {:.3g} s predicted, {:.3g} s measured",
                                    c.metric, c.worst.front().name, c.worst.front().predicted,
                                    c.worst.front().measured));
  page.runs.push_back(std::move(run));
}

// The medians without the rows whose kernels are assumed: nothing that rests on an assumption should be counted unseen.
std::string without_assumed(const validation::MeasuredTable& table, const std::vector<validation::RowPoint>& points) {
  std::vector<const validation::RowPoint*> others;
  std::size_t assumed = 0;
  for (const auto& group : group_points(points, {"engine", "model"})) {
    if (group.name == "vllm, gpt-oss-120b") assumed += group.points.size();
    else others.insert(others.end(), group.points.begin(), group.points.end());
  }
  std::string medians;
  for (const Comparison& c : compare_points(table, others))
    medians += fmt::format("{}{} {:.1f} %", medians.empty() ? "" : ", ", c.metric, 100 * c.error_median.value_or(0));
  return fmt::format(
      "without the {} rows of GPT-OSS under vLLM, whose kernel of experts is assumed (docs/measured_deployments.md), "
      "the "
      "medians are: {}",
      assumed, medians);
}

}  // namespace

// What rows of one deployment have in common: all but the number of users.
const std::vector<std::string> kDeployment = {"model",         "hardware",      "engine",          "backend_version",
                                              "prompt_tokens", "output_tokens", "tensor_parallel", "expert_parallel"};

void add_deployments(const AccuracyTask& task, AccuracyPage& page) {
  // Levels of concurrency with fewer rows say nothing about rank.
  constexpr std::int64_t kLeastRowsToRank = 10;
  task.about_to("closed-loop deployments");
  const auto table = silicon(task);
  if (!table) return;
  const auto wanted = rows_to_predict(*table);
  const auto points = simulate_rows(*table, wanted, {}, task.sources.catalogs, default_jobs());
  RunAccuracy run;
  run.name = kDeployments;
  run.about = fmt::format(
      "{} public points of vLLM, TensorRT-LLM and SGLang (ai-dynamo/aiconfigurator @ 095f58a), each simulated from its "
      "columns; nothing fitted to them.",
      table->rows.size());
  run.comparisons = compare_points(*table, all_of(points));
  run.listed = table->rows.size();
  task.about_to(run.name + ", intervals");
  run.coverage = coverage_of(task, *table, wanted, kDeployment);
  double least_rank = 1;
  for (const auto& group : group_points(points, {"users"}))
    for (const Comparison& c : compare_points(*table, group.points))
      if (c.metric == "rate" && c.count >= kLeastRowsToRank) least_rank = std::min(least_rank, c.rank.value_or(0));
  run.notes.push_back(
      fmt::format("rank correlation of the throughput within one concurrency: at least {:.3f}", least_rank));
  run.notes.push_back(without_assumed(*table, points));
  for (const auto& row : table->rows)
    if (row.left_out) run.notes.push_back("left out: " + row.name + ": " + *row.left_out);
  page.runs.push_back(std::move(run));
}

void add_batches(const AccuracyTask& task, AccuracyPage& page) {
  RunAccuracy bench, splitwise;
  bench.name = "A100, static batches of 2023 and 2024";
  bench.about =
      "argonne-lcf/LLM-Inference-Bench @ 4211f5d: one batch submitted at once, input as long as output; two "
      "constants of vLLM's host were fitted to other deployments of it.";
  splitwise.name = "A100, Llama-2-70B of Splitwise";
  splitwise.about =
      "Mutinifni/splitwise-sim @ 8f99e7d: prefill of a batch and its mean decode step; no constant fitted to it. 45 to "
      "55 ms a token at batch 1 are the Python host of 2023, which is not modelled.";
  add_batches(task, "llm_inference_bench_a100_mi250_gaudi2.csv", "inference_bench.yaml", "Framework", std::move(bench),
              page);
  add_batches(task, "splitwise_a100.csv", "splitwise.yaml", "", std::move(splitwise), page);
}

}  // namespace llmscape::report
