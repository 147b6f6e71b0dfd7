// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/correction.hpp"

#include "hardware/gpu/correction_features.hpp"
#include "hardware/gpu/gemm.hpp"
#include "hardware_fixtures.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

// 10 % more at 4 rows, 20 % at 8, and what depth adds.
Correction correction() {
  Correction c;
  c.tables = {{{{Feature::rows, 4, 1, 2}}, {10, 20}}, {{{Feature::depth, 1024, 1, 2}}, {0, 4}}};
  return c;
}

double log_factor(double rows, double depth) {
  Features f;
  f.set(Feature::rows, rows);
  f.set(Feature::depth, depth);
  return std::log(correction().factor(f));
}

TEST_CASE("a correction is the product of its tables, even in logarithms between their points") {
  CHECK(log_factor(4, 1024) == approx(0.10));
  CHECK(log_factor(8, 1024) == approx(0.20));
  CHECK(log_factor(8, 2048) == approx(0.24));
  CHECK(log_factor(std::sqrt(32), 1024) == approx(0.15));
}

TEST_CASE("a last wave that is half empty counts where products compute, not where they wait for their weights") {
  Chip chip;
  chip.multiprocessors.value = 132;
  Correction waves;
  waves.tables = {{{{Feature::tall_waves, 0.02, 1, 8}}, {0, 0, 0, 0, 0, 0, 10, 10}}};
  const auto factor = [&](std::int64_t rows, std::int64_t columns) {
    return waves.factor(features_of(chip, models::Gemm{rows, columns, 8192, models::Format(), models::Format()}));
  };
  CHECK(factor(129, 28672) == approx(std::exp(0.1)));  // 224 tiles: 1.70 waves
  CHECK(factor(128, 28672) == 1);
  CHECK(factor(1, 512) == 1);
}

// The same product, 30 % faster where a rank holds 8 experts 7,168 wide, and as before where it holds 16 of them or
// others, and without a list.
TEST_CASE("kernels of experts that are tuned for their shape have a correction of their own") {
  const Gpu gpu = worked_gpu("a100-80");
  GemmParameters p = gpu.expert_gemm.value_or(gpu.gemm);
  p.correction.emplace();
  p.correction->tables = {{{{Feature::tuned, 1, 2, 2}}, {0, 100 * std::log(0.7)}}};
  models::GroupedGemm g;
  g.rows = 4096;
  g.experts_held = 8;
  g.experts_touched = 8;
  g.n = 2 * 7168;
  g.k = 4096;
  g.width = 7168;
  const auto seconds = [&] { return grouped_gemm_cost(gpu, p, g).time.si(); };
  const double plain = seconds();
  p.tuned = {{8, 7168}, {8, 4096}};
  CHECK(seconds() == approx(0.7 * plain));
  g.n = 4096;  // the product behind the activation: what counts is the shape of the layer
  g.k = 7168;
  const double down = seconds();
  p.tuned = {};
  CHECK(down == approx(0.7 * seconds()));
  p.tuned = {{8, 4096}, {16, 7168}};
  CHECK(seconds() == approx(down / 0.7));
}

TEST_CASE("off its tables a correction fades to nothing over two octaves") {
  CHECK(log_factor(16, 1024) == approx(0.10));  // one octave off: half of the edge's
  CHECK(log_factor(32, 1024) == 0);
  CHECK(log_factor(1, 1024) == 0);
  CHECK(log_factor(1e9, 1024) == 0);
  CHECK(log_factor(8, 512) == approx(0.10));  // one octave off on any axis
}

TEST_CASE("an operator that lacks a feature of the tables is not corrected") {
  Features f;
  f.set(Feature::rows, 8);
  CHECK(correction().factor(f) == 1);
}

// 100 us by the form and 20 % more, 200 us and 10 % more; at 400 us, off the table, still 10 %, and 100 us in an
// operator without a time of its own are off by infinitely many octaves.
TEST_CASE("along the seconds a table's ends hold") {
  Correction c;
  c.tables = {{{{Feature::seconds, 1e-4, 1, 2}}, {20, 10}}};
  CHECK(std::log(c.factor(Features(), Seconds(1e-4))) == approx(0.20));
  CHECK(std::log(c.factor(Features(), Seconds(std::sqrt(2) * 1e-4))) == approx(0.15));
  CHECK(std::log(c.factor(Features(), Seconds(4e-4))) == approx(0.10));
  CHECK(std::log(c.factor(Features(), Seconds(1e-9))) == approx(0.20));
  CHECK(c.factor(Features()) == 1);
}

