// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/scales_fit.hpp"

#include "hardware/calibration/gemm_fit.hpp"

#include <doctest/doctest.h>

namespace llmscape::hardware {
namespace {

using doctest::Approx;

Chip chip() {
  Chip c;
  c.peak_bf16.value = FlopsPerSecond(1e15);
  c.peak_fp8 = {FlopsPerSecond(2e15)};
  c.hbm_bandwidth.value = BytesPerSecond(4e12);
  c.multiprocessors.value = 132;
  c.l2.value = Bytes(1e12);  // nothing leaves it
  return c;
}

ElementwiseParameters streams() {
  ElementwiseParameters p;
  p.quantise = {Seconds(2e-6), 0.5};
  return p;
}

GemmParameters gemm() {
  GemmParameters p;
  p.compute_efficiency = p.memory_efficiency = 0.8;
  p.launch = Seconds(2e-6);
  p.tile = Seconds(1e-6);
  p.cta_bandwidth = BytesPerSecond(30e9);
  p.l2_bandwidth = BytesPerSecond(1e13);
  p.split = Seconds(2e-6);
  return p;
}

TEST_CASE("two kernels that look for the scale of a tensor are told apart from the narrow products that hold them") {
  ElementwiseParameters with = streams();
  with.scales = {Seconds(7e-6), 0.4, Seconds(6e-9)};
  std::vector<traces::TimedGemm> narrow;
  for (const std::int64_t n : {32, 64, 128, 256})
    for (const std::int64_t k : {128, 1024, 8192})
      for (const std::int64_t m : {1, 64, 1024, 4096, 16384}) {
        traces::TimedGemm row{{m, n, k, "fp8"}, Seconds(1), "vllm"};
        row.time = Seconds(predict(chip(), with, gemm(), {&row, 1}).front());
        narrow.push_back(row);
      }
  const auto fit = fit_scales(chip(), streams(), gemm(), narrow);
  CHECK(fit.parameters.launch.si() == Approx(7e-6).epsilon(0.02));
  CHECK(fit.parameters.efficiency == Approx(0.4).epsilon(0.02));
  CHECK(fit.parameters.row.si() == Approx(6e-9).epsilon(0.02));
  CHECK(fit.parameters.tag == Tag::fitted);
  CHECK(fit.report.held_out.mean < 0.01);

  // Of kernels that were timed by themselves the products tell what a row adds.
  ElementwiseParameters timed = streams();
  timed.scales = {Seconds(7e-6), 0.4, Seconds()};
  const auto rows = fit_scales(chip(), timed, gemm(), narrow);
  CHECK(rows.parameters.launch == Seconds(7e-6));
  CHECK(rows.parameters.row.si() == Approx(6e-9).epsilon(0.02));
  CHECK(rows.report.fitted.size() == 1);

  // Scales of groups are found by the kernel that quantises.
  traces::TimedGemm groups{{64, 64, 1024, "fp8_block"}, Seconds(1), "vllm"};
  CHECK(product_of(chip(), with, groups).quantisation == product_of(chip(), streams(), groups).quantisation);
  traces::TimedGemm tensor{{1, 64, 1000, "fp8"}, Seconds(1), "vllm"};
  // 3,000 bytes of elements and 4 of the scale at 1.6 TB/s: 1.9 ns; one row.
  CHECK(product_of(chip(), with, tensor).quantisation - product_of(chip(), streams(), tensor).quantisation ==
        Approx(7e-6 + 3004 / 1.6e12 + 6e-9).epsilon(1e-9));
  tensor.engine.clear();  // a library's product is handed numbers that are narrow already
  CHECK(product_of(chip(), with, tensor).quantisation == 0);
}

TEST_CASE("what a scale of each token adds comes of shapes that were timed with and without") {
  std::vector<traces::TimedElementwise> records;
  for (const std::int64_t width : {1024, 2048, 4096, 8192})
    for (std::int64_t rows = 1; rows <= 4096; rows *= 4) {
      const double bytes = 3.0 * static_cast<double>(rows * width) + 4.0 * static_cast<double>(rows);
      records.push_back({{"quantise", rows, width, "fp8"}, Seconds(2e-6 + bytes / 2e12)});
      records.push_back({{"scales", rows, width, "fp8"}, Seconds(0.8e-6 + bytes / 4e12)});
    }
  const auto fit = fit_scales(chip(), streams(), records);
  REQUIRE(fit);
  CHECK(fit->parameters.launch.si() == Approx(0.8e-6).epsilon(0.02));
  CHECK(fit->parameters.efficiency == Approx(1).epsilon(0.02));
  CHECK(fit->parameters.row == Seconds());

  std::erase_if(records, [](const auto& r) { return r.kind == "quantise" && r.width > 1024; });
  CHECK_FALSE(fit_scales(chip(), streams(), records));
}

TEST_CASE("narrow products in fp8 tell scales, of vLLM where they are shallow; SGLang's and other formats hold none") {
  const auto told = [](const char* engine, const char* format, std::int64_t n, std::int64_t k) {
    traces::TimedGemm row{{16, n, k, format}, Seconds(1e-5)};
    row.engine = engine;
    return products_that_tell_scales({&row, 1}, engine, format).size() == 1;
  };
  CHECK(told("tensorrt_llm", "fp8", 64, 8192));
  CHECK_FALSE(told("tensorrt_llm", "fp8", 4096, 8192));
  CHECK_FALSE(told("tensorrt_llm", "fp8_block", 64, 8192));
  CHECK(told("vllm", "fp8", 64, 1024));
  CHECK_FALSE(told("vllm", "fp8", 64, 8192));
  CHECK_FALSE(told("vllm", "bf16", 64, 1024));
  CHECK_FALSE(told("sglang", "fp8", 64, 1024));
}

}  // namespace
}  // namespace llmscape::hardware
