// SPDX-License-Identifier: Apache-2.0
#include "sim/live/paged_memory.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace llmscape::live;

TEST_CASE("a table grows by whole blocks, and blocks given back last are taken first") {
  PagedMemory memory(4, 16);
  std::vector<std::int32_t> first, second;
  memory.hold(first, 17);
  CHECK(first == std::vector<std::int32_t>{0, 1});
  memory.hold(first, 32);
  CHECK(first.size() == 2);
  memory.hold(second, 1);
  CHECK(memory.free() == 1);
  memory.release(first);
  CHECK(first.empty());
  CHECK(memory.free() == 3);
  memory.hold(second, 48);
  CHECK(second == std::vector<std::int32_t>{2, 1, 0});
}

TEST_CASE("memory that is not there cannot be held") {
  PagedMemory memory(2, 16);
  std::vector<std::int32_t> table;
  CHECK_THROWS_AS(memory.hold(table, 33), std::logic_error);
}
