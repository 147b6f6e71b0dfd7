// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"

namespace llmscape::workloads {

const Family<Arrivals>& arrivals() {
  static const Family<Arrivals> family(
      "arrivals", "kind",
      {poisson_arrivals(), gamma_arrivals(), weibull_arrivals(), periodic_arrivals(), on_off_arrivals(),
       ramp_arrivals(), burst_arrivals(), closed_loop_arrivals(), drifting_arrivals()});
  return family;
}

}  // namespace llmscape::workloads
