// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/kernels/memory.hpp"

#include <cuda_runtime_api.h>

#include <cmath>
#include <numeric>

namespace llmscape::hardware::harness::cuda {
namespace {

bool is_hopper() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "reading the device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "reading the device's attributes");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "reading the device's attributes");
  return major == 9 && minor == 0;
}

// Both kernels on one chunk of several tiles of rows and keys, behind a cached prefix.
bool kernels_agree(int head_dim) {
  constexpr int kTokens = 150, kCached = 77, kHeads = 4, kKvHeads = 2, kContext = kTokens + kCached;
  const OwnedStream stream;
  std::vector<int> table(static_cast<std::size_t>(blocks_for(kContext)));
  std::iota(table.rbegin(), table.rend(), 0);
  const DeviceArray<int> blocks(table), first_row(std::vector<int>{0, kTokens}), contexts(std::vector<int>{kContext});
  const std::size_t pool = table.size() * kBlockTokens * kKvHeads * static_cast<std::size_t>(head_dim);
  const std::size_t rows = static_cast<std::size_t>(kTokens) * kHeads * static_cast<std::size_t>(head_dim);
  const DeviceArray<Bf16> keys(pool), values(pool), queries(rows);
  fill_random(keys.data(), pool, 1, 1, stream);
  fill_random(values.data(), pool, 1, 2, stream);
  fill_random(queries.data(), rows, 4, 3, stream);
  const auto result = [&](PrefillKernel kernel) {
    const DeviceArray<Bf16> out(rows);
    const PagedKv kv{keys.data(), values.data(), blocks.data(), static_cast<int>(table.size()), kKvHeads, head_dim};
    prefill_attention_with(kernel,
                           {{kHeads, 1 / std::sqrt(static_cast<float>(head_dim))},
                            kv,
                            queries.data(),
                            first_row.data(),
                            contexts.data(),
                            out.data(),
                            1,
                            kTokens},
                           stream);
    synchronise(stream);
    return out.download();
  };
  const auto base = result(PrefillKernel::kEverywhere), hopper = result(PrefillKernel::kHopper);
  constexpr float kRoundings = 3 * 0x1p-9F;  // of weights and outputs below 1, to bf16
  for (std::size_t i = 0; i < rows; ++i) {
    if (!(std::abs(to_float(base[i]) - to_float(hopper[i])) <= kRoundings)) return false;
  }
  return true;
}

}  // namespace

PrefillKernel prefill_kernel() {
  static const PrefillKernel chosen =
      is_hopper() && kernels_agree(64) && kernels_agree(128) ? PrefillKernel::kHopper : PrefillKernel::kEverywhere;
  return chosen;
}

void prefill_attention(const PrefillAttention& work, Stream stream) {
  prefill_attention_with(prefill_kernel(), work, stream);
}

}  // namespace llmscape::hardware::harness::cuda
