// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/paged_kv.hpp"
#include "hardware/harness/cuda/runtime.hpp"

namespace llmscape::hardware::harness::cuda {

// Kernels over rows of `width` elements, a multiple of 8; all pointers are on the device and aligned to 16 bytes.

// out = x / sqrt(mean(x^2) + 1e-5) * gain; `gain` has one element per column.
void rms_norm(const Bf16* x, const Bf16* gain, Bf16* out, int rows, int width, Stream stream);

// out = silu(gate) * up; a row of `gate_up` holds `width` gates and then `width` ups.
void silu_mul(const Bf16* gate_up, Bf16* out, int rows, int width, Stream stream);

// out = a + b, `elements` of them; out may be a or b.
void add(const Bf16* a, const Bf16* b, Bf16* out, long elements, Stream stream);

// Row r of out is row tokens[r] of the table.
void embedding(const int* tokens, const Bf16* table, Bf16* out, int rows, int width, Stream stream);

// Rotates the first `heads` heads of head_dim elements of each row, in place; element i goes with i + head_dim / 2, as
// in Llama's checkpoints, by the angle position * base^(-2 i / head_dim). Rows are `stride` elements apart.
void rope(Bf16* x, const int* positions, int rows, int stride, int heads, int head_dim, float base, Stream stream);

// Writes keys and values of new tokens into their blocks: row r of `keys` and of `values` (`stride` elements apart) is
// token positions[r] of sequence sequences[r].
void store_kv(const Bf16* keys, const Bf16* values, const int* sequences, const int* positions, const PagedKv& kv,
              int rows, int stride, Stream stream);

// Each row by a scale of its own: scales[r] = max |x| / 448, out = x / scales[r].
void quantise(const Bf16* x, Fp8* out, float* scales, int rows, int width, Stream stream);

}  // namespace llmscape::hardware::harness::cuda
