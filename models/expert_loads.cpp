// SPDX-License-Identifier: Apache-2.0
#include "models/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace llmscape::models {
namespace {

constexpr double kDealtShare = 0.8;    // of the tokens, to the most popular expert
constexpr double kLeastRange = 1.01;   // where tokens are too few for any
constexpr double kFewRowsRange = 200;  // [0.01, 2]
constexpr int kTilesOneByOne = 4;      // further ones are integrated
constexpr double kWholeRow = 0.5;      // loads are rounded

// The mean of x^power over a power law of x in [1, range], whose cumulated shares go with x^shares.
double unit_moment(double power, double shares, double range) {
  const double sum = power + shares;
  return shares / sum * (std::pow(range, sum) - 1) / (std::pow(range, shares) - 1);
}

}  // namespace

Popularity dealt_popularity(double exponent, double tokens, double rows, int experts) {
  if (rows <= experts) return {exponent, kFewRowsRange};
  return {exponent, std::max(kDealtShare * tokens, kLeastRange)};
}

ExpertLoads::ExpertLoads(const Popularity& popularity, double mean)
    : power_(1 - popularity.exponent), mean_(mean), least_(mean / unit_moment(1, power_, popularity.range)),
      most_(least_ * popularity.range), from_(std::pow(least_, power_)), to_(std::pow(most_, power_)) {}

double ExpertLoads::share_above(double rows) const {
  if (rows <= least_) return 1;
  return rows >= most_ ? 0 : (to_ - std::pow(rows, power_)) / (to_ - from_);
}

double ExpertLoads::moment(double power, double rows) const {
  const double sum = power + power_;
  const double to = std::clamp(rows, least_, most_);
  return power_ / sum * (std::pow(to, sum) - std::pow(least_, sum)) / (to_ - from_);
}

double ExpertLoads::rows_above(double rows) const {
  return std::max(0.0, mean_ - moment(1, rows) - rows * share_above(rows));
}

double ExpertLoads::touched() const { return std::min(1.0, moment(1, 1) + share_above(1)); }

double ExpertLoads::further_tiles(double rows) const {
  double tiles = 0;
  for (int j = 1; j <= kTilesOneByOne; ++j) {
    const double share = share_above(j * rows + kWholeRow);
    if (share <= 0) return tiles;
    tiles += share;
  }
  // From half a tile on, as each of the sum stands for the tile around it.
  return tiles + rows_above((kTilesOneByOne + 0.5) * rows + kWholeRow) / rows;
}

double ExpertLoads::largest_of(int experts) const {
  const double above = std::exp(-std::numbers::egamma) / experts;
  return std::pow(to_ + above * (from_ - to_), 1 / power_);
}

double ExpertLoads::mean_up_to(double rows) const { return moment(1, rows) / (1 - share_above(rows)); }

double ExpertLoads::relative_variance() const { return moment(2, most_) / (mean_ * mean_) - 1; }

}  // namespace llmscape::models
