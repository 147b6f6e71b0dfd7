// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/router.hpp"

namespace llmscape::serving {

// Sends a request where the least work is left for it: its uncached prompt plus a share of what the replica still has
// to do.
struct PrefixAffinity : RouterPolicy {
  double load_weight = 0.05;

  [[nodiscard]] std::unique_ptr<Router> make() const override;
};
const Fields<PrefixAffinity>& prefix_affinity_fields();

}  // namespace llmscape::serving
