// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/scales_fit.hpp"

#include "hardware/calibration/gemm_fit.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

Chip matrix_chip() {
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

TEST_CASE("quantisation that finds its scales is told from the narrow products that hold it") {
  ElementwiseParameters with = streams();
  with.scales = {Seconds(7e-6), 0.4, Seconds(6e-9), Seconds(4e-9)};
  std::vector<traces::TimedGemm> narrow;
  for (const std::int64_t n : {32, 64, 128, 256})
    for (const std::int64_t k : {128, 1024, 2560, 8192})
      for (const std::int64_t m : {1, 64, 1024, 4096, 16384}) {
        traces::TimedGemm row{{m, n, k, "fp8"}, Seconds(1), "vllm"};
        row.time = Seconds(predict(matrix_chip(), with, gemm(), {&row, 1}).front());
        narrow.insert(narrow.end(), 10, row);  // so often that the priors weigh little
      }
  const auto fit = fit_scales(matrix_chip(), gemm(), narrow);
  CHECK(fit.parameters.launch.si() == approx(7e-6).epsilon(0.005));
  CHECK(fit.parameters.efficiency == approx(0.4).epsilon(0.005));
  CHECK(fit.parameters.row.si() == approx(6e-9).epsilon(0.005));
  CHECK(fit.parameters.pass.si() == approx(4e-9).epsilon(0.005));
  CHECK(fit.parameters.tag == Tag::fitted);
  CHECK(fit.report.held_out.mean < 0.01);
}

TEST_CASE("finding scales takes the place of quantisation by known ones, with a pass for each 2,048 columns") {
  ElementwiseParameters with = streams();
  with.scales = {Seconds(7e-6), 0.4, Seconds(6e-9), Seconds(4e-9)};
  traces::TimedGemm tensor{{10, 64, 2048, "fp8"}, Seconds(1), "vllm"};
  const auto seconds = [&] { return product_of(matrix_chip(), with, tensor).quantisation; };
  // 61,440 bytes of elements and 40 of scales at 1.6 TB/s; ten rows of one pass each.
  CHECK(seconds() == approx(7e-6 + 61480 / 1.6e12 + 10 * (6e-9 + 4e-9)).epsilon(1e-9));
  tensor.k = 2049;
  CHECK(seconds() == approx(7e-6 + 61510 / 1.6e12 + 10 * (6e-9 + 8e-9)).epsilon(1e-9));
  tensor.engine.clear();  // a library's product is handed numbers that are narrow already
  CHECK(seconds() == 0);

  // Scales of groups are found by the kernel that quantises.
  traces::TimedGemm groups{{64, 64, 1024, "fp8_block"}, Seconds(1), "vllm"};
  CHECK(product_of(matrix_chip(), with, groups).quantisation ==
        product_of(matrix_chip(), streams(), groups).quantisation);
}

TEST_CASE("narrow products in fp8 tell scales, of vLLM shallow ones and those of many rows; SGLang's hold none") {
  const auto told = [](const char* engine, const char* format, std::int64_t n, std::int64_t k, std::int64_t m = 16) {
    traces::TimedGemm row{{m, n, k, format}, Seconds(1e-5)};
    row.engine = engine;
    return products_that_tell_scales({&row, 1}, engine, format).size() == 1;
  };
  CHECK(told("tensorrt_llm", "fp8", 64, 8192));
  CHECK_FALSE(told("tensorrt_llm", "fp8", 4096, 8192));
  CHECK_FALSE(told("tensorrt_llm", "fp8_block", 64, 8192));
  CHECK(told("vllm", "fp8", 64, 1024));
  CHECK_FALSE(told("vllm", "fp8", 64, 8192));
  CHECK(told("vllm", "fp8", 64, 8192, 8192));
  CHECK_FALSE(told("vllm", "bf16", 64, 1024));
  CHECK_FALSE(told("sglang", "fp8", 64, 1024));
}

}  // namespace
}  // namespace llmscape::hardware
