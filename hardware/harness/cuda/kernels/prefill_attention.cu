// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/prefill_attention.cuh"

namespace llmscape::hardware::harness::cuda {
namespace {

template <int kHeadDim>
__global__ void __launch_bounds__(PrefillBlock<kHeadDim>::kThreads, 2)
    prefill_kernel(const __grid_constant__ PrefillAttention work) {
  BlockIndex block = block_index();
  block.x = static_cast<int>(gridDim.x) - 1 - block.x;  // the last rows have the most keys: they start first
  PrefillBlock<kHeadDim>(work, block).run();
}

template <int kHeadDim>
void launch(const PrefillAttention& work, Stream stream) {
  using Block = PrefillBlock<kHeadDim>;
  check(
      cudaFuncSetAttribute(prefill_kernel<kHeadDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kSharedBytes),
      "prefill attention");
  const int rows = work.longest_chunk * (work.shape.heads / work.kv.kv_heads);
  const dim3 grid((rows + Block::kRows - 1) / Block::kRows, work.kv.kv_heads, work.sequences);
  prefill_kernel<kHeadDim><<<grid, Block::kThreads, Block::kSharedBytes, stream>>>(work);
  check_launch("prefill attention");
}

}  // namespace

void prefill_attention(const PrefillAttention& work, Stream stream) {
  if (work.kv.head_dim == 128) {
    launch<128>(work, stream);
  } else if (work.kv.head_dim == 64) {
    launch<64>(work, stream);
  } else {
    throw CudaError("prefill attention", "head_dim is neither 64 nor 128");
  }
}

}  // namespace llmscape::hardware::harness::cuda
