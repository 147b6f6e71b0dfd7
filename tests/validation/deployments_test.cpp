// SPDX-License-Identifier: Apache-2.0
// Public closed-loop measurements of H100 and H200 deployments (ai-dynamo/aiconfigurator, silicon_sample.csv) against
// scenarios written from their columns. How near they are stands in docs/accuracy.md (tests/golden/accuracy_test.cpp).
#include <doctest/doctest.h>

#include "tests/validation/reference_rows.hpp"

using namespace llmscape;
using namespace llmscape::validation;

namespace {

std::optional<MeasuredTable> silicon() {
  return testing::reference_rows("silicon_dev.csv.gz", RowKind::deployment, "silicon.yaml");
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
