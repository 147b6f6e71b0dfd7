// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/rows.hpp"

#include <doctest/doctest.h>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::validation;
using llmscape::testing::approx;

namespace {

Rows rows_of(const std::string& text) {
  const test::Scratch scratch;
  Diagnostics diagnostics;
  const auto rows = read_rows(scratch.file("t.csv", text), diagnostics);
  REQUIRE_MESSAGE(rows, diagnostics.text(false));
  return *rows;
}

int errors_of(const std::string& text) {
  const test::Scratch scratch;
  Diagnostics diagnostics;
  CHECK_FALSE(read_rows(scratch.file("t.csv", text), diagnostics));
  return diagnostics.errors();
}

}  // namespace

TEST_CASE("tables are matched by name and compared metric by metric") {
  const Rows predicted = rows_of("id,tpot_s,ttft_s\nb,2,9\na,1,8\nc,5,\n");
  const Rows measured = rows_of("id,ttft_s,tpot_s,source\na,10,2,1\nb,,2,1\n");
  Diagnostics diagnostics;
  const auto all = compare_rows(predicted, measured, {}, diagnostics);
  REQUIRE(all);
  REQUIRE(all->size() == 2);  // nothing was predicted of `source`
  CHECK((*all)[0].metric == "ttft_s");
  CHECK((*all)[0].count == 1);
  CHECK(*(*all)[0].error("mean") == approx(0.2));
  CHECK((*all)[1].count == 2);
  CHECK(*(*all)[1].error("mean") == approx(0.25));  // 1.5 against 2
}

TEST_CASE("a configuration that was measured and not predicted, or no common metric, is an error") {
  for (const char* predicted : {"id,tpot_s\nb,1\n", "id,ttft_s\na,1\n"}) {
    Diagnostics diagnostics;
    CHECK_FALSE(compare_rows(rows_of(predicted), rows_of("id,tpot_s\na,1\n"), {}, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

TEST_CASE("broken tables are reported row by row") {
  CHECK(errors_of("") == 1);
  CHECK(errors_of("id\na\n") == 1);
  CHECK(errors_of("id,x\n") == 1);
  CHECK(errors_of("id,x\na,1,2\nb,fast\nc,-1\nc,1\n") == 4);
}

TEST_CASE("a metric that stands twice is an error: one column alone can be meant") {
  CHECK(errors_of("name,tpot,tpot\na,1,9\n") == 1);
}
