// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/fields.hpp"
#include "base/random.hpp"
#include "workloads/laws.hpp"

namespace llmscape::workloads {

// A law of whole numbers as configured (immutable): token lengths, turns, calls. Key `kind`; values outside [min, max]
// are moved to the nearer end.
struct Lengths {
  std::int64_t min = 1;
  std::optional<std::int64_t> max;

  virtual ~Lengths() = default;
  [[nodiscard]] virtual Law law() const = 0;
};
const Family<Lengths>& lengths();

// A law of lengths bound to a random stream of its own.
class LengthDraws {
 public:
  LengthDraws(const Lengths& lengths, RandomStream stream);
  // Rounded to the nearest, then clamped.
  std::int64_t next();

 private:
  Law law_;
  double min_, max_;
  RandomStream stream_;
};

}  // namespace llmscape::workloads
