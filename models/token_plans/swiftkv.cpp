// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/swiftkv.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace llmscape::models {

std::vector<std::string> SwiftKv::problems(const ModelSpec& model) const {
  std::vector<std::string> problems = latent_attention_problem(model, "swiftkv");
  const bool all_attend = std::ranges::all_of(
      model.groups, [](const LayerGroup& group) { return std::holds_alternative<SoftmaxAttention>(group.mixer); });
  if (problems.empty() && !all_attend)
    problems.push_back("token plan 'swiftkv' needs keys and values in every layer: " + model.name +
                       " has layers that keep a state");
  return problems;
}

void SwiftKv::apply(ModelSpec& model) const {
  std::vector<LayerGroup> groups;
  for (const LayerGroup& group : model.groups) {
    LayerGroup early = group, late = group;
    late.count = static_cast<int>(std::lround(share * group.count));
    late.change.passed_by_last_only = true;
    late.change.caches_shared_by = static_cast<int>(across_kv);
    early.count -= late.count;
    for (const LayerGroup& part : {early, late})
      if (part.count > 0) groups.push_back(part);
  }
  model.groups = std::move(groups);
}

const Fields<SwiftKv>& swiftkv_fields() {
  static const Fields<SwiftKv> fields = [] {
    Fields<SwiftKv> f("swiftkv", "SwiftKV (arXiv 2410.03960): later layers take a prompt's KV from an early output");
    f.add("share", &SwiftKv::share, "of the layers, the last ones, that prompt tokens pass as keys and values only")
        .above(0)
        .at_most(1);
    f.add("across_kv", &SwiftKv::across_kv, "of those, neighbours that share one KV cache; 1: each has its own")
        .between(1, 64);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
