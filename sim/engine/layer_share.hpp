// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/engine/engine_model.hpp"

namespace llmscape::engine {

// The cost of a batch whose chunks pass Batch::prefill_layers (s) of the layers, and whose decodes pass all (layered
// prefill, arXiv 2510.08055), on any kind of device.
//
// A step is a sum over layers plus what there is once: embedding, logits, sampling, scheduling. In s of the layers the
// chunks run beside the decodes, in 1 - s of them the decodes run alone:
//   s x step(chunks and decodes) + (1 - s) x step(decodes) + [step with first tokens - step without],
// which has every layer and what is there once in it once, and first tokens wherever chunks end prompts. Exact where
// layers are alike and nothing depends on the step as a whole; layers that differ (windows, dense ones first) count as
// their mean. The host's time and the wait for it (EngineCost::sync) are those of a step with chunks: no graph that was
// captured for decodes spans a step whose layers see different tokens. With s = 1 it is model.step(batch).
EngineCost step_by_layers(EngineModel& model, const models::Batch& batch);

}  // namespace llmscape::engine