// 30 % at the form's own time, launch and all, and nothing an octave to either side.
TEST_CASE("GEMMs and experts are priced at the seconds that their forms take") {
  const Gpu gpu = worked_gpu("a100-80");
  const auto peak_at = [](Seconds time) {
    Correction c;
    c.tables = {{{{Feature::seconds, time.si() / 2, 1, 3}}, {0, 30, 0}}};
    return c;
  };
  GemmParameters p = gpu.gemm;
  p.correction.reset();
  const models::Gemm gemm{300, 4096, 8192, models::Format(), models::Format()};
  const Seconds form = gemm_cost(gpu, p, gemm).time;
  p.correction = peak_at(form);
  CHECK(gemm_cost(gpu, p, gemm).time.si() == approx(std::exp(0.3) * form.si()).epsilon(1e-4));
  p.correction = peak_at(2 * form);
  CHECK(gemm_cost(gpu, p, gemm).time.si() == approx(form.si()));

  GemmParameters of_experts = gpu.expert_gemm.value_or(gpu.gemm);
  of_experts.correction.reset();
  models::GroupedGemm experts;
  experts.rows = 4096;
  experts.experts_held = experts.experts_touched = 8;
  experts.n = experts.k = 4096;
  const Seconds whole = grouped_gemm_cost(gpu, of_experts, experts).time;
  of_experts.correction = peak_at(whole);
  CHECK(grouped_gemm_cost(gpu, of_experts, experts).time.si() == approx(std::exp(0.3) * whole.si()).epsilon(1e-4));
}

// A factor of e^-0.693 = 1/2 where the form's time doubles: the same time.
TEST_CASE("tables that fall so far that slower kernels would be faster are told, and refused in files") {
  Correction c;
  const auto falls = [&c](double to) {
    c.tables = {{{{Feature::rows, 1, 1, 2}, {Feature::seconds, 1e-5, 0.5, 3}}, {0, 0, 0, 30, 5, to}}};
    return c.is_faster_for_slower();
  };
  CHECK_FALSE(falls(-29.6));
  CHECK(falls(-29.7));  // 34.7 in half an octave
  c.tables = {{{{Feature::seconds, 1e-5, 1, 2}}, {40, 0}}, {{{Feature::seconds, 1e-5, 1, 2}}, {0, -29}}};
  CHECK_FALSE(c.is_faster_for_slower());
  c.tables = {{{{Feature::seconds, 1e-5, 1, 2}}, {40, 0}}, {{{Feature::seconds, 1e-5, 1, 2}}, {0, -30}}};
  CHECK(c.is_faster_for_slower());
  Diagnostics diagnostics;
  const std::string text = "tables:\n  - axes: [{feature: seconds, first: 1e-5, points: 2}]\n    percent: [69, -1]\n";
  const YamlNode tree = read_yaml(std::make_shared<const SourceText>(SourceText{"c.yaml", text}), diagnostics);
  CHECK_FALSE(correction_fields().read(c, tree, diagnostics));
  CHECK(diagnostics.text(false).find("faster for taking longer") != std::string::npos);
}

TEST_CASE("a correction of two features takes the last axis as the fastest") {
  Correction c;
  c.tables = {{{{Feature::rows, 1, 1, 2}, {Feature::depth, 1, 2, 3}}, {0, 1, 2, 10, 11, 12}}};
  Features f;
  f.set(Feature::rows, 2);
  f.set(Feature::depth, 8);  // half way between the second and the third point
  CHECK(std::log(c.factor(f)) == approx(0.115));
}

TEST_CASE("a line over one feature is the correction at every value of it, on the tables and off") {
  Correction c;
  c.tables = {{{{Feature::rows, 1, 1, 2}, {Feature::depth, 1, 2, 3}}, {0, 1, 2, 10, 11, 13}},
              {{{Feature::depth, 2, 1, 3}}, {5, -3, 2}}};
  for (const double rows : {1.5, 3.0}) {  // the second lies off the first table
    Features f;
    f.set(Feature::rows, rows);
    const CorrectionLine line(c, f, Feature::depth);
    for (const double depth : {0.7, 1.0, 1.7, 2.0, 3.3, 5.0, 8.0, 13.0, 40.0}) {
      f.set(Feature::depth, depth);
      CAPTURE(depth);
      CHECK(line.factor(depth) == approx(c.factor(f)).epsilon(1e-12));
    }
  }
}

