// SPDX-License-Identifier: Apache-2.0
#include "traces/microbench_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "tests/support/approx.hpp"
#include "trace_folder.hpp"

using llmscape::testing::approx;

namespace llmscape::traces {
namespace {

MicrobenchRow row(KernelCase what, double median) {
  MicrobenchRow r;
  r.what = std::move(what);
  r.time = {20, median * 0.9, median * 0.95, median, median * 1.1, median * 0.05};
  r.flops = 100;
  r.bytes = 50;
  r.error = 1e-6;
  return r;
}

MicrobenchRecord small_record() {
  MicrobenchRecord record;
  record.context = {{"device", "a \"processor\""}, {"software", "oneDNN 2.6"}};
  record.backend = "cpu";
  record.rows = {row(CopyCase{"device", 1024, 0}, 3e-6), row(GemmCase{17, 192, 320, "fp32"}, 1.25e-5),
                 row(GemmCase{3, 192, 320, "fp32"}, 1e-5)};
  record.rows[0].flags = {"noisy"};
  record.rows[1].clock_mhz = 2600;
  record.sentinels = {{GemmCase{1, 192, 320, "fp32"}, {1e-6, 1.5e-6}}};
  record.power = {{std::nullopt, 80.5, 700, std::nullopt, 345},
                  {GemmCase{3, 192, 320, "bf16"}, 512.5, 700, 2.5e-4, 1980}};
  return record;
}

// What is wrong with a record in which a part of the text is replaced.
std::string complaints(const TraceFolder& folder, const std::string& part, const std::string& instead) {
  const std::string path = folder.path_of("r.json");
  write_microbench_record(small_record(), path);
  std::string error, text = *read_file(path, error);
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  write_file_atomically(path, text.replace(at, part.size(), instead));
  Diagnostics diagnostics;
  CHECK_FALSE(read_microbench_record(path, diagnostics));
  return diagnostics.text(false);
}

TEST_CASE("a record reads back as it was written, compressed too") {
  const TraceFolder folder;
  const MicrobenchRecord written = small_record();
  for (const char* name : {"r.json", "r.json.gz"}) {
    CAPTURE(name);
    write_microbench_record(written, folder.path_of(name));
    Diagnostics diagnostics;
    const auto read = read_microbench_record(folder.path_of(name), diagnostics);
    CAPTURE(diagnostics.text(false));
    REQUIRE(read);
    CHECK(read->context == written.context);
    CHECK(read->backend == "cpu");
    CHECK(read->statistic == "median");
    REQUIRE(read->rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(read->rows[i].what == written.rows[i].what);
      CHECK(read->rows[i].time.median == written.rows[i].time.median);
      CHECK(read->rows[i].time.iqr == written.rows[i].time.iqr);
      CHECK(read->rows[i].flags == written.rows[i].flags);
      CHECK(read->rows[i].clock_mhz == written.rows[i].clock_mhz);
    }
    REQUIRE(read->sentinels.size() == 1);
    CHECK(read->sentinels[0].what == written.sentinels[0].what);
    CHECK(read->sentinels[0].medians_s == written.sentinels[0].medians_s);
    REQUIRE(read->power.size() == 2);
    CHECK_FALSE(read->power[0].what);
    CHECK(read->power[0].power_w == 80.5);
    CHECK(read->power[1].what == written.power[1].what);
    CHECK(read->power[1].time_s == 2.5e-4);
  }
}

TEST_CASE("the tables hold each case once, in order, with the statistic that the record names") {
  MicrobenchRecord record = small_record();
  record.rows.push_back(row(GemmCase{3, 192, 320, "fp32"}, 9e-5));
  KernelTables tables = kernel_tables(record);
  REQUIRE(tables.gemm.size() == 2);
  CHECK(tables.gemm[0].m == 3);
  CHECK(tables.gemm[0].time.si() == approx(5e-5));  // 10 and 90 us
  CHECK(tables.gemm[1].m == 17);
  CHECK(tables.copy.size() == 1);
  CHECK(tables.device == "a \"processor\"");
  CHECK(tables.software == "oneDNN 2.6");
  record.statistic = "p10";
  CHECK(kernel_tables(record).gemm[0].time.si() == approx((0.95e-5 + 0.95 * 9e-5) / 2));
  CHECK(tables.rest == std::vector{Watts(80.5)});
  REQUIRE(tables.power.size() == 1);  // rest is no kernel
  CHECK(tables.power[0].what == KernelCase(GemmCase{3, 192, 320, "bf16"}));
  CHECK(tables.power[0].power == Watts(512.5));
  CHECK(tables.power[0].limit == Watts(700));
}

TEST_CASE("mistakes of a record are told with their place") {
  const TraceFolder folder;
  const auto tells = [&](const std::string& part, const std::string& instead, const std::string& place,
                         const std::string& what) {
    const std::string text = complaints(folder, part, instead);
    CAPTURE(text);
    CHECK(text.find("r.json:" + place) != std::string::npos);
    CHECK(text.find(what) != std::string::npos);
  };
  tells("microbench/1", "microbench/2", "2:", "llmscape.microbench/1");
  tells("\"op\":\"copy\"", "\"op\":\"copies\"", "7:", "there is no kernel 'copies'");
  tells("\"m\":17", "\"m\":0", "8:", "'m'");
  tells("\"m\":17", "\"mm\":17", "8:", "unknown key 'mm'");
  tells("\"iterations\":20,", "", "7:", "'iterations'");
  tells("\"min\":2.7", "\"min\":9.9", "7:", "must not fall");
  tells("\"power_w\":80.5", "\"power_w\":-1", "", "'power_w'");
  tells(",\"time_s\":0.00025", "", "", "a loop of a kernel needs 'time_s'");
  tells("\"context\": {", "\"contexts\": {", "", "'context' must be given as a mapping");
}

}  // namespace
}  // namespace llmscape::traces
