// SPDX-License-Identifier: Apache-2.0
#include "sim/live/llama.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/token_plan.hpp"

namespace llmscape::live {
namespace {

// What keeps the model from being one that we compute; empty: nothing.
std::string_view obstacle(const models::ModelSpec& model) {
  if (model.groups.empty()) return "it has no layers";
  if (models::changed_by_plan(model)) return "a token plan has changed it";
  const models::LayerGroup& first = model.groups.front();
  const auto* softmax = std::get_if<models::SoftmaxAttention>(&first.mixer);
  if (std::holds_alternative<models::LatentAttention>(first.mixer)) return "it has latent attention";
  if (!softmax) return "it has layers without attention over keys and values";
  const models::SoftmaxAttention& a = *softmax;
  if (a.output_gate) return "it has gates at the output of attention";
  if (a.window > 0) return "it has a sliding window";
  if (a.sinks) return "it has attention sinks";
  if (a.qk_norm || a.qk_norm_full) return "it has norms over queries and keys";
  if (a.qkv_bias || a.output_bias || first.feed_forward.bias || first.norm_bias) return "it has biases";
  if (a.head_dim % 16 != 0 || a.head_dim > 256) return "its head width is not a multiple of 16 up to 256";
  if (first.feed_forward.routed()) return "it has routed experts";
  if (!first.feed_forward.gated) return "its feed-forward has no gate";
  if (first.norms != 2 || !model.final_norm) return "it does not have two norms a layer and one at the end";
  if (model.position_table > 0) return "it has a learned position embedding";
  if (model.embedding_width > 0 && model.embedding_width != model.hidden) return "its embedding is narrower";
  const bool alike = std::ranges::all_of(model.groups, [&first](const models::LayerGroup& group) {
    return group.mixer == first.mixer && group.feed_forward == first.feed_forward && group.norms == first.norms &&
           group.norm_bias == first.norm_bias;
  });
  return alike ? "" : "its layers differ";
}

}  // namespace

std::optional<LlamaShape> llama_shape(const models::ModelSpec& model, std::string& reason) {
  reason = obstacle(model);
  if (!reason.empty()) return std::nullopt;
  const auto& a = model.groups.front().softmax();
  return LlamaShape{.layers = model.layers(),
                    .hidden = model.hidden,
                    .heads = a.heads,
                    .kv_heads = a.kv_heads,
                    .head_dim = a.head_dim,
                    .width = model.groups.front().feed_forward.width,
                    .vocabulary = model.vocabulary,
                    .max_position = model.max_position,
                    .tied = model.tied_embeddings};
}

std::string model_yaml(const LlamaShape& s, std::string_view format) {
  return fmt::format(
      "schema: model/1\nhidden: {}\nvocabulary: {}\nmax_position: {}\ntied_embeddings: {}\n"
      "weights: {}\nactivations: {}\nkv: {}\ngroups:\n"
      "  - count: {}\n    attention: {{heads: {}, kv_heads: {}, head_dim: {}}}\n    feed_forward: {{width: {}}}\n",
      s.hidden, s.vocabulary, s.max_position, s.tied, format, format, format, s.layers, s.heads, s.kv_heads, s.head_dim,
      s.width);
}

const std::vector<Size>& sizes() {
  constexpr std::int64_t kMaxPosition = 4096;
  const auto of = [](std::int64_t layers, std::int64_t hidden, std::int64_t width, std::int64_t vocabulary) {
    return LlamaShape{.layers = layers,
                      .hidden = hidden,
                      .heads = hidden / 64,
                      .kv_heads = hidden / 256,
                      .head_dim = 64,
                      .width = width,
                      .vocabulary = vocabulary,
                      .max_position = kMaxPosition,
                      .tied = true};
  };
  static const std::vector<Size> all = {
      {"tiny", "2 layers of 256: for tests", of(2, 256, 768, 2048)},
      {"small", "4 layers of 512", of(4, 512, 1536, 8192)},
      {"medium", "8 layers of 1,024", of(8, 1024, 3072, 16384)},
      {"large", "12 layers of 1,536", of(12, 1536, 4608, 32768)},
  };
  return all;
}

}  // namespace llmscape::live
