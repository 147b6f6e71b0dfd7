// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hardware/harness/backend.hpp"
#include "hardware/harness/cpu_kernels/attention.hpp"
#include "hardware/harness/cpu_kernels/elementwise.hpp"
#include "hardware/harness/cpu_kernels/linear.hpp"
#include "tests/support/approx.hpp"
#include "traces/kernel_case.hpp"

using llmscape::testing::approx;

namespace llmscape::hardware::harness {
namespace {

using cpu_kernels::packed;
using cpu_kernels::PagedKv;
using cpu_kernels::Rows;

std::unique_ptr<PreparedCase> prepared(const traces::KernelCase& what) {
  std::string reason;
  return make_cpu_backend(1, reason)->prepare(what, 7);
}

void check_against_reference(const traces::KernelCase& what) {
  CAPTURE(traces::name_of(what));
  const auto ready = prepared(what);
  REQUIRE(ready);
  const double error = ready->error();
  CHECK(error <= ready->tolerance());
  CHECK(ready->tolerance() < 1e-3);
}

TEST_CASE("GEMMs of any number of rows are those of double precision") {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 17, 64, 65})
    check_against_reference(traces::GemmCase{m, 320, 192, "fp32"});
  check_against_reference(traces::GemmCase{3, 300, 250, "fp32"});
}

TEST_CASE("decode attention is that of double precision for every group, at the edges of blocks and panels") {
  for (const std::int64_t context : {1, 15, 16, 17, 127, 128, 129, 300})
    check_against_reference(traces::DecodeAttentionCase{3, context, 8, 2, 64, "fp32", "fp32"});
  for (const std::int64_t group : {1, 2, 3, 4, 5, 7, 8, 11, 12, 13})
    check_against_reference(traces::DecodeAttentionCase{2, 50, 2 * group, 2, 128, "fp32", "fp32"});
  check_against_reference(traces::DecodeAttentionCase{1, 40, 4, 4, 16, "fp32", "fp32"});
  check_against_reference(traces::DecodeAttentionCase{1, 40, 4, 4, 256, "fp32", "fp32"});
}

TEST_CASE("prefill attention is that of double precision, behind a cache or not") {
  for (const std::int64_t tokens : {1, 2, 11, 12, 13, 40, 130})
    for (const std::int64_t cached : {0, 5, 16, 150})
      check_against_reference(traces::PrefillAttentionCase{1, tokens, cached, 4, 2, 64, "fp32", "fp32"});
  check_against_reference(traces::PrefillAttentionCase{3, 20, 7, 6, 1, 32, "fp32", "fp32"});
}

TEST_CASE("element-wise kernels are those of double precision, widths that fill no vector too") {
  for (const char* kind : {"norm", "activation", "add", "embedding", "sampling"})
    for (const std::int64_t width : {15, 64, 100})
      check_against_reference(traces::ElementwiseCase{kind, 5, width, "fp32"});
  check_against_reference(traces::ElementwiseCase{"rope", 5, 192, "fp32"});
}

TEST_CASE("copies, triad and the gathering of blocks move what they should") {
  check_against_reference(traces::CopyCase{"device", 65536, 0});
  check_against_reference(traces::CopyCase{"triad", 65536, 0});
  check_against_reference(traces::CopyCase{"kv_gather", 65536, 8192});
}

TEST_CASE("what the CPU backend has no kernel for it refuses") {
  CHECK_FALSE(prepared(traces::GemmCase{1, 64, 64, "bf16"}));
  CHECK_FALSE(prepared(traces::ElementwiseCase{"quantise", 1, 64, "fp32"}));
  CHECK_FALSE(prepared(traces::DecodeAttentionCase{1, 16, 6, 4, 64, "fp32", "fp32"}));  // 6 heads, 4 KV heads
  CHECK_FALSE(prepared(traces::CollectiveCase{"all_reduce", 1024, 2, "nccl", 2}));
  std::string reason;
  CHECK_FALSE(make_cpu_backend(2, reason));
  CHECK_FALSE(reason.empty());
}

TEST_CASE("a chunked prompt attends to the same as a whole one, wherever its blocks lie") {
  constexpr std::int64_t kTokens = 50, kWidth = 64;
  PagedKv kv(8, 1, kWidth);
  const std::vector<std::int32_t> table = {5, 0, 7, 2};
  std::vector<float> queries;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    std::vector<float> key, value;
    for (std::int64_t i = 0; i < kWidth; ++i) {
      key.push_back(std::sin(static_cast<float>(t * 7 + i)));
      value.push_back(std::cos(static_cast<float>(t + i * 3)));
      queries.push_back(std::sin(static_cast<float>(t + i)));
    }
    kv.write(table, t, key, value);
  }
  std::vector<float> whole(queries.size()), chunked(queries.size());
  const auto rows = [](std::vector<float>& all, std::int64_t first, std::int64_t count) {
    return Rows<float>{all.data() + first * kWidth, count, kWidth, kWidth};
  };
  paged_prefill_attention(kv, rows(queries, 0, kTokens), table, 0, rows(whole, 0, kTokens));
  paged_prefill_attention(kv, rows(queries, 0, 21), table, 0, rows(chunked, 0, 21));
  paged_prefill_attention(kv, rows(queries, 21, kTokens - 21), table, 21, rows(chunked, 21, kTokens - 21));
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(chunked[i] == approx(whole[i]).epsilon(1e-5));
  // The first token sees itself alone.
  for (std::int64_t i = 0; i < kWidth; ++i)
    CHECK(whole[static_cast<std::size_t>(i)] == approx(std::cos(static_cast<float>(i * 3))).epsilon(1e-5));
}

TEST_CASE("a linear layer reads rows that lie apart, and writes between others") {
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};  // two outputs of three inputs
  const cpu_kernels::Linear linear(2, 3, weights);
  for (const std::int64_t count : {1, 6}) {
    std::vector<float> x(static_cast<std::size_t>(count * 5), 9), y(static_cast<std::size_t>(count * 4), -1);
    for (std::int64_t row = 0; row < count; ++row) x[static_cast<std::size_t>(row * 5 + 2)] = static_cast<float>(row);
    for (std::int64_t row = 0; row < count; ++row)
      x[static_cast<std::size_t>(row * 5)] = x[static_cast<std::size_t>(row * 5 + 1)] = 1;
    linear.run({x.data(), count, 3, 5}, {y.data(), count, 2, 4});
    for (std::int64_t row = 0; row < count; ++row) {
      const auto at = static_cast<std::size_t>(row * 4);
      const auto third = static_cast<float>(row);
      CHECK(y[at] == 3 + 3 * third);
      CHECK(y[at + 1] == 9 + 6 * third);
      CHECK(y[at + 2] == -1);
    }
  }
}

TEST_CASE("equal logits are answered by the first of them") {
  std::vector<float> logits(100, 0.5F);
  logits[37] = logits[99] = 2;
  std::int32_t token = -1;
  argmax(packed(std::span<const float>(logits), 1), {&token, 1});
  CHECK(token == 37);
}

}  // namespace
}  // namespace llmscape::hardware::harness
