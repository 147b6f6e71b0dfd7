// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process_pool.hpp"

using namespace llmscape;

namespace {

struct Pages {
  bool told = false;   // by the system, of the heap
  bool large = false;  // some of it may have large ones
  template <class Message>
  void cross(Message& m) {
    m(told, large);
  }
};

Pages pages_of_heap() {
  Pages pages;
  std::ifstream maps("/proc/self/smaps");
  bool heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(':') > line.find('-')) heap = line.ends_with("[heap]");  // "55d0-55d8 rw-p ... [heap]"
    if (!heap || !line.starts_with("VmFlags:")) continue;
    pages.told = true;
    pages.large = pages.large || line.find(" hg") != std::string::npos;
  }
  return pages;
}

}  // namespace

TEST_CASE("a heap that was widened has large pages where the system has them, and serves as before") {
  const auto before = in_child<Pages>([] { return pages_of_heap(); });
  const auto after = in_child<Pages>([] {
    widen_heap();
    std::vector<std::unique_ptr<std::vector<std::size_t>>> parts;  // 32 MB
    for (std::size_t i = 0; i < 40'000; ++i) parts.push_back(std::make_unique<std::vector<std::size_t>>(100, i));
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i]->back() != i) throw std::logic_error("the heap lost what was written");
    return pages_of_heap();
  });
  REQUIRE(before.answer);
  REQUIRE(after.answer);
  CHECK_FALSE(before.answer->large);
  const bool system_has_them = std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
  if (after.answer->told && system_has_them) CHECK(after.answer->large);
}
