// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/decode_attention.cuh"

namespace llmscape::hardware::harness::cuda {
namespace {

template <int kHeadDim>
__global__ void __launch_bounds__(DecodeBlock<kHeadDim>::kThreads, 2)
    decode_kernel(const __grid_constant__ DecodeAttention work) {
  DecodeBlock<kHeadDim>(work, block_index()).run();
}

template <int kHeadDim>
__global__ void __launch_bounds__(kHeadDim) merge_kernel(const __grid_constant__ DecodeAttention work) {
  merge_splits<kHeadDim>(work, block_index());
}

template <int kHeadDim>
void launch(const DecodeAttention& work, Stream stream) {
  using Block = DecodeBlock<kHeadDim>;
  check(cudaFuncSetAttribute(decode_kernel<kHeadDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kSharedBytes),
        "decode attention");
  const dim3 grid(work.splits, work.kv.kv_heads, work.sequences);
  decode_kernel<kHeadDim><<<grid, Block::kThreads, Block::kSharedBytes, stream>>>(work);
  check_launch("decode attention");
  if (work.splits == 1) return;
  merge_kernel<kHeadDim><<<work.sequences * work.shape.heads, kHeadDim, 0, stream>>>(work);
  check_launch("merging splits");
}

}  // namespace

void decode_attention(const DecodeAttention& work, Stream stream) {
  if (work.shape.heads > kLargestGroup * work.kv.kv_heads) {
    throw CudaError("decode attention", "more than 16 query heads to a KV head");
  }
  if (work.kv.head_dim == 128) {
    launch<128>(work, stream);
  } else if (work.kv.head_dim == 64) {
    launch<64>(work, stream);
  } else {
    throw CudaError("decode attention", "head_dim is neither 64 nor 128");
  }
}

}  // namespace llmscape::hardware::harness::cuda
