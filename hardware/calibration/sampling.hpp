// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llmscape::hardware {

// `most` of the numbers from 0 to `size` - 1, or all of them, drawn at random and sorted; only `key` decides which.
std::vector<std::size_t> random_subset(std::size_t size, std::size_t most, std::uint64_t key);

// The fold, 0 to `folds` - 1, of each row. Rows of the same group share one, so that no fold is scored on a shape that
// its fit has seen; groups are dealt out evenly and at random, only `key` decides how.
// The sides of a shape; those that it lacks are 0.
using Group = std::array<std::int64_t, 4>;
std::vector<int> grouped_folds(std::span<const Group> groups, int folds, std::uint64_t key);

}  // namespace llmscape::hardware
