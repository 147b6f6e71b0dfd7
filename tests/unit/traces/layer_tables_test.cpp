// SPDX-License-Identifier: Apache-2.0
#include "traces/layer_tables.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;
using llmscape::testing::approx;

TEST_CASE("layer tables: counts in order, attention as it was measured, shares from the three times") {
  const TraceFolder folder;
  folder.write("dense.csv", "layer,tokens,time_us\nact_fn,4,2\nact_fn,1,1.5\n");
  folder.write("per_sequence.csv.gz", "layer,sequences,time_us\nsampler,1,20\n");
  folder.write("attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n16,32,2,64,8.5\n");
  folder.write("moe.csv", "tokens,activated_experts,time_us\n2,16,134.5\n");
  folder.write("skew.csv",
               "regime,n,nb,ratio,skew,pc,kp,kvs,kv_big,kv_mean,t_mean_us,t_max_us,t_skew_us,alpha\n"
               "mixed,2,1,0.5,4.0,16,32,128,512,320,40,60,45,0.2499\n"
               "pure,2,1,0.5,4.0,0,0,128,512,320,40,40,45,nan\n");
  Diagnostics diagnostics;
  const auto tables = read_layer_tables(folder.path_of(""), diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  REQUIRE(tables->dense.at("act_fn").size() == 2);
  CHECK(tables->dense.at("act_fn")[0].count == 1);
  CHECK(tables->dense.at("act_fn")[1].time.si() == approx(2e-6));
  CHECK(tables->per_sequence.at("sampler")[0].time.si() == approx(20e-6));
  REQUIRE(tables->attention.size() == 1);
  CHECK(tables->attention[0].cached == 32);
  CHECK(tables->attention[0].context == 64);
  REQUIRE(tables->experts.size() == 1);
  CHECK(tables->experts[0].experts == 16);
  REQUIRE(tables->unequal.size() == 1);  // where the two hardly differ there is no share
  CHECK(tables->unequal[0].share == approx(0.25));
}

TEST_CASE("layer tables: missing files and broken cells are reported, all of them") {
  const TraceFolder folder;
  folder.write("dense.csv", "layer,tokens,time_us\nact_fn,0,2\nact_fn,1,fast\n");
  Diagnostics diagnostics;
  CHECK_FALSE(read_layer_tables(folder.path_of(""), diagnostics));
  CHECK(diagnostics.errors() == 4);  // two cells, no per_sequence.csv, no attention.csv
}
