// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/node_traffic.hpp"

#include <algorithm>
#include <variant>

#include "models/operator_list.hpp"
#include "models/step_work.hpp"

namespace llmscape::engine {

NodeTraffic::NodeTraffic(const hardware::Device& device, const hardware::Links& links, const models::ModelSpec& model,
                         const models::ParallelPlan& plan, const Settings& settings)
    : links_(links), model_(model), plan_(plan), settings_(settings),
      captured_(std::ranges::any_of(device.hosts(model, plan), &hardware::HostDriven::graphs)) {}

NodeBytes NodeTraffic::of(const models::Batch& batch) const {
  models::Batch priced = batch;
  if (captured_ && batch.chunks.empty())
    priced.padding = padded_tokens(batch.decode_tokens(), settings_.graphs) - batch.decode_tokens();
  NodeBytes sent;
  Bytes more;  // than on average: the fullest rank's
  for (const models::Operator& op : models::step_work(model_, plan_, priced, settings_.device.coverage)) {
    const auto* collective = std::get_if<models::Collective>(&op.what);
    if (!collective || collective->kind == models::Collective::Kind::send) continue;
    const auto between = hardware::between_domains(links_, *collective);
    if (!between) continue;
    const bool to_all = collective->kind == models::Collective::Kind::all_to_all;
    const bool in_rank = collective->stride < plan_.tensor;
    Bytes& bytes = to_all ? sent.to_all : in_rank ? sent.in_rank : sent.by_rank;
    bytes += op.count * hardware::average_moved(*between);
    double& hops = to_all ? sent.hops_to_all : in_rank ? sent.hops_in_rank : sent.hops_by_rank;
    hops += op.count * hardware::hops(*between);
    more += op.count * (hardware::moved(*between) - hardware::average_moved(*between));
  }
  sent.priced = sent.in_rank + sent.by_rank + sent.to_all + more;
  divide(sent, batch);
  return sent;
}

// Where ranks hold unlike numbers of tokens, each sends its own to the experts and gets theirs back.
void NodeTraffic::divide(NodeBytes& sent, const models::Batch& batch) const {
  const std::int64_t all = batch.ranks.chunks + batch.ranks.decodes;
  if (batch.ranks.alike() || batch.ranks.most * plan_.data == all) return;
  const double own = static_cast<double>(batch.tokens() * plan_.data) / static_cast<double>(all);
  const double there = models::inputs_of(model_.precision, model_.precision.expert_weights()).bytes;
  const double back = models::hidden_format(model_.precision).bytes;
  sent.from_all = own * back / (there + back) * sent.to_all;
  sent.to_all *= own * there / (there + back);
}

}  // namespace llmscape::engine
