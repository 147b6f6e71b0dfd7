// SPDX-License-Identifier: Apache-2.0
// Public closed-loop measurements of H100 and H200 deployments (ai-dynamo/aiconfigurator, silicon_sample.csv) against
// scenarios written from their columns. No constant of the simulator was fitted to them.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/process_pool.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/validation/reference_rows.hpp"

using namespace llmscape;
using namespace llmscape::validation;

namespace {

std::optional<MeasuredTable> silicon() {
  return testing::reference_rows("silicon_dev.csv.gz", RowKind::deployment, "silicon.yaml");
}

const Comparison& of(const std::vector<Comparison>& all, const std::string& metric) {
  const auto found = std::ranges::find(all, metric, &Comparison::metric);
  REQUIRE(found != all.end());
  return *found;
}

std::vector<Comparison> printed(const MeasuredTable& table, const std::vector<RowPoint>& points) {
  const auto errors = testing::errors_of(table, points);
  MESSAGE("rows " << of(errors, "tpot").count << "; TPOT median " << *of(errors, "tpot").error_median << ", p90 "
                  << *of(errors, "tpot").error_p90 << ", bias " << *of(errors, "tpot").bias << "; TTFT median "
                  << *of(errors, "ttft").error_median << ", bias " << *of(errors, "ttft").bias << "; rank "
                  << *of(errors, "rate").rank);
  return errors;
}

}  // namespace

TEST_CASE("at most 20 rows are left out, each by the name of a row and with a reason") {
  const auto table = silicon();
  if (!table) return;
  CHECK(table->rows.size() == 183);
  CHECK(rows_to_predict(*table).size() == 168);
  for (const MeasuredRow& row : table->rows)
    if (row.left_out) CHECK(row.left_out->size() > 20);
}

TEST_CASE("closed-loop deployments: TPOT within 6.5 % in the median, TTFT within 18 %, ranks as measured") {
  const auto table = silicon();
  if (!table) return;
  const auto points = simulate_rows(*table, rows_to_predict(*table), {}, testing::source_catalogs(), default_jobs());
  for (const RowPoint& point : points) CHECK_MESSAGE(point.refused.empty(), point.row->name, ": ", point.refused);
  const auto errors = printed(*table, points);
  CHECK(of(errors, "tpot").count >= 163);
  CHECK(*of(errors, "tpot").error_median <= 0.065);
  CHECK(*of(errors, "tpot").error_p90 <= 0.20);
  CHECK(*of(errors, "ttft").error_median <= 0.18);
  CHECK(*of(errors, "rate").rank >= 0.97);
  for (const RowGroup& level : group_points(points, {"users"})) {
    if (level.points.size() < 10) continue;  // says nothing about rank
    CHECK(*of(compare_points(*table, level.points), "rate").rank >= 0.9);
  }
}
