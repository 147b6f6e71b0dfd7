// SPDX-License-Identifier: Apache-2.0
#include "models/adapter.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace llmscape::models {
namespace {

// Targets that read the same input, as one rank sees them.
struct AdaptedInput {
  std::int64_t in = 0;
  std::vector<std::int64_t> outs;

  [[nodiscard]] std::int64_t all_outs() const { return std::accumulate(outs.begin(), outs.end(), std::int64_t{0}); }
  [[nodiscard]] std::int64_t parameters(std::int64_t rank) const {
    return rank * (in * static_cast<std::int64_t>(outs.size()) + all_outs());
  }
};

bool adapts(const Adapter& adapter, std::string_view target) {
  return std::find(adapter.targets.begin(), adapter.targets.end(), target) != adapter.targets.end();
}

std::vector<AdaptedInput> adapted_inputs(const Adapter& adapter, std::int64_t hidden, const LayerGroup& group,
                                         int tensor) {
  AdaptedInput projections{hidden, {}};
  if (const auto* attention = std::get_if<SoftmaxAttention>(&group.mixer)) {
    const std::int64_t heads = attention->heads / tensor;
    // q_proj gives the gate of the output too, where that is no matrix of its own.
    const std::int64_t gate = attention->output_gate ? heads * attention->value_width() : 0;
    const std::int64_t queries = heads * attention->head_dim + gate;
    const std::int64_t keys = std::int64_t{attention->kv_heads_of_rank(tensor)} * attention->head_dim;
    const std::int64_t values = attention->key_value_columns(tensor) - keys;
    for (const auto& [target, width] : {std::pair{"q", queries}, {"k", keys}, {"v", values}})
      if (adapts(adapter, target)) projections.outs.push_back(width);
  }

  std::vector<AdaptedInput> inputs;
  if (!projections.outs.empty()) inputs.push_back(projections);
  // The projection behind a state has another name (out_proj), which no target of attention matches.
  const bool attends = !std::holds_alternative<StateLayer>(group.mixer);
  if (const auto around = models::projections(hidden, group.mixer, tensor);
      attends && adapts(adapter, "o") && !around.empty())
    inputs.push_back({around.back().k, {hidden}});
  if (adapts(adapter, "mlp") && group.feed_forward.present()) {
    const FeedForward& kind = group.feed_forward;
    const std::int64_t width = kind.width / tensor;
    inputs.push_back({hidden, std::vector<std::int64_t>(kind.gated ? 2 : 1, width)});
    inputs.push_back({width, {hidden}});
  }
  return inputs;
}

}  // namespace

std::vector<std::string> problems(const Adapter& adapter, const ModelSpec& model) {
  const auto any_layer = [&model](auto&& is) { return std::any_of(model.groups.begin(), model.groups.end(), is); };
  std::vector<std::string> all;
  if (adapter.targets.empty()) all.emplace_back("adapters need targets: some of q, k, v, o and mlp");
  const bool projected = adapts(adapter, "q") || adapts(adapter, "k") || adapts(adapter, "v");
  if (projected && any_layer([](const auto& g) { return std::holds_alternative<LatentAttention>(g.mixer); }))
    all.emplace_back("adapters of q, k and v need a model without latent attention");
  if (adapts(adapter, "mlp") && any_layer([](const auto& g) { return g.feed_forward.routed(); }))
    all.emplace_back("adapters of mlp need a model without routed experts");
  return all;
}

std::int64_t parameters(const Adapter& adapter, const ModelSpec& model) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : model.groups)
    for (const AdaptedInput& input : adapted_inputs(adapter, model.hidden, group, 1))
      sum += group.count * input.parameters(adapter.rank);
  return sum;
}

Bytes adapter_bytes(const Adapter& adapter, const ModelSpec& model, const ParallelPlan& plan) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : model.groups)
    for (const AdaptedInput& input : adapted_inputs(adapter, model.hidden, group, plan.tensor))
      sum += group.count * input.parameters(adapter.rank);
  return Bytes(share_of_fullest_stage(model, plan) * static_cast<double>(sum) * hidden_format(model.precision).bytes);
}

std::vector<Operator> adapter_work(const Adapter& adapter, const ModelSpec& model, const ParallelPlan& plan,
                                   std::int64_t tokens, std::int64_t adapters) {
  GroupedGemm product;
  product.rows = tokens;
  product.experts_touched = static_cast<double>(std::min(adapters, tokens));
  product.experts_held = static_cast<int>(adapters);
  product.weights = product.activations = hidden_format(model.precision);
  product.dealt = GroupedGemm::Dealt::at_random;
  OperatorList list;
  for (const LayerGroup& group : model.groups) {
    const int layers = group.count;
    for (const AdaptedInput& input : adapted_inputs(adapter, model.hidden, group, plan.tensor)) {
      product.k = input.in;
      product.n = adapter.rank * static_cast<std::int64_t>(input.outs.size());
      list.add(product, layers);
      product.k = adapter.rank;
      product.n = input.all_outs();
      list.add(product, layers);
    }
  }
  return list.take_stage(plan);
}

}  // namespace llmscape::models
