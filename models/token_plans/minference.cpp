// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/minference.hpp"

#include "models/token_plans/limits.hpp"

namespace llmscape::models {

std::vector<std::string> MInference::problems(const ModelSpec& model) const {
  return latent_attention_problem(model, "minference");
}

void MInference::apply(ModelSpec& model) const {
  for (LayerGroup& group : model.groups) {
    const auto* attention = std::get_if<SoftmaxAttention>(&group.mixer);
    if (!attention) continue;
    if (attention->window > 0) continue;  // a sliding window is sparse already
    group.change.prompt_reach = vertical + slash;
    group.change.scored_queries = estimate_queries;
    group.change.prompt_kernel = kernel;
  }
}

const Fields<MInference>& minference_fields() {
  static const Fields<MInference> fields = [] {
    Fields<MInference> f("minference", "MInference (arXiv 2407.02490): dynamic sparse attention of prompts");
    f.add("vertical", &MInference::vertical, "columns that a token attends to, mean over the heads")
        .between(1, kMostTokens);
    f.add("slash", &MInference::slash, "diagonals that a token attends to, mean over the heads")
        .between(1, kMostTokens);
    f.add("estimate_queries", &MInference::estimate_queries,
          "last tokens of a chunk that are scored against all keys to find them")
        .between(1, kMostTokens);
    f.add("kernel", &MInference::kernel, "whose kernels: the device's sparse_attention of that name")
        .one_of({"minference", "sglang"});
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
