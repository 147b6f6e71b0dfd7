// SPDX-License-Identifier: Apache-2.0
// Power and joules of full batches on H100s (ml-energy/leaderboard @ 0cd52da), to which nothing was fitted: errors are
// printed, and held to limits that guard them. docs/measured_deployments.md has the figures.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/process_pool.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/validation/reference_rows.hpp"

using namespace llmscape;
using namespace llmscape::validation;

namespace {

using Edits = std::vector<std::pair<std::string, std::string>>;

// The errors of the rows as the mapping reads them with pieces of it replaced, by metric: time between tokens, power,
// joules and tokens per second. None without the data.
std::vector<Comparison> errors_with(const Edits& edits, std::size_t rows) {
  std::string wrong;
  std::string mapping = read_file("tests/validation/rows/ml_energy.yaml", wrong).value_or("");
  for (const auto& [from, to] : edits) {
    const auto at = mapping.find(from);
    REQUIRE(at != std::string::npos);
    mapping.replace(at, from.size(), to);
  }
  const test::Scratch scratch;
  const std::string file = scratch.file("mapping.yaml", mapping);
  const auto table = testing::reference_rows("ml_energy_h100.csv.gz", RowKind::batch, file);
  if (!table) return {};
  CHECK(table->rows.size() == 133);
  auto errors = testing::errors_of(
      *table, simulate_rows(*table, rows_to_predict(*table), {}, testing::source_catalogs(), default_jobs()));
  REQUIRE(errors.size() == 4);
  for (const Comparison& metric : errors) {
    MESSAGE(metric.metric << ": " << metric.count << " rows, median error " << *metric.error_median << ", p90 "
                          << *metric.error_p90 << ", bias " << *metric.bias << ", rank " << *metric.rank);
    CHECK(metric.count == rows);
  }
  return errors;
}

}  // namespace

// Of power 8 % are asked. Watts at work, joules of a bit and of dense work are those of an H100 whose kernels were read
// one by one (traces/measured): with steps as long as they were measured, power is met to 8.1 % (the next test). End to
// end the same figures come out too high, as steps are 11 to 14 % too short: small batches on several GPUs and experts.
TEST_CASE(
    "power of full batches on H100s is met to 10 % in the median, whatever the prompts, and joules are in order") {
  for (const char* prompt : {"300", "600"}) {
    CAPTURE(prompt);
    const auto errors = errors_with({{"prompt_tokens: 300", "prompt_tokens: " + std::string(prompt)}}, 110);
    if (errors.empty()) return;
    CHECK(*errors[0].error_median < 0.15);  // time between tokens: 0.141 and 0.110
    CHECK(*errors[1].error_median < 0.10);  // power: 0.0974 and 0.0988
    CHECK(*errors[1].error_mean < 0.117);
    CHECK(std::abs(*errors[1].bias) < 0.08);  // 0.071 and 0.074
    CHECK(*errors[1].rank > 0.965);           // 0.971 and 0.972
    CHECK(*errors[2].error_median < 0.12);    // joules of a token: 0.111 and 0.085; 0.15 are asked
    CHECK(*errors[2].rank > 0.98);
  }
}

TEST_CASE("with steps as long as they were measured, joules of a token lack what a board draws in that time") {
  const auto errors = errors_with({{"rules:\n",
                                    "  \"hardware.devices[0].host.per_step\": \"${median_itl_ms} ms\"\n"
                                    "  \"hardware.devices[0].host.per_request\": 0 us\nrules:\n"}},
                                  110);
  if (errors.empty()) return;
  CHECK(*errors[0].error_median < 0.001);
  CHECK(*errors[3].error_median < 0.025);
  CHECK(*errors[1].bias < -0.02);         // -0.036: the device rests while the host works
  CHECK(*errors[1].error_median < 0.09);  // 0.081
  CHECK(*errors[2].error_median < 0.10);  // 0.089
}

TEST_CASE("code completion, whose prompts are long and not recorded: watts do not depend on the guess") {
  const auto errors = errors_with(
      {{"task == 'sourcegraph-fim'", "task != 'sourcegraph-fim'"}, {"prompt_tokens: 300", "prompt_tokens: 1000"}}, 16);
  if (errors.empty()) return;
  CHECK(*errors[1].error_median < 0.07);  // 0.066; 0.054 before logits were sorted
  CHECK(*errors[2].rank > 0.98);
}
