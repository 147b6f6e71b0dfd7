// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/node_traffic.hpp"

#include <algorithm>
#include <variant>

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
  for (const models::Operator& op : models::step_work(model_, plan_, priced, settings_.device.coverage)) {
    const auto* collective = std::get_if<models::Collective>(&op.what);
    if (!collective || collective->kind == models::Collective::Kind::send) continue;
    const auto between = hardware::between_domains(links_, *collective);
    if (!between) continue;
    Bytes& bytes = collective->kind == models::Collective::Kind::all_to_all ? sent.to_all : sent.around;
    bytes += op.count * hardware::average_moved(*between);
  }
  return sent;
}

}  // namespace llmscape::engine
