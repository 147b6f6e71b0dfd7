// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batcher.hpp"
#include "sim/serving/batchers/layered.hpp"
#include "sim/serving/batchers/orca.hpp"
#include "sim/serving/batchers/sarathi.hpp"
#include "sim/serving/batchers/sglang.hpp"
#include "sim/serving/batchers/static_batch.hpp"
#include "sim/serving/batchers/streaming.hpp"
#include "sim/serving/batchers/trtllm.hpp"
#include "sim/serving/batchers/vllm_v0.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"

namespace llmscape::serving {

const Family<BatcherPolicy>& batchers() {
  static const Family<BatcherPolicy> family(
      "batcher", "policy",
      {
          member<VllmV1, BatcherPolicy>("vllm_v1", "continuous batching with chunked prefill (vLLM 1)",
                                        vllm_v1_fields()),
          member<VllmV0, BatcherPolicy>("vllm_v0", "prefill first, whole prompts (vLLM 0.2 to 0.6)", vllm_v0_fields()),
          member<Orca, BatcherPolicy>("orca", "iteration-level scheduling, memory reserved at admission",
                                      orca_fields()),
          member<TrtLlm, BatcherPolicy>("trtllm", "in-flight batching with whole prompts (TensorRT-LLM)",
                                        trtllm_fields()),
          member<SgLang, BatcherPolicy>("sglang", "prompts in steps of their own, before decodes (SGLang)",
                                        sglang_fields()),
          member<Sarathi, BatcherPolicy>("sarathi", "one prompt chunk in a step, all decodes beside it (SARATHI)",
                                         sarathi_fields()),
          member<Layered, BatcherPolicy>("layered", "prompts one group of layers a step (layered prefill)",
                                         layered_fields()),
          member<Streaming, BatcherPolicy>("streaming", "streaming prompts in two phases (Stream2LLM)",
                                           streaming_fields()),
          member<StaticBatch, BatcherPolicy>("static", "request-level padded batches", static_batch_fields()),
      });
  return family;
}

}  // namespace llmscape::serving
