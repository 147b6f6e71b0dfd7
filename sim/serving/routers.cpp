// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/router.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/prefix_affinity.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "sim/serving/routers/vllm_data_parallel.hpp"

namespace llmscape::serving {

const Family<RouterPolicy>& routers() {
  static const Family<RouterPolicy> family(
      "router", "policy",
      {
          member<RoundRobin, RouterPolicy>("round_robin", "replicas in turn", round_robin_fields()),
          member<LeastTokens, RouterPolicy>("least_tokens", "fewest outstanding tokens", least_tokens_fields()),
          member<PrefixAffinity, RouterPolicy>("prefix_affinity", "longest cached prefix against load",
                                               prefix_affinity_fields()),
          member<VllmDataParallel, RouterPolicy>("vllm_data_parallel", "vLLM's balancer between data-parallel ranks",
                                                 vllm_data_parallel_fields()),
      });
  return family;
}

}  // namespace llmscape::serving
