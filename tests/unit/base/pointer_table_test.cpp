// SPDX-License-Identifier: Apache-2.0
#include "base/pointer_table.hpp"

#include "base/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <unordered_map>

using namespace llmscape;

TEST_CASE("a table of pointers holds what a map holds, whatever comes and goes") {
  std::array<int, 1000> values{};
  for (const std::uint64_t keys : {20, 300, 5000}) {  // few keys meet in the same places all the time
    CAPTURE(keys);
    RandomStream random(keys);
    PointerTable<int> table;
    std::unordered_map<std::uint64_t, int*> map;
    for (int i = 0; i < 60'000; ++i) {
      // Low bits that are all the same, or nearly: long runs of slots, also over the end.
      const std::uint64_t key = (random.bits() % keys) * (i % 2 ? 1 : 0x10000) + (keys == 300 ? 15 : 0);
      int* value = &values[random.bits() % values.size()];
      if (random.bits() % 2) {
        table.insert(key, value);
        map.emplace(key, value);
      } else {
        table.erase(key);
        map.erase(key);
      }
      if (i % 16) continue;
      const std::uint64_t asked = random.bits() % keys;
      const auto found = map.find(asked);
      REQUIRE(table.find(asked) == (found == map.end() ? nullptr : found->second));
    }
    REQUIRE(table.size() == map.size());
    for (const auto& [key, value] : map) REQUIRE(table.find(key) == value);
  }
}

TEST_CASE("an empty table finds nothing") {
  PointerTable<int> table;
  CHECK(table.find(0) == nullptr);
  table.erase(0);
  CHECK(table.size() == 0);
}
