// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/router.hpp"

namespace llmscape::serving {

struct LeastTokens : RouterPolicy {
  [[nodiscard]] std::unique_ptr<Router> make() const override;
};
const Fields<LeastTokens>& least_tokens_fields();

}  // namespace llmscape::serving
