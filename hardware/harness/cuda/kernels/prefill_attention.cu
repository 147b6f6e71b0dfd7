// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/prefill_attention.cuh"

#include "hardware/harness/cuda/kernels/hopper_prefill.cuh"

namespace llmscape::hardware::harness::cuda {
namespace {

template <class Block>
__global__ void __launch_bounds__(Block::kThreads, 256 / Block::kThreads)
    prefill_kernel(const __grid_constant__ PrefillAttention work) {
  BlockIndex block = block_index();
  block.x = static_cast<int>(gridDim.x) - 1 - block.x;  // the last rows have the most keys: they start first
  Block(work, block).run();
}

template <class Block>
void launch(const PrefillAttention& work, Stream stream) {
  check(cudaFuncSetAttribute(prefill_kernel<Block>, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kSharedBytes),
        "prefill attention");
  const int rows = work.longest_chunk * (work.shape.heads / work.kv.kv_heads);
  const dim3 grid((rows + Block::kRows - 1) / Block::kRows, work.kv.kv_heads, work.sequences);
  prefill_kernel<Block><<<grid, Block::kThreads, Block::kSharedBytes, stream>>>(work);
  check_launch("prefill attention");
}

}  // namespace

void prefill_attention_with(PrefillKernel kernel, const PrefillAttention& work, Stream stream) {
  const bool hopper = kernel == PrefillKernel::kHopper;
  if (work.kv.head_dim == 128) {
    hopper ? launch<HopperPrefillBlock<128>>(work, stream) : launch<PrefillBlock<128>>(work, stream);
  } else if (work.kv.head_dim == 64) {
    hopper ? launch<HopperPrefillBlock<64>>(work, stream) : launch<PrefillBlock<64>>(work, stream);
  } else {
    throw CudaError("prefill attention", "head_dim is neither 64 nor 128");
  }
}

}  // namespace llmscape::hardware::harness::cuda
