// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"
#include "hardware/harness/cuda/runtime.hpp"

#include <cstddef>

namespace llmscape::hardware::harness::cuda {

// Uniform numbers from -amplitude to amplitude: element i is (2 uniform(seed, i) - 1) * amplitude, rounded.
void fill_random(Bf16* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream);
void fill_random(float* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream);
void fill_random(Fp8* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream);

// Before a check the output is set to bytes of 0xff, no number in any format; this counts what is still so.
long count_unwritten(const Bf16* out, std::size_t elements, Stream stream);
long count_unwritten(const float* out, std::size_t elements, Stream stream);
long count_unwritten(const Fp8* out, std::size_t elements, Stream stream);

// a = b + s * c, as in STREAM.
void triad(float* a, const float* b, const float* c, float s, std::size_t elements, Stream stream);

// Block i of out is block blocks[i] of pool; `block_bytes` is a multiple of 16.
void gather_blocks(const std::byte* pool, const int* blocks, std::byte* out, int count, std::size_t block_bytes,
                   Stream stream);

// Reads `bytes`, a multiple of 16: what was in the L2 before is not there any more if they are more than it holds, and
// no line is left that would have to be written back while the next kernel runs.
void read_through(const std::byte* data, std::size_t bytes, Stream stream);

void empty_kernel(Stream stream);

}  // namespace llmscape::hardware::harness::cuda
