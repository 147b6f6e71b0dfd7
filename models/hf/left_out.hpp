// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// Stores the model's linear layers as `narrow`, but for those that the list leaves as they were, and for routers,
// norms, embedding and head, which all checkpoints leave. The list is one of modules as checkpoints write them
// (`ignore`, `exclude_modules`, `modules_to_not_convert`): names ("model.layers.3.self_attn.q_proj"), parts of names
// ("lm_head"), with `*`, or regular expressions behind "re:"; nullptr: none are left. Parts that are told apart are the
// projections into attention (or a state), those out of it, and dense feed-forward with shared experts, which is left
// where most of its matrices are (a warning, where that is not all). A part of most layers is a format of the model's
// precision; the other layers, where some differ, become groups with a format of their own. Modules of vision towers
// and of layers that predict further tokens do not count.
void store(const YamlNode* left_out, const Format& narrow, ModelSpec& model, Diagnostics& diagnostics);

}  // namespace llmscape::models::hf
