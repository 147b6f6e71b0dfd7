// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/grouped_gemm.cuh"

namespace llmscape::hardware::harness::cuda {
namespace {

template <int kTileRows>
__global__ void __launch_bounds__(GroupedGemmBlock<kTileRows>::kThreads, 2)
    grouped_gemm_kernel(const __grid_constant__ GroupedGemm work) {
  GroupedGemmBlock<kTileRows>(work, block_index()).run();
}

template <int kTileRows>
void launch(const GroupedGemm& work, Stream stream) {
  using Block = GroupedGemmBlock<kTileRows>;
  check(cudaFuncSetAttribute(grouped_gemm_kernel<kTileRows>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Block::kSharedBytes),
        "grouped GEMM");
  // Tiles of one expert come one after the other and share its weights in L2.
  const dim3 grid(work.tile_count, (work.n + Block::kColumns - 1) / Block::kColumns);
  grouped_gemm_kernel<kTileRows><<<grid, Block::kThreads, Block::kSharedBytes, stream>>>(work);
  check_launch("grouped GEMM");
}

}  // namespace

void grouped_gemm(const GroupedGemm& work, Stream stream) {
  switch (work.tile_rows) {
    case 16: return launch<16>(work, stream);
    case 64: return launch<64>(work, stream);
    case 128: return launch<128>(work, stream);
    default: throw CudaError("grouped GEMM", "tiles have 16, 64 or 128 rows");
  }
}

}  // namespace llmscape::hardware::harness::cuda
