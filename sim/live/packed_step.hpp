// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sim/live/executor.hpp"

// A step as whole numbers in one piece, as it is copied to a GPU. Needs no GPU, so that tests reach it everywhere.
namespace llmscape::live {

// Numbers of rows for which kernels are planned and graphs captured, as vLLM captures them: 1, 2, 4, then multiples of
// 8 up to 256, of 16 up to 512, and beyond that of 64.
std::int64_t padded_rows(std::int64_t rows);
// All of them that steps of up to `most` rows need.
std::vector<std::int64_t> row_ladder(std::int64_t most);

// How much of everything a step computes, as its launches need it.
struct StepWork {
  std::int64_t rows = 0, decodes = 0, chunks = 0, answers = 0;
  std::int64_t longest_chunk = 0;
  int splits = 1;  // of decode attention
};

// Where a packed step has what, for up to so many rows and sequences.
struct PackedStep {
  std::int64_t rows = 0, sequences = 0, blocks_per_sequence = 0;

  // Offsets of the parts; the tables come last, so that only those in use are copied.
  [[nodiscard]] std::int64_t tokens() const { return 0; }
  [[nodiscard]] std::int64_t positions() const { return rows; }
  [[nodiscard]] std::int64_t row_sequences() const { return 2 * rows; }  // whose row it is
  [[nodiscard]] std::int64_t contexts() const { return 3 * rows; }
  // The first row of each chunk, behind the rows of the decodes, and the end of the last.
  [[nodiscard]] std::int64_t chunk_starts() const { return contexts() + sequences; }
  [[nodiscard]] std::int64_t answer_rows() const { return chunk_starts() + sequences + 1; }
  [[nodiscard]] std::int64_t tables() const { return answer_rows() + sequences; }
  [[nodiscard]] std::int64_t size() const { return tables() + sequences * blocks_per_sequence; }
  // Of a step with so many sequences.
  [[nodiscard]] std::int64_t used(const StepWork& work) const {
    return tables() + (work.decodes + work.chunks) * blocks_per_sequence;
  }

  // Writes the step. Decodes beyond the input's own, up to `decodes`, compute token 0 over one token in block
  // `spare_block`; they come with no chunks.
  StepWork pack(const StepInput& input, std::int64_t decodes, std::int32_t spare_block, int* out) const;
};

}  // namespace llmscape::live
