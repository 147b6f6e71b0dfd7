// SPDX-License-Identifier: Apache-2.0
#include "base/indexed_heap.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <set>
#include <utility>

#include "base/random.hpp"

using namespace llmscape;

TEST_CASE("an indexed heap gives the least key, and of equal ones the lower number") {
  IndexedHeap<int> heap;
  CHECK(heap.empty());
  heap.set(3, 7);
  heap.set(1, 7);
  heap.set(0, 9);
  CHECK(heap.front() == 1);
  heap.set(0, 2);  // earlier
  CHECK(heap.front() == 0);
  heap.set(0, 8);  // later
  CHECK(heap.front() == 1);
  heap.erase(1);
  CHECK(heap.front() == 3);
  CHECK_FALSE(heap.contains(1));
  CHECK(heap.size() == 2);
  heap.clear();
  CHECK(heap.empty());
  CHECK_FALSE(heap.contains(3));
}

TEST_CASE("an indexed heap is a sorted set, whatever is put in, moved and taken out") {
  RandomStream random = RandomStreams(1).stream("heap");
  IndexedHeap<int> heap;
  std::set<std::pair<int, std::size_t>> sorted;
  for (int i = 0; i < 20000; ++i) {
    const auto item = static_cast<std::size_t>(random.uniform() * 40);
    if (heap.contains(item)) sorted.erase({heap.key(item), item});
    if (heap.contains(item) && random.uniform() < 0.4) {
      heap.erase(item);
    } else {
      const int key = static_cast<int>(random.uniform() * 20);
      heap.set(item, key);
      sorted.emplace(key, item);
    }
    REQUIRE(heap.size() == sorted.size());
    if (sorted.empty()) continue;
    REQUIRE(heap.front() == sorted.begin()->second);
    REQUIRE(heap.front_key() == sorted.begin()->first);
    REQUIRE(heap.second_key_or(-1) == (sorted.size() < 2 ? -1 : std::next(sorted.begin())->first));
  }
}
