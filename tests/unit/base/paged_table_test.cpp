// SPDX-License-Identifier: Apache-2.0
#include "base/paged_table.hpp"

#include <doctest/doctest.h>

#include <string>

using llmscape::PagedTable;

TEST_CASE("values of a paged table stay where they are, however far away others come") {
  PagedTable<std::string> table;
  CHECK_FALSE(table[7]);
  table[7] = "seven";
  const std::string* place = &*table[7];
  table[100'000] = "far";
  CHECK(&*table[7] == place);
  CHECK(*table[7] == "seven");
  CHECK(*table[100'000] == "far");
  CHECK_FALSE(table[6]);
  CHECK_FALSE(table[99'999]);
}
