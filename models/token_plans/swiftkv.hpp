// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plan.hpp"

namespace llmscape::models {

// SwiftKV (arXiv 2410.03960). SingleInputKV: the output of an early layer feeds the K and V projections of all later
// ones, so that of a prompt only the last token, which the next one is generated from, passes the later layers; decodes
// pass all. AcrossKV: neighbouring later layers share one KV cache, whose entries are projected once.
//
// In a model of several kinds of layers each kind is cut by the same share. Decodes and the weights in memory stay as
// they were: the K and V projections that AcrossKV spares a decode are 2 to 4 % of a layer.
struct SwiftKv : TokenPlan {
  double share = 0.5;  // of the layers, rounded to whole layers of each kind
  std::int64_t across_kv = 1;

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override;
  void apply(ModelSpec& model) const override;
};
const Fields<SwiftKv>& swiftkv_fields();

}  // namespace llmscape::models
