// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmscape::models {

// The exponent that authors of tables take for the routers of served models.
inline constexpr double kServedExponent = 1.01;

// How unlike the experts of a layer are to a router: loads follow a power law of `exponent` (above 1, below 2) from
// that of the least popular expert to `range` times it (above 1).
struct Popularity {
  double exponent = kServedExponent, range = 200;
  bool operator==(const Popularity&) const = default;
};

// That of ai-dynamo/aiconfigurator's collector, which deals rows out as routers of served models do by its authors:
// samples of [1, 0.8 tokens], or of [0.01, 2] where `rows` are no more than `experts`, scaled to the rows and rounded;
// what is left over goes to experts without rows. The law is from memory of power_law_logits_v3, and held to the
// tables: for exponent 1.01 the times of 1,900 bf16 and fp8_block layers of up to 256 experts (vLLM 0.24 on an H100,
// 095f58a) are those of balanced rows that touch as many experts to 2 % in the median, at 1 to 512 tokens.
Popularity dealt_popularity(double exponent, double tokens, double rows, int experts);

// Rows of the experts of one layer, `mean` of them in the mean.
class ExpertLoads {
 public:
  ExpertLoads(const Popularity& popularity, double mean);

  // Share of the experts that get a row: the mean of min(1, load).
  [[nodiscard]] double touched() const;
  // Tiles of so many rows beyond the first that an expert fills in the mean: the mean of ceil(load / rows) - 1 over
  // whole rows, over all experts.
  [[nodiscard]] double further_tiles(double rows) const;
  // Variance of the loads over their squared mean.
  [[nodiscard]] double relative_variance() const;
  // Rows of the fullest of so many experts: what a share of e^-0.5772 / experts of all loads exceeds.
  [[nodiscard]] double largest_of(int experts) const;
  // The mean of loads of up to `rows`.
  [[nodiscard]] double mean_up_to(double rows) const;

 private:
  [[nodiscard]] double share_above(double rows) const;
  // The mean of what loads have above `rows`.
  [[nodiscard]] double rows_above(double rows) const;
  // The mean of load^power over loads of up to `rows`.
  [[nodiscard]] double moment(double power, double rows) const;

  double power_;  // of the law's cumulated shares: 1 - exponent
  double mean_, least_, most_;
  double from_, to_;  // least and most to that power
};

}  // namespace llmscape::models