TEST_CASE("a line over contexts bends where a window begins to cut, and stays where it is filled") {
  Correction c;
  c.tables = {{{{Feature::context, 16, 1, 8}}, {0, 1, 3, 2, 5, 4, 7, 1}},
              {{{Feature::cut, 1, 1, 2}, {Feature::context, 16, 2, 4}}, {1, 2, 3, 4, 40, 30, 20, 10}}};
  models::DecodeAttention a;
  a.sequences = 4;
  a.heads = a.kv_heads = 8;
  a.head_dim = 64;
  a.window = 128;
  const CorrectionLine line(c, features_of(a), Feature::context, a.window);
  for (const std::int64_t context : {20, 64, 65, 90, 127, 128}) {
    a.attended = {4 * context, context};
    CAPTURE(context);
    CHECK(line.factor(static_cast<double>(context)) == approx(c.factor(features_of(a))).epsilon(1e-6));
  }
  // At 2^6.5 entries, half filled and half not: (3 + 2) / 2 of the first table at its place 2.5, and of the second at
  // its place 1.25.
  CHECK(std::log(line.factor(64 * std::sqrt(2))) == approx(0.01 * (2.5 + 0.5 * 2.25 + 0.5 * 27.5)).epsilon(1e-3));
}

TEST_CASE("the factor stays within a half and two, whatever the tables add up to") {
  Correction c = correction();
  c.tables.front().percent = {60, 60};
  c.tables.back().percent = {60, 60};
  Features f;
  f.set(Feature::rows, 8);
  f.set(Feature::depth, 1024);
  CHECK(c.factor(f) == approx(2).epsilon(1e-3));
}

TEST_CASE("a table whose values do not fill its axes is reported where they stand") {
  Diagnostics diagnostics;
  const std::string text = "tables:\n  - axes: [{feature: rows, first: 1, points: 3}]\n    percent: [1, 2]\n";
  const YamlNode tree = read_yaml(std::make_shared<const SourceText>(SourceText{"c.yaml", text}), diagnostics);
  Correction read;
  CHECK_FALSE(correction_fields().read(read, tree, diagnostics));
  CHECK(diagnostics.text(false).find("c.yaml:3:14: error: the axes have 3 points, but here are 2 values") !=
        std::string::npos);
}

// Llama's widest products, 28,672 and 57,344 columns, lie between those of the tables: with penalties of half empty
// waves, and their opposite, that of 8B took an H100 69.9 us where its weights take 70.1 at the data sheet's bandwidth.
TEST_CASE("no correction makes products of few rows faster than their weights can be read") {
  for (const char* name : {"a100-80", "h100-sxm", "h200", "b200", "gb200"}) {
    const Gpu all = catalog_gpu(name);
    for (const char* engine : {"vllm", "sglang", "tensorrt_llm"}) {
      const Gpu gpu = all.of_engine(engine);
      for (const char* name_of_format : {"bf16", "fp8"}) {
        const models::Format format = models::format_named(name_of_format).value();
        const auto own = gpu.gemm_by_format.find(name_of_format);
        if (format.name != "bf16" && own == gpu.gemm_by_format.end()) continue;  // A100
        const GemmParameters& parameters = own == gpu.gemm_by_format.end() ? gpu.gemm : own->second;
        for (const std::int64_t columns : {18944, 28672, 57344})
          for (const std::int64_t depth : {4096, 8192})
            for (const std::int64_t rows : {1, 4, 16, 64}) {
              const KernelCost cost = gemm_cost(gpu, parameters, {rows, columns, depth, format, format});
              CAPTURE(name);
              CAPTURE(engine);
              CAPTURE(name_of_format);
              CAPTURE(columns);
              CAPTURE(depth);
              CAPTURE(rows);
              CHECK(cost.time.si() >
                    format.bytes * static_cast<double>(columns * depth) / gpu.hbm_bandwidth.value.si());
            }
      }
    }
  }
}

}  // namespace
}  // namespace llmscape::hardware
