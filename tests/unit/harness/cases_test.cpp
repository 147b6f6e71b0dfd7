// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/sobol.hpp"
#include "traces/kernel_case.hpp"

namespace llmscape::hardware::harness {
namespace {

template <class Case>
std::vector<Case> only(const std::vector<traces::KernelCase>& cases) {
  std::vector<Case> out;
  for (const auto& what : cases)
    if (const auto* found = std::get_if<Case>(&what)) out.push_back(*found);
  return out;
}

TEST_CASE("the first 64 points of the design put one in each 64th of every axis, whatever the seed") {
  for (const std::uint64_t seed : {1, 2, 77}) {
    Sobol design(seed);
    std::array<std::array<int, 64>, Sobol::kDimensions> hits{};
    for (int i = 0; i < 64; ++i) {
      const Sobol::Point point = design.next();
      for (std::size_t d = 0; d < point.size(); ++d) ++hits[d][static_cast<std::size_t>(point[d] * 64)];
    }
    for (const auto& axis : hits) CHECK(std::ranges::all_of(axis, [](int n) { return n == 1; }));
  }
}

TEST_CASE("pairs of axes are filled evenly, too: 16 points, one in each cell of four by four") {
  Sobol design(3);
  std::array<std::array<int, 16>, 2> cells{};
  for (int i = 0; i < 16; ++i) {
    const Sobol::Point p = design.next();
    const auto cell = [&p](std::size_t a, std::size_t b) {
      return static_cast<std::size_t>(p[a] * 4) * 4 + static_cast<std::size_t>(p[b] * 4);
    };
    ++cells[0][cell(0, 1)];
    ++cells[1][cell(1, 2)];
  }
  CHECK(std::ranges::count(cells[0], 1) == 16);
}

TEST_CASE("no case stands twice in a list, and the quick list is part of the full one") {
  for (const char* backend : {"cpu", "cuda"}) {
    CAPTURE(backend);
    auto full = kernel_cases(backend, false), quick = kernel_cases(backend, true);
    std::ranges::sort(full);
    std::ranges::sort(quick);
    CHECK(std::ranges::adjacent_find(full) == full.end());
    CHECK(std::ranges::includes(full, quick));
    CHECK(quick.size() < full.size() / 2);
    CHECK(sentinel_cases(backend).size() == 5);
  }
}

TEST_CASE(
    "loops of power are of kernels that last, enough of each kind to fit, and a quarter of them in the quick list") {
  const auto loads = power_cases("cuda", false), quick = power_cases("cuda", true);
  CHECK(power_cases("cpu", false).empty());
  CHECK(only<traces::GemmCase>(loads).size() == 48);
  CHECK(only<traces::GroupedGemmCase>(loads).size() == 20);
  CHECK(only<traces::DecodeAttentionCase>(loads).size() + only<traces::PrefillAttentionCase>(loads).size() == 24);
  CHECK(only<traces::CopyCase>(loads).size() == 2);
  CHECK(quick.size() == 16);
  for (const auto& what : quick) CHECK(std::ranges::find(loads, what) != loads.end());
  for (const auto& g : only<traces::GemmCase>(loads)) {  // 0.3 ms at 600 Tflop/s in 16 bits or 3 TB/s
    const double weights = static_cast<double>(g.n * g.k) * (g.format == "fp8" ? 1 : 2);
    CHECK((weights * static_cast<double>(g.m) > 1.8e11 || weights > 0.8e9));
  }
}

TEST_CASE("widths of GEMMs are multiples of 64 but no powers of two; half have at most 256 rows, many an odd number") {
  for (const char* backend : {"cpu", "cuda"}) {
    CAPTURE(backend);
    const auto products = only<traces::GemmCase>(kernel_cases(backend, false));
    for (const auto& g : products) {
      for (const std::int64_t width : {g.n, g.k}) {
        CHECK(width % 64 == 0);
        CHECK_FALSE(std::has_single_bit(static_cast<std::uint64_t>(width)));
      }
    }
    const auto all = static_cast<std::ptrdiff_t>(products.size());
    CHECK(std::ranges::count_if(products, [](const auto& g) { return g.m <= 256; }) >= all / 2);
    CHECK(std::ranges::count_if(products, [](const auto& g) { return g.m % 2 == 1; }) >= all / 3);
  }
}

TEST_CASE("every kernel that a GPU's device file needs is in its list") {
  const auto cases = kernel_cases("cuda", true);
  CHECK_FALSE(only<traces::GroupedGemmCase>(cases).empty());
  CHECK_FALSE(only<traces::DecodeAttentionCase>(cases).empty());
  CHECK_FALSE(only<traces::PrefillAttentionCase>(cases).empty());
  CHECK_FALSE(only<traces::CollectiveCase>(cases).empty());
  const auto launches = only<traces::LaunchCase>(cases);
  CHECK(std::ranges::count(launches, "graph", &traces::LaunchCase::kind) == 4);
  for (const char* kind : {"norm", "activation", "rope", "add", "embedding", "softmax", "sampling", "quantise"}) {
    CAPTURE(kind);
    const auto rows = only<traces::ElementwiseCase>(cases);
    CHECK(std::ranges::count(rows, kind, &traces::ElementwiseCase::kind) > 0);
  }
}

TEST_CASE("a case is named by its operator and its shape") {
  CHECK(traces::name_of(traces::GemmCase{17, 2112, 1024, "fp32"}) == "gemm/m:17/n:2112/k:1024/format:fp32");
  CHECK(traces::name_of(traces::CopyCase{"kv_gather", 1024, 64}) == "copy/kind:kv_gather/bytes:1024/block:64");
}

}  // namespace
}  // namespace llmscape::hardware::harness
