// SPDX-License-Identifier: Apache-2.0
#include "sim/live/paged_memory.hpp"

#include <numeric>
#include <stdexcept>

namespace llmscape::live {

PagedMemory::PagedMemory(std::int64_t blocks, std::int64_t block_tokens)
    : block_tokens_(block_tokens), free_(static_cast<std::size_t>(blocks)) {
  std::iota(free_.rbegin(), free_.rend(), 0);
}

void PagedMemory::hold(std::vector<std::int32_t>& table, std::int64_t tokens) {
  while (static_cast<std::int64_t>(table.size()) * block_tokens_ < tokens) {
    if (free_.empty()) throw std::logic_error("INV-4: the KV memory has no free block where its books have one");
    table.push_back(free_.back());
    free_.pop_back();
  }
}

void PagedMemory::release(std::vector<std::int32_t>& table) {
  free_.insert(free_.end(), table.begin(), table.end());
  table.clear();
}

}  // namespace llmscape::live
