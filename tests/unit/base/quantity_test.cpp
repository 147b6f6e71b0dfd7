// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <regex>
#include <string>

#include "base/random.hpp"
#include "base/units.hpp"

using namespace llmscape;
using namespace llmscape::literals;

namespace {

double value(std::string_view text, Dimension dimension) {
  const auto read = parse_quantity(text, dimension);
  const auto* failure = std::get_if<QuantityError>(&read);
  INFO(text, " ", failure ? failure->message : "");
  REQUIRE(!failure);
  return std::get<double>(read);
}

QuantityError failure(std::string_view text, Dimension dimension) {
  const auto read = parse_quantity(text, dimension);
  INFO(text);
  REQUIRE(std::holds_alternative<QuantityError>(read));
  return std::get<QuantityError>(read);
}

}  // namespace

TEST_CASE("dividing work by throughput gives time, and multiplying back gives work") {
  const Flops work(2e12);
  const Seconds time = work / 1.0_Tflops;
  CHECK(time == 2_s);
  CHECK(time * 1.0_Tflops == work);
  CHECK(80_GB / 40_GB == 2.0);  // no dimension left: a plain number
  CHECK(1.0 / PerSecond(4) == Seconds(0.25));
  CHECK(PerJoule(0.5) * Joules(4) == 2.0);  // money has no dimension
}

TEST_CASE("each dimension reads its units into SI") {
  CHECK(value("200 ms", Dimension::time) == 0.2);
  CHECK(value("20 min", Dimension::time) == 1200);
  CHECK(value("2 h", Dimension::time) == 7200);
  CHECK(value("1 d", Dimension::time) == 86400);
  CHECK(value("4 y", Dimension::time) == 4 * 365.0 * 86400);
  CHECK(value("0.36 /kWh", Dimension::per_energy) == 1e-7);
  CHECK(value("90 /MWh", Dimension::per_energy) == 2.5e-8);
  CHECK(value("360 g/kWh", Dimension::mass_per_energy) == 1e-4);
  CHECK(value("0.36 kg/kWh", Dimension::mass_per_energy) == 1e-4);
  CHECK(value("12 /s", Dimension::rate) == 12);
  CHECK(value("90 /min", Dimension::rate) == 1.5);
  CHECK(value("1.28 GHz", Dimension::rate) == 1.28e9);
  CHECK(value("80 GiB", Dimension::data) == 80.0 * (1 << 30));
  CHECK(value("80 GB", Dimension::data) == 80e9);
  CHECK(value("3.35 TB/s", Dimension::bandwidth) == 3.35e12);
  CHECK(value("400 Gbit/s", Dimension::bandwidth) == 50e9);
  CHECK(value("2 Gflop", Dimension::work) == 2e9);
  CHECK(value("989.5 Tflop/s", Dimension::throughput) == 989.5e12);
  CHECK(value("989.5 TFLOP/s", Dimension::throughput) == 989.5e12);
  CHECK(value("275 Top/s", Dimension::throughput) == 275e12);
  CHECK(value("1 kWh", Dimension::energy) == 3.6e6);
  CHECK(value("700 W", Dimension::power) == 700);
  CHECK(value("3.9 pJ/bit", Dimension::energy_per_byte) == 31.2e-12);
  CHECK(value("31.2 pJ/B", Dimension::energy_per_byte) == 31.2e-12);
  CHECK(value("0.5 pJ/flop", Dimension::energy_per_flop) == 0.5e-12);
  CHECK(value("814 mm2", Dimension::area) == 814e-6);
  CHECK(value("1_000", Dimension::number) == 1000);
}

TEST_CASE("a decimal prefix only moves the decimal point") {
  for (int i = 1; i < 1000; ++i) {
    CHECK(value(std::to_string(i) + " ms", Dimension::time) == value(std::to_string(i) + "e-3 s", Dimension::time));
    CHECK(value(std::to_string(i) + " us", Dimension::time) == i / 1e6);
  }
  CHECK(Seconds(value("35 ms", Dimension::time)) == 35_ms);
  CHECK(Bytes(value("1.1 GB", Dimension::data)) == 1.1_GB);
  CHECK(BytesPerSecond(value("4.8 TB/s", Dimension::bandwidth)) == 4.8_TBps);
  CHECK(FlopsPerSecond(value("0.7 Tflop/s", Dimension::throughput)) == 0.7_Tflops);
}

TEST_CASE("the space before the unit may be left out or widened") {
  CHECK(value("12/s", Dimension::rate) == 12);
  CHECK(value("80GiB", Dimension::data) == value(" 80   GiB ", Dimension::data));
  CHECK(value("1e3B", Dimension::data) == 1000);
}

TEST_CASE("a number without its unit is told how the dimension is spelled") {
  CHECK(failure("3350000000000", Dimension::bandwidth).message == "needs a unit, for example 3.35 TB/s");
  CHECK(failure("200", Dimension::time).message == "needs a unit, for example 200 ms");
  CHECK(failure("0", Dimension::time).message == "needs a unit, for example 0 ms");
  CHECK(failure("3.9e-12", Dimension::energy_per_byte).message == "needs a unit, for example 3.9 pJ/B");
}

