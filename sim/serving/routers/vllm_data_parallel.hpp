// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/router.hpp"

namespace llmscape::serving {

// vLLM's internal balancer between data-parallel ranks (DPLBAsyncMPClient in vllm/v1/engine/core_client.py, counts from
// vllm/v1/engine/coordinator.py): the rank with the least 4 x waiting + running. Counts are published every `interval`;
// until then, a call that was sent counts as one more that waits.
struct VllmDataParallel : RouterPolicy {
  Seconds interval{0.1};
  [[nodiscard]] std::unique_ptr<Router> make() const override;
};
const Fields<VllmDataParallel>& vllm_data_parallel_fields();

}  // namespace llmscape::serving
