// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/streaming.hpp"

#include "models/token_plans/limits.hpp"

namespace llmscape::models {

std::vector<std::string> Streaming::problems(const ModelSpec& model) const {
  return latent_attention_problem(model, "streaming");
}

void Streaming::apply(ModelSpec& model) const {
  for (LayerGroup& group : model.groups) {
    auto* attention = std::get_if<SoftmaxAttention>(&group.mixer);
    if (!attention) continue;
    if (attention->window > 0) continue;
    attention->sink_tokens = sinks;
    attention->window = window;
    attention->sparse_kernel = "a_shape";
  }
}

const Fields<Streaming>& streaming_fields() {
  static const Fields<Streaming> fields = [] {
    Fields<Streaming> f("streaming", "StreamingLLM (arXiv 2309.17453): the first tokens and a window");
    f.add("sinks", &Streaming::sinks, "first tokens that all others attend to").between(0, kMostTokens);
    f.add("window", &Streaming::window, "last tokens that one attends to, itself included").between(1, kMostTokens);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