TEST_CASE("a near miss of a unit is answered with the spelling that was meant") {
  const auto meant = [](std::string_view text, Dimension dimension) { return failure(text, dimension).suggestion; };
  CHECK(meant("80 gib", Dimension::data) == "80 GiB");
  CHECK(meant("80 Gib", Dimension::data) == "80 GiB");
  CHECK(meant("16 KB", Dimension::data) == "16 kB");
  CHECK(meant("80 Gb", Dimension::data) == "80 GB");
  CHECK(meant("5 Gb/s", Dimension::bandwidth) == "5 Gbit/s");
  CHECK(meant("5 gb/s", Dimension::bandwidth) == "5 GB/s");
  CHECK(meant("25 Gbps", Dimension::bandwidth) == "25 Gbit/s");
  CHECK(meant("25 GBps", Dimension::bandwidth) == "25 GB/s");
  CHECK(meant("989 TFLOPS", Dimension::throughput) == "989 Tflop/s");
  CHECK(meant("989 TFLOPs", Dimension::throughput) == "989 Tflop/s");
  CHECK(meant("275 TOPS", Dimension::throughput) == "275 Tflop/s");
  CHECK(meant("3 MS", Dimension::time) == "3 ms");
  CHECK(meant("5 µs", Dimension::time) == "5 us");
  CHECK(meant("5 sec", Dimension::time) == "5 s");
  CHECK(meant("8 rps", Dimension::rate) == "8 /s");
  CHECK(meant("3.9 pj/bit", Dimension::energy_per_byte) == "3.9 pJ/bit");
  CHECK(meant("50 %", Dimension::number) == "0.5");
  CHECK(meant(".5 s", Dimension::time) == "0.5 s");
  CHECK(meant("3 parsec", Dimension::data) == "");
}

TEST_CASE("a unit of another dimension is named as such") {
  CHECK(failure("80 GB", Dimension::bandwidth).message == "has a unit of data where bandwidth is due");
  CHECK(failure("200 ms", Dimension::number).message == "has a unit of time where a plain number is due");
}

TEST_CASE("texts that are no finite decimal number are refused") {
  for (const char* text : {"",       "s",        "nan s",           "inf s",          ".inf",
                           "-inf s", "0x10 s",   "010 s",           "00 s",           "0_001 s",
                           "5. s",   "+5 s",     "1__000 s",        "10_00 s",        "1_0 s",
                           "1e s",   "1e400 s",  "1e99999999999 s", "1e2147483647 d", "1,5 s",
                           "5 s s",  "1.1e60 s", "-1e61 s",         "5e-324 s",       "5 \xff",
                           "--5 s"}) {
    CAPTURE(text);
    CHECK(std::holds_alternative<QuantityError>(parse_quantity(text, Dimension::time)));
  }
}

TEST_CASE("a quantity prints as its shortest text") {
  CHECK(format(BytesPerSecond(3.35e12)) == "3.35 TB/s");
  CHECK(format(80_GiB) == "80 GiB");
  CHECK(format(80_GB) == "80 GB");
  CHECK(format(Bytes(1024)) == "1 KiB");
  CHECK(format(Bytes(1000)) == "1 kB");
  CHECK(format(500_GB) == "500 GB");
  CHECK(format(0.5_GB) == "500 MB");  // as short as 0.5 GB, and without a point
  CHECK(format(5_ms) == "5 ms");
  CHECK(format(1200_s) == "20 min");
  CHECK(format(90_s) == "90 s");
  CHECK(format(PerSecond(12)) == "12 /s");
  CHECK(format(PerSecond(2000)) == "2000 /s");
  CHECK(format(PerSecond(1.28e9)) == "1.28 GHz");
  CHECK(format(989.5_Tflops) == "989.5 Tflop/s");
  CHECK(format(JoulesPerByte(31.2e-12)) == "31.2 pJ/B");
  CHECK(format(-5_ms) == "-5 ms");
  CHECK(format(Seconds(0)) == "0 s");
  CHECK(format(Seconds(1e-20)) == "1e-20 s");
  CHECK(format(SquareMetres(814e-6)) == "814 mm2");
  CHECK(format(PerSecond(4.0 / 3600)) == "4 /h");
  CHECK(format(PerJoule(0.3 / 3.6e6)) == "0.3 /kWh");
  CHECK(format(GramsPerJoule(380 / 3.6e6)) == "380 g/kWh");
  CHECK(format_quantity(0.1, Dimension::number) == "0.1");
}

TEST_CASE("what is printed reads back to the same double") {
  RandomStream random(7);
  for (const Dimension dimension : kDimensions) {
    CAPTURE(name_of(dimension));
    for (int i = 0; i < 2000; ++i) {
      double si = std::bit_cast<double>(random.bits());  // any double: sign, exponent and digits alike
      if (i % 2 == 0) si = static_cast<double>(random.integer(-5000, 5000)) * 0x1p20;
      if (si != 0 && !(std::abs(si) >= 1e-60 && std::abs(si) <= 1e60)) continue;  // is not read
      CHECK(value(format_quantity(si, dimension), dimension) == si);
    }
    for (const double si : {1e60, 1e-60, -1e60}) CHECK(value(format_quantity(si, dimension), dimension) == si);
  }
}

TEST_CASE("the pattern of a dimension accepts what it reads and refuses the units of all others") {
  for (const Dimension dimension : kDimensions) {
    if (dimension == Dimension::number) continue;
    const std::regex pattern(pattern_of(dimension), std::regex::ECMAScript);
    CAPTURE(pattern_of(dimension));
    CHECK(std::regex_match(std::string(example_of(dimension)), pattern));
    for (const Dimension other : kDimensions) {
      for (const Unit& unit : units_of(other)) {
        CAPTURE(unit.symbol);
        CHECK(std::regex_match("-1_000.5e-3 " + unit.symbol, pattern) == (other == dimension));
      }
    }
    CHECK_FALSE(std::regex_match("01 " + units_of(dimension).front().symbol, pattern));
    CHECK_FALSE(std::regex_match(std::string("1"), pattern));
  }
}

TEST_CASE("every example reads as its own dimension") {
  for (const Dimension dimension : kDimensions) CHECK(value(example_of(dimension), dimension) > 0);
}
