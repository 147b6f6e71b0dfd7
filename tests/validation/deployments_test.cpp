// SPDX-License-Identifier: Apache-2.0
// Public closed-loop measurements of H100 and H200 deployments (ai-dynamo/aiconfigurator, silicon_sample.csv) against
// scenarios written from their columns. No constant of the simulator was fitted to them.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/process_pool.hpp"
#include "sim/validation/server_spread.hpp"
#include "tests/support/approx.hpp"
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

TEST_CASE("closed-loop deployments: TPOT within 6 % in the median, TTFT within 15 %, ranks as measured") {
  const auto table = silicon();
  if (!table) return;
  const auto points = simulate_rows(*table, rows_to_predict(*table), {}, testing::source_catalogs(), default_jobs());
  for (const RowPoint& point : points) CHECK_MESSAGE(point.refused.empty(), point.row->name, ": ", point.refused);
  const auto errors = printed(*table, points);
  CHECK(of(errors, "tpot").count >= 163);
  CHECK(*of(errors, "tpot").error_median <= 0.06);
  CHECK(*of(errors, "tpot").error_p90 <= 0.20);
  CHECK(*of(errors, "ttft").error_median <= 0.15);
  CHECK(*of(errors, "rate").rank >= 0.97);
  for (const RowGroup& level : group_points(points, {"users"})) {
    if (level.points.size() < 10) continue;  // says nothing about rank
    CHECK(*of(compare_points(*table, level.points), "rate").rank >= 0.9);
  }
}

// What 'run --intervals' says of servers is fitted to these rows, and tried on each deployment by what the others give.
TEST_CASE("nine of ten rows lie where the other deployments say that a server's TPOT and TTFT lie") {
  const auto table = silicon();
  if (!table) return;
  const std::vector<std::string> deployment = {"model",         "hardware",      "engine",          "backend_version",
                                               "prompt_tokens", "output_tokens", "tensor_parallel", "expert_parallel"};
  const auto rows = row_intervals(*table, rows_to_predict(*table), {}, testing::source_catalogs(), default_jobs());
  for (const auto& [metric, column] : {std::pair("tpot", "tpot_s.mean"), std::pair("ttft", "ttft_s.mean")}) {
    CAPTURE(metric);
    const auto at = static_cast<std::size_t>(
        std::ranges::find(table->metrics, std::string_view(metric), &TableMetric::name) - table->metrics.begin());
    const metrics::ServerSpread fitted = server_spread(rows, at), &kept = *metrics::find_column(column)->metric->server;
    MESSAGE(metric << ": kernels " << *share_inside(rows, at) << ", servers " << held_out_share(rows, at, deployment)
                   << "; " << fitted.below << " to " << fitted.above);
    CHECK(held_out_share(rows, at, deployment) >= 0.88);
    CHECK(kept.below == testing::approx(fitted.below).epsilon(0.03));
    CHECK(kept.above == testing::approx(fitted.above).epsilon(0.05));
  }
}
