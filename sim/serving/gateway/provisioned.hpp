// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::serving {

// When a replica was switched on: what its devices draw whether they work or not is charged for that time, and what is
// rented by the hour is paid for it.
class Provisioned {
 public:
  struct Span {
    Seconds from, to;
  };

  // In turns, and in order of time.
  void switch_on(Seconds at);
  void switch_off(Seconds at);

  // Until `end`, in order of time.
  [[nodiscard]] std::vector<Span> spans(Seconds end) const;
  [[nodiscard]] Seconds time(Seconds end) const;

 private:
  std::vector<Span> spans_;  // the last one without an end while the replica is on
};

// When any of several was on, in order of time.
std::vector<Provisioned::Span> united(std::vector<Provisioned::Span> spans);
Seconds length_of(const std::vector<Provisioned::Span>& spans);

}  // namespace llmscape::serving
