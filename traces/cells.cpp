// SPDX-License-Identifier: Apache-2.0
#include "traces/cells.hpp"

#include <algorithm>

namespace llmscape::traces {

void split_cells(std::string_view line, std::vector<Span>& cells) {
  cells.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back({begin, end - begin});
    begin = end + 1;
  }
}

}  // namespace llmscape::traces
