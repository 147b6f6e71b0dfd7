// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"
#include "hardware/fit.hpp"

#include <cstdint>

namespace llmscape::hardware {

// What the host does for a step: schedule, prepare inputs, launch. At most these constants may come from an engine run.
struct HostParameters : Fit {
  Seconds per_step;
  Seconds per_request;
  Seconds graph_launch;      // one captured graph for the whole step
  Seconds per_eager_layer;   // launches of a layer outside a graph
  Seconds per_prefill_step;  // of a step with prompt chunks, on top: what no scheduling hides
};
const Fields<HostParameters>& host_fields();

// Tokens that the linears of a decode-only batch compute: the next captured size (1, 2, 4, multiples of 8 to 256, of 16
// to 512), or the batch itself where none is captured.
std::int64_t padded_tokens(std::int64_t tokens, const Device::Settings&);

// Batches with prompt chunks count as eager: their attention is launched layer by layer even between captured pieces.
Seconds host_time(const HostParameters&, const Device::Settings&, const models::Batch&, int layers);

// What the device waits for the host in the step (t_sync of the two timelines, cost-model 3.7).
Seconds sync_time(const HostParameters&, const models::Batch&);

}  // namespace llmscape::hardware
