// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace llmscape {

// Values by a number, of which few may be there: memory is taken for the neighbourhoods of those that were asked for.
template <class T>
class PagedTable {
 public:
  // That of the number; nothing stands there at first.
  std::optional<T>& operator[](std::size_t number) {
    const std::size_t page = number / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[number % kPage];
  }

 private:
  static constexpr std::size_t kPage = 32;
  using Page = std::array<std::optional<T>, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace llmscape
