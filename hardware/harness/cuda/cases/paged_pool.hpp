// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/cases/cuda_case.hpp"
#include "hardware/harness/cuda/kernels/attention.hpp"

namespace llmscape::hardware::harness::cuda {

// What an attention case asks of its keys and values.
struct PoolShape {
  int sequences = 0, context = 0, kv_heads = 0, head_dim = 0;
  [[nodiscard]] double bytes() const;  // of all blocks, keys and values
};

// Random keys and values of sequences of equal length, in blocks scattered over the pool; one pool for each of
// `copies`, all with the same table.
class PagedPool {
 public:
  PagedPool(const PoolShape& shape, int copies, std::uint64_t seed, Stream stream);

  [[nodiscard]] PagedKv view(int copy) const;
  // The keys and values of one head of one sequence, in the order of its tokens, of set 0.
  struct Head {
    std::vector<Bf16> keys, values;
  };
  [[nodiscard]] Head head(int sequence, int kv_head, Stream stream) const;

 private:
  PoolShape shape_;
  std::vector<int> table_;
  DeviceArray<int> device_table_;
  Buffers<Bf16> keys_, values_;
};

// Attention of one query over the first `visible` tokens, in double precision.
std::vector<double> attend(const std::vector<Bf16>& query, const PagedPool::Head& head, int visible);

}  // namespace llmscape::hardware::harness::cuda
