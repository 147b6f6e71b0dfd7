// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/approx.hpp"
#include "traces/kernel_tables.hpp"

using llmscape::testing::approx;

// Row counts and extremes that the reference data's README files print.
namespace llmscape::traces {
namespace {

std::optional<KernelTables> read(const std::string& path) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto tables = read_kernel_tables({data + ("/kernels/" + path)}, diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  return tables;
}

TEST_CASE("the H100 folder of AIConfigurator") {
  const auto t = read("h100_sxm");
  if (!t) return;
  CHECK(t->gemm.size() == 35742 + 35742 + 35704);
  // 972 rows are of another model's activation, which is no kernel of these forms, and 14,418 of fp8 are of an untuned
  // one (engine_kernels.cpp).
  CHECK(t->expert_layer.size() == 16253 + 15222 + 2916 + 1053 - 972);
  // NCCL's 252 messages of 16-bit elements have the sizes in bytes of its 252 of 8-bit elements.
  CHECK(t->collective.size() == 138 + 252);
  CHECK(t->device == "NVIDIA H100 80GB HBM3");
  CHECK(t->warm_attention);
}

TEST_CASE("the A100 folder of AIConfigurator: 408 prefill cases stand twice") {
  const auto t = read("a100_sxm");
  if (!t) return;
  CHECK(t->gemm.size() == 9240);
  CHECK(t->prefill_attention.size() == 5457 - 408);
  CHECK(t->decode_attention.size() == 5431);
  CHECK(t->expert_layer.size() == 6360);
}

TEST_CASE("the RTX PRO 6000 folder of LLMServingSim") {
  const auto t = read("rtxpro6000/qwen3-30b-a3b");
  if (!t) return;
  // Two degrees of 171 decodes, 233 prompts and 18,960 mixed steps, and 50 expert layers of one.
  CHECK(t->decode_attention.size() == 2 * 171);
  CHECK(t->prefill_attention.size() == 2 * 233);
  CHECK(t->mixed_attention.size() == 2 * 18960);
  CHECK(t->expert_layer.size() == 50);
}

TEST_CASE("a Vidur table: Llama-2-7b multiplies 4,096 tokens at about 220 TFLOP/s of an A100") {
  const auto t = read("vidur/mlp/a100/Llama-2-7b-hf.csv.gz");
  if (!t) return;
  const auto up = std::ranges::find(t->gemm, GemmCase{4096, 2 * 11008, 4096, "fp16"},
                                    [](const TimedGemm& r) -> const GemmCase& { return r; });
  REQUIRE(up != t->gemm.end());
  CHECK(2.0 * 4096 * 2 * 11008 * 4096 / up->time.si() == approx(220e12).epsilon(0.03));
}

TEST_CASE("Frontier's FP8 tables of an H800") {
  const auto t = read("frontier_a800_h800/h800/Llama-3.1-405B-Instruct-FP8");
  if (!t) return;
  CHECK(t->decode_attention.size() == 3280);
  CHECK(t->prefill_attention.size() == 7096);
  CHECK(t->clock == "KERNEL_ONLY");
}

}  // namespace
}  // namespace llmscape::traces
