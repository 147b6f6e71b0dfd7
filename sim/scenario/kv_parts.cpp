// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/kv_parts.hpp"

#include "models/pool_budget.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::scenario {
namespace {

using serving::KvPart;
using serving::KvProperty;

struct Placed {
  KvPart part;
  SourceRange where;
};

template <class Base>
std::string kind_of(const Family<Base>& family, const Base& object) {
  const YamlNode written = family.write(object);
  return written.is_scalar() ? written.text : written.find(family.info().tag)->text;
}

Placed batcher_of(const PoolConfig& engine, const YamlNode& root) {
  const serving::BatcherPolicy& batcher = *engine.batcher;
  Placed placed{{"batcher " + kind_of(serving::batchers(), batcher), {}, {}, {}},
                where_of(root, {"serving", "batcher"})};
  if (batcher.swaps()) placed.part.needs.push_back(KvProperty::swap_space);
  else placed.part.takes.push_back(KvProperty::swapping);
  if (!batcher.prefix_caching()) placed.part.takes.push_back(KvProperty::cached_prefixes);
  else placed.part.takes.push_back(KvProperty::own_blocks);
  if (!batcher.kv_grows()) placed.part.takes.push_back(KvProperty::growing_blocks);
  return placed;
}

std::vector<Placed> parts_of(const Scenario& scenario, const PoolConfig& engine, const YamlNode& root) {
  const models::ModelSpec& model = scenario.model_of(engine);
  const SourceRange serving = where_of(root, {"serving"});
  const bool states = models::state_bytes_per_sequence(model) > 0;
  std::vector<Placed> parts{batcher_of(engine, root)};
  // What it drops of a prompt leaves blocks that nobody else may hold or wait for.
  if (models::PoolBudget(model).limits())
    parts.push_back(
        {{"a KV budget", {KvProperty::own_blocks, KvProperty::growing_blocks, KvProperty::whole_requests}, {}, {}},
         where_of(root, {"model", "token_plan"})});
  if (engine.role != serving::Role::any)
    parts.push_back(
        {{"a KV transfer between pools", {KvProperty::entries_alone}, {KvProperty::whole_requests}, {}}, serving});
  if (engine.pipeline_parallel > 1)
    parts.push_back({{"'pipeline_parallel'", {}, {KvProperty::one_stage}, {}}, serving});
  if (engine.pipeline_batches > 1) parts.push_back({{"'pipeline_batches'", {}, {KvProperty::one_stream}, {}}, serving});
  if (engine.speculation && engine.speculation->draft.model)
    parts.push_back({{"the model that makes drafts", {}, {KvProperty::one_model}, {}}, serving});
  if (states)
    parts.push_back({{model.name + " with its recurrent states", {}, {KvProperty::entries_alone}, {}}, serving});
  for (const serving::KvPlace* place : engine.places())
    parts.push_back({place->part(), where_of(root, {"serving", place->key()})});
  return parts;
}

}  // namespace

void check_kv(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device, const YamlNode& root,
              Diagnostics& diagnostics) {
  const std::vector<Placed> placed = parts_of(scenario, engine, root);
  std::vector<KvPart> parts;
  for (const Placed& one : placed) parts.push_back(one.part);
  for (const serving::KvConflict& conflict : serving::kv_conflicts(parts))
    diagnostics.error(placed[conflict.part].where, conflict.message, conflict.hint);
  const serving::KvLocation location{device.name, scenario.config.hardware.fabric.groups.contains(device.name)};
  for (const serving::KvPlace* place : engine.places())
    for (const serving::KvPlace::Problem& problem : place->problems(location))
      diagnostics.error(where_of(root, {"serving", place->key()}), problem.message, problem.hint);
}

}  // namespace llmscape::scenario
