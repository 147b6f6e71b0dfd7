// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/random.hpp"
#include "workloads/laws.hpp"

namespace llmscape::workloads {

// A law of times as configured (immutable): think times, tool times, patience. Key `kind`; a time above `max` counts
// as `max`.
struct Durations {
  std::optional<Seconds> max;

  virtual ~Durations() = default;
  // Of seconds, never negative.
  [[nodiscard]] virtual Law law() const = 0;
};
const Family<Durations>& durations();

// A law of times bound to a random stream of its own.
class DurationDraws {
 public:
  DurationDraws(const Durations& durations, RandomStream stream);
  Seconds next();

 private:
  Law law_;
  double max_;
  RandomStream stream_;
};

}  // namespace llmscape::workloads
