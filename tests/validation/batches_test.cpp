// SPDX-License-Identifier: Apache-2.0
// Batches submitted at once on A100s, with software of 2023 and 2024 (argonne-lcf/LLM-Inference-Bench @ 4211f5d,
// Mutinifni/splitwise-sim @ 8f99e7d): errors are printed, and held to limits that guard them.
#include <doctest/doctest.h>

#include <map>

#include "base/process_pool.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/validation/reference_rows.hpp"

using namespace llmscape;
using namespace llmscape::validation;

namespace {

std::vector<RowPoint> simulate_all(const MeasuredTable& table) {
  return simulate_rows(table, rows_to_predict(table), {}, testing::source_catalogs(), default_jobs());
}

void print(const std::string& name, const Comparison& errors) {
  MESSAGE(name << ": " << errors.count << " rows, median error " << *errors.error_median << ", p90 "
               << *errors.error_p90 << ", bias " << *errors.bias << ", rank " << *errors.rank);
}

}  // namespace

TEST_CASE("whole latencies of batches on A100s: in the right order, and the faster the software the nearer") {
  const auto table =
      testing::reference_rows("llm_inference_bench_a100_mi250_gaudi2.csv", RowKind::batch, "inference_bench.yaml");
  if (!table) return;
  CHECK(rows_to_predict(*table).size() == 537);
  // What they were when this was written, and a little: 0.07, 0.047, 0.31. Two constants of vLLM's host come from rows
  // that are left out here; what DeepSpeed-MII lacks is its host's time of 2024 too.
  const std::map<std::string, double> limits = {{"TensorRT-LLM", 0.09}, {"vLLM", 0.06}, {"Deepspeed-MII", 0.35}};
  const auto points = simulate_all(*table);
  const auto groups = group_points(points, {"Framework"});
  CHECK(groups.size() == 3);
  for (const RowGroup& group : groups) {
    const auto errors = compare_points(*table, group.points);
    REQUIRE(errors.size() == 1);
    print(group.name, errors.front());
    CHECK(*errors.front().error_median < limits.at(group.name));
    CHECK(*errors.front().rank > 0.9);
  }
}

TEST_CASE("prefill and decode of Llama-2-70B under the software of 2023: slopes hold where the GPU is busy") {
  const auto table = testing::reference_rows("splitwise_a100.csv", RowKind::batch, "splitwise.yaml");
  if (!table) return;
  const auto errors = testing::errors_of(*table, simulate_all(*table));
  REQUIRE(errors.size() == 2);
  for (const Comparison& metric : errors) print(metric.metric, metric);
  CHECK(*errors[0].rank > 0.9);
  // 45 ms a token whatever the degree: the host of 2023, which no kernel table knows.
  CHECK(*errors[1].bias < 0);
}

TEST_CASE("batches on MI250s: constants of one half of the deployments meet the other half") {
  const auto table = testing::reference_rows("llm_inference_bench_a100_mi250_gaudi2.csv", RowKind::batch,
                                             "inference_bench_mi250.yaml");
  if (!table) return;
  const auto points = simulate_all(*table);
  CHECK(points.size() == 339);
  // Models and numbers of boards in turn: the first, the third, ... are those that the catalogue's constants were
  // fitted to.
  std::vector<const RowPoint*> halves[2], many[2];
  std::size_t index = 0;
  for (const RowGroup& group : group_points(points, {"model", "tensor_parallel"})) {
    for (const RowPoint* point : group.points) {
      halves[index % 2].push_back(point);
      const auto batch = point->row->value("batch");
      if (batch && std::get<double>(*batch) >= 32) many[index % 2].push_back(point);
    }
    ++index;
  }
  CHECK(index == 18);
  const auto fitted = compare_points(*table, halves[0]).front(), unseen = compare_points(*table, halves[1]).front(),
             skinny = compare_points(*table, many[1]).front();
  print("MI250, fitted half", fitted);
  print("MI250, other half", unseen);
  print("MI250, other half, 32 and 64 sequences", skinny);
  // 0.06, 0.07 and 0.07 when this was written; 0.25 was asked for.
  CHECK(*unseen.error_median < 0.1);
  CHECK(*unseen.error_p90 < 0.25);
  CHECK(*unseen.rank > 0.95);
  CHECK(*skinny.error_median < 0.1);
  // The rows of 64 sequences of models with grouped queries on one board take up to three times as long as predicted,
  // and than two boards: nothing here knows why.
  CHECK(*fitted.bias < 0.05);
}

TEST_CASE("batches on Gaudi 2, by its data sheet alone") {
  const auto table = testing::reference_rows("llm_inference_bench_a100_mi250_gaudi2.csv", RowKind::batch,
                                             "inference_bench_gaudi2.yaml");
  if (!table) return;
  const auto errors = testing::errors_of(*table, simulate_all(*table));
  REQUIRE(errors.size() == 1);
  print("Gaudi 2", errors.front());
  CHECK(errors.front().count == 295);
  CHECK(*errors.front().error_median < 0.2);  // 0.16
  CHECK(*errors.front().rank > 0.95);
}
