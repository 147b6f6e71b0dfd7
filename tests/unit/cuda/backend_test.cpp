// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/backend.hpp"
#include "hardware/harness/cases.hpp"
#include "hardware/harness/power.hpp"
#include "traces/kernel_case.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using namespace llmscape::hardware::harness;

namespace {

constexpr const char* kBf16 = "bf16";

// Shapes at the edges of tiles, blocks and splits, besides the list that is timed.
std::vector<traces::KernelCase> odd_cases() {
  using namespace traces;
  return {
      GemmCase{1, 512, 512, kBf16},
      GemmCase{17, 1088, 576, kBf16},
      GroupedGemmCase{1, 8, 2, 192, 128, kBf16},
      GroupedGemmCase{333, 8, 1, 2880, 2880, kBf16},
      GroupedGemmCase{700, 3, 2, 256, 512, kBf16},
      DecodeAttentionCase{1, 1, 32, 8, 128, kBf16, kBf16},
      DecodeAttentionCase{3, 17, 8, 8, 64, kBf16, kBf16},
      DecodeAttentionCase{2, 4095, 16, 1, 128, kBf16, kBf16},
      PrefillAttentionCase{1, 1, 0, 32, 8, 128, kBf16, kBf16},
      PrefillAttentionCase{3, 129, 65, 12, 4, 64, kBf16, kBf16},
      PrefillAttentionCase{2, 300, 1000, 8, 8, 128, kBf16, kBf16},
      MixedAttentionCase{100, 50, 7, 333, 32, 8, 128, kBf16, kBf16},
      ElementwiseCase{"norm", 3, 520, kBf16},
      ElementwiseCase{"router", 9, 72, kBf16},
      ElementwiseCase{"softmax", 2, 1000, "fp32"},
      ElementwiseCase{"sampling", 5, 1000, "fp32"},
  };
}

}  // namespace

TEST_CASE("A CUDA backend is there, or the reason why not is given") {
  std::string reason;
  const auto backend = make_cuda_backend(0, reason);
  CHECK((backend == nullptr) != reason.empty());
  if (backend) CHECK(backend->name() == "cuda");
}

TEST_CASE("A device that no machine has is refused with a reason") {
  std::string reason;
  CHECK(make_cuda_backend(1000, reason) == nullptr);
  CHECK(!reason.empty());
  reason.clear();
  CHECK(measure_power(1000, {}, Seconds(1), [](std::size_t, std::size_t) {}, reason).empty());
  CHECK(!reason.empty());
}

TEST_CASE("Every CUDA kernel agrees with its reference") {
  std::string reason;
  const auto backend = make_cuda_backend(0, reason);
  if (!backend) {
    MESSAGE("skipped: ", reason);
    return;
  }
  auto cases = odd_cases();
  for (const auto& what : kernel_cases("cuda", true)) cases.push_back(what);
  std::uint64_t seed = 1;
  int checked = 0;
  for (const auto& what : cases) {
    const std::string name = traces::name_of(what);
    CAPTURE(name);
    const auto prepared = backend->prepare(what, ++seed);
    if (!prepared) {
      MESSAGE("not run: ", name);
      continue;
    }
    ++checked;
    CHECK(prepared->error() <= prepared->tolerance());
    CHECK(prepared->sample() > Seconds(0));
  }
  CHECK(checked > static_cast<int>(cases.size()) / 2);
}
