// SPDX-License-Identifier: Apache-2.0
#include "sim/live/packed_step.hpp"

#include <algorithm>

namespace llmscape::live {

std::int64_t padded_rows(std::int64_t rows) {
  if (rows <= 2) return rows;
  if (rows <= 4) return 4;
  const std::int64_t step = rows <= 256 ? 8 : rows <= 512 ? 16 : 64;
  return (rows + step - 1) / step * step;
}

std::vector<std::int64_t> row_ladder(std::int64_t most) {
  std::vector<std::int64_t> ladder = {1};
  while (ladder.back() < most) ladder.push_back(padded_rows(ladder.back() + 1));
  return ladder;
}

StepWork PackedStep::pack(const StepInput& input, std::int64_t decodes, std::int32_t spare_block, int* out) const {
  int *token = out + tokens(), *position = out + positions(), *sequence = out + row_sequences();
  int *context = out + contexts(), *start = out + chunk_starts(), *answer = out + answer_rows();
  int* table = out + tables();
  StepWork work;
  const auto add_row = [&](std::int32_t row_token, std::int64_t row_position) {
    *token++ = row_token;
    *position++ = static_cast<int>(row_position);
    *sequence++ = static_cast<int>(work.decodes + work.chunks);
    ++work.rows;
  };
  const auto add_sequence = [&](std::span<const std::int32_t> blocks, std::int64_t length) {
    std::ranges::copy(blocks, table);
    table += blocks_per_sequence;
    *context++ = static_cast<int>(length);
  };

  for (const std::int64_t length : input.contexts) {
    const auto i = static_cast<std::size_t>(work.decodes);
    add_row(input.tokens[i], input.positions[i]);
    add_sequence(input.tables[i], length);
    *answer++ = static_cast<int>(work.decodes++);
  }
  while (work.decodes < decodes) {
    add_row(0, 0);
    add_sequence({&spare_block, 1}, 1);
    *answer++ = static_cast<int>(work.decodes++);
  }
  work.answers = work.decodes;
  *start++ = 0;
  for (const models::PrefillChunk& chunk : input.chunks) {
    for (std::int64_t i = 0; i < chunk.tokens; ++i) {
      const auto row = static_cast<std::size_t>(work.rows);
      add_row(input.tokens[row], input.positions[row]);
    }
    add_sequence(input.tables[static_cast<std::size_t>(work.decodes + work.chunks)], chunk.cached + chunk.tokens);
    *start++ = static_cast<int>(work.rows - work.decodes);
    if (chunk.ends_prompt) {
      *answer++ = static_cast<int>(work.rows - 1);
      ++work.answers;
    }
    work.longest_chunk = std::max(work.longest_chunk, chunk.tokens);
    ++work.chunks;
  }
  return work;
}

}  // namespace llmscape::live
