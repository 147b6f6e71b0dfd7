// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/sampling.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <numeric>

namespace llmscape::hardware {
namespace {

std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t key) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream draws(key);
  for (std::size_t left = size; left > 1; --left) std::swap(order[left - 1], order[draws.below(left)]);
  return order;
}

}  // namespace

std::vector<std::size_t> random_subset(std::size_t size, std::size_t most, std::uint64_t key) {
  std::vector<std::size_t> chosen = shuffled(size, key);
  chosen.resize(std::min(size, most));
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<int> grouped_folds(std::span<const Group> groups, int folds, std::uint64_t key) {
  std::vector<Group> distinct(groups.begin(), groups.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::vector<std::size_t> place = shuffled(distinct.size(), key);
  std::vector<int> fold_of_row;
  fold_of_row.reserve(groups.size());
  for (const Group& group : groups) {
    const auto i = std::ranges::lower_bound(distinct, group) - distinct.begin();
    fold_of_row.push_back(static_cast<int>(place[static_cast<std::size_t>(i)] % static_cast<std::size_t>(folds)));
  }
  return fold_of_row;
}

}  // namespace llmscape::hardware
