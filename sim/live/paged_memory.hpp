// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace llmscape::live {

// The physical blocks of a KV pool: which sequence has which. How many it has is decided elsewhere
// (serving::EngineState); a pool of the same size never runs out. Blocks given back last are taken first, so that
// tables are as scattered as in any engine that has run for a while.
class PagedMemory {
 public:
  PagedMemory(std::int64_t blocks, std::int64_t block_tokens);

  // Lengthens the table to hold `tokens` tokens. Throws std::logic_error when no block is free.
  void hold(std::vector<std::int32_t>& table, std::int64_t tokens);
  // Takes all blocks back and empties the table.
  void release(std::vector<std::int32_t>& table);
  [[nodiscard]] std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }

 private:
  std::int64_t block_tokens_;
  std::vector<std::int32_t> free_;
};

}  // namespace llmscape::live
