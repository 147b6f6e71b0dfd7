// SPDX-License-Identifier: Apache-2.0
// What 'run --intervals' says of the watts and joules of servers is fitted to full batches on H100s, and tried on those
// of each model by what the others give.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "base/process_pool.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/validation/server_spread.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/validation/reference_rows.hpp"

using namespace llmscape;
using namespace llmscape::validation;

TEST_CASE("nine of ten full batches lie where other models say that watts and joules of a token lie") {
  const auto table = testing::reference_rows("ml_energy_h100.csv.gz", RowKind::batch, "ml_energy.yaml");
  if (!table) return;
  const auto rows = row_intervals(*table, rows_to_predict(*table), {}, testing::source_catalogs(), default_jobs());
  for (const char* metric : {"mean_w", "joules_per_output_token"}) {
    CAPTURE(std::string(metric));
    const auto at = static_cast<std::size_t>(
        std::ranges::find(table->metrics, std::string_view(metric), &TableMetric::name) - table->metrics.begin());
    const metrics::ServerSpread fitted = server_spread(rows, at), &kept = *metrics::find_column(metric)->metric->server;
    MESSAGE(metric << ": kernels " << *share_inside(rows, at) << ", servers " << held_out_share(rows, at, {"model_id"})
                   << "; " << fitted.below << " to " << fitted.above);
    CHECK(held_out_share(rows, at, {"model_id"}) >= 0.88);
    CHECK(kept.below == testing::approx(fitted.below).epsilon(0.03));
    CHECK(kept.above == testing::approx(fitted.above).epsilon(0.03));
  }
}
