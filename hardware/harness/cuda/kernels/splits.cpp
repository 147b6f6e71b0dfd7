// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/attention.hpp"

#include <algorithm>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr int kBlocksPerMultiprocessor = 2;  // of threads, that the shared memory of an H100 holds of the decode kernel
constexpr int kLeastKeyBlocks = 16;  // per split: four a warp, or starting and merging costs more than it brings

}  // namespace

int decode_splits(int multiprocessors, int sequences, int kv_heads, int context) {
  const long work = static_cast<long>(sequences) * kv_heads, slots = multiprocessors * kBlocksPerMultiprocessor;
  const int most = std::max(1, blocks_for(context) / kLeastKeyBlocks);
  // How full the slots are over all waves. More splits than one wave of them only cost merges.
  const auto fill = [&](int splits) {
    const long blocks = work * splits, waves = (blocks + slots - 1) / slots;
    return static_cast<double>(blocks) / static_cast<double>(waves * slots);
  };
  const int last = static_cast<int>(std::min<long>(most, std::max<long>(1, 4 * slots / work)));
  double best = 0;
  for (int splits = 1; splits <= last; ++splits) best = std::max(best, fill(splits));
  for (int splits = 1; splits <= last; ++splits) {
    if (fill(splits) >= 0.9 * best) return splits;
  }
  return 1;
}

long decode_workspace_floats(int sequences, int heads, int head_dim, int splits) {
  return splits == 1 ? 0 : static_cast<long>(sequences) * heads * splits * (head_dim + 2);
}

}  // namespace llmscape::hardware::harness::cuda
