// SPDX-License-Identifier: Apache-2.0
#include "sim/live/packed_step.hpp"

#include <doctest/doctest.h>

using namespace llmscape::live;

namespace {

std::vector<int> part(const std::vector<int>& all, std::int64_t first, std::int64_t count) {
  return {all.begin() + first, all.begin() + first + count};
}

}  // namespace

TEST_CASE("rows are padded as vLLM captures graphs") {
  CHECK(row_ladder(40) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 24, 32, 40});
  CHECK(row_ladder(3).back() == 4);
  CHECK(padded_rows(249) == 256);
  CHECK(padded_rows(257) == 272);
  CHECK(padded_rows(513) == 576);
  for (const std::int64_t rows : row_ladder(2048)) CHECK(padded_rows(rows) == rows);
}

TEST_CASE("a mixed step is packed row by row and table by table") {
  const std::vector<std::int32_t> first = {7, 3}, second = {5}, third = {1, 2};
  StepInput input;
  input.tokens = {11, 20, 21, 22, 30, 31};
  input.positions = {19, 0, 1, 2, 16, 17};
  input.contexts = {20};
  input.chunks = {{3, 0, false}, {2, 16, true}};
  input.tables = {first, second, third};
  const PackedStep packing{8, 4, 3};
  std::vector<int> out(static_cast<std::size_t>(packing.size()), -1);
  const StepWork work = packing.pack(input, 1, 99, out.data());
  CHECK(work.rows == 6);
  CHECK(work.decodes == 1);
  CHECK(work.chunks == 2);
  CHECK(work.answers == 2);
  CHECK(work.longest_chunk == 3);
  CHECK(part(out, packing.tokens(), 6) == std::vector<int>{11, 20, 21, 22, 30, 31});
  CHECK(part(out, packing.positions(), 6) == std::vector<int>{19, 0, 1, 2, 16, 17});
  CHECK(part(out, packing.row_sequences(), 6) == std::vector<int>{0, 1, 1, 1, 2, 2});
  CHECK(part(out, packing.contexts(), 3) == std::vector<int>{20, 3, 18});
  CHECK(part(out, packing.chunk_starts(), 3) == std::vector<int>{0, 3, 5});
  CHECK(part(out, packing.answer_rows(), 2) == std::vector<int>{0, 5});
  CHECK(part(out, packing.tables(), 8) == std::vector<int>{7, 3, -1, 5, -1, -1, 1, 2});
  CHECK(packing.used(work) == packing.tables() + 9);
}

TEST_CASE("a padded decode step computes harmless rows in the spare block") {
  const std::vector<std::int32_t> table = {4};
  StepInput input;
  input.tokens = {9};
  input.positions = {3};
  input.contexts = {4};
  input.tables = {table};
  const PackedStep packing{4, 4, 2};
  std::vector<int> out(static_cast<std::size_t>(packing.size()), -1);
  const StepWork work = packing.pack(input, 2, 99, out.data());
  CHECK(work.rows == 2);
  CHECK(work.answers == 2);
  CHECK(part(out, packing.tokens(), 2) == std::vector<int>{9, 0});
  CHECK(part(out, packing.contexts(), 2) == std::vector<int>{4, 1});
  CHECK(part(out, packing.answer_rows(), 2) == std::vector<int>{0, 1});
  CHECK(part(out, packing.tables(), 3) == std::vector<int>{4, -1, 99});
}
