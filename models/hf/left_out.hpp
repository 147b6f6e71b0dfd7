// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// What a checkpoint leaves as it was when it is quantised, of the parts whose formats are told apart; routers, norms,
// embedding and head, which all of them leave, aside.
struct LeftOut {
  bool attention = false;  // projections into attention or a state
  bool output = false;     // the projection out of it
  bool dense = false;      // feed-forward of dense layers and shared experts
};

// A list of modules, as checkpoints write them (`ignore`, `exclude_modules`, `modules_to_not_convert`): names
// ("model.layers.3.self_attn.q_proj"), parts of names ("lm_head"), with `*`, or regular expressions behind "re:".
// nullptr: nothing is left out. A part counts as left out where at least half of the layers that have it leave it; that
// the others do not is a warning. Modules of vision towers and of layers that predict further tokens do not count.
LeftOut left_out(const YamlNode* modules, const ModelSpec&, Diagnostics&);

}  // namespace llmscape::models::hf
