// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/speculation.hpp"

#include <algorithm>
#include <utility>

#include "models/speculation.hpp"
#include "sim/engine/draft.hpp"
#include "sim/engine/kv_pool.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {
namespace {

const Fields<DraftLinkConfig>& link_fields() {
  static const Fields<DraftLinkConfig> fields = [] {
    Fields<DraftLinkConfig> f("draft_link", "between a device that drafts and the one that verifies");
    f.add("uplink", &DraftLinkConfig::uplink, "bandwidth, one way").required().above(0);
    f.add("latency", &DraftLinkConfig::latency, "one way").required().at_least(0);
    return f;
  }();
  return fields;
}

const Fields<DraftConfig>& draft_fields() {
  static const Fields<DraftConfig> fields = [] {
    Fields<DraftConfig> f("draft",
                          "where drafts come from; without a key they are looked up in the prompt, for nothing");
    f.add("share", &DraftConfig::share,
          "they are of heads or a last layer of the model itself (Medusa, EAGLE), which add this share to each step, "
          "and to the weights in memory")
        .at_least(0)
        .at_most(10);
    f.add("model", &DraftConfig::model,
          "they are of a smaller model: one of the scenario's 'models', or a preset; on the same devices, whose memory "
          "it shares, if no 'device' is given");
    f.add_family("device", &DraftConfig::device, hardware::devices(),
                 "each user's own device runs it, for one sequence")
        .preset_from("hardware");
    f.add_group("link", &DraftConfig::link, link_fields(), "between that device and the model").preset_from("links");
    f.add("deadline", &DraftConfig::deadline,
          "longest that a pass waits for drafts of users' devices: a request whose drafts take longer goes without "
          "them, a token a pass; absent: as long as they gain a sequence that is alone with the model")
        .at_least(0);
    f.check([](const DraftConfig& c, const YamlNode& node, Diagnostics& d) {
      if (c.share && c.model) d.error(node.where, "drafts are of heads ('share') or of a 'model', not of both");
      if (c.device && !c.model) d.error(node.where, "'device' needs the 'model' that drafts on it");
      if ((c.device != nullptr) != c.link.has_value())
        d.error(node.where, "a 'device' that drafts and the 'link' to it go together");
      if (c.deadline && !c.device)
        d.error(node.where, "'deadline' is for drafts of a 'device' of each user's, and there is none");
    });
    return f;
  }();
  return fields;
}

// Where no token is drafted, no device does anything for drafts, nor holds what would make them.
bool makes_drafts(const PoolConfig& pool) { return pool.speculation && pool.speculation->tokens > 0; }

const models::ModelSpec* draft_of(const Scenario& scenario, const PoolConfig& pool) {
  if (!pool.speculation || !pool.speculation->draft.model) return nullptr;
  return &scenario.drafts.at(*pool.speculation->draft.model);
}

engine::DraftLink link_of(const DraftConfig& config) { return {*config.link->latency, *config.link->uplink}; }

// The device's own settings: it drafts for one sequence.
engine::Settings settings_of_user(const PoolConfig& pool) {
  engine::Settings settings = settings_of(pool);
  settings.device.adapter = {};
  settings.device.execution = {};  // their devices run engines of their own
  settings.host = {};
  return settings;
}

// What a pass of replicas on `device` waits for drafts of users' devices.
Seconds deadline_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  const SpeculationConfig& config = *pool.speculation;
  if (config.draft.deadline) return *config.draft.deadline;
  const models::ModelSpec& model = scenario.model_on(pool, device);
  return engine::draft_break_even(*engine::bind(device, model, pool.plan(), settings_of(pool)),
                                  models::kv_laws(model).size(), config.tokens,
                                  models::tokens_per_pass(static_cast<int>(config.tokens), config.acceptance),
                                  static_cast<int>(pool.pipeline_parallel));
}

engine::ContextsOfDraft contexts_of(const Scenario& scenario, const PoolConfig& pool, const models::ModelSpec& draft) {
  return {models::kv_laws(scenario.model_of(pool)), models::kv_laws(draft)};
}

}  // namespace

const Fields<SpeculationConfig>& speculation_fields() {
  static const Fields<SpeculationConfig> fields = [] {
    Fields<SpeculationConfig> f("speculation", "speculative decoding");
    f.add("tokens", &SpeculationConfig::tokens, "drafts before each pass of the model; 0: a run without speculation")
        .required()
        .between(0, 64);
    f.add("acceptance", &SpeculationConfig::acceptance,
          "probability that the model accepts a draft if it accepted all before it")
        .required()
        .between(0, 1);
    f.add_group("draft", &SpeculationConfig::draft, draft_fields(), "where drafts come from");
    return f;
  }();
  return fields;
}

serving::Speculation speculation_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                    std::int64_t longest, const RandomStreams& streams) {
  if (!pool.speculation) return {};
  const SpeculationConfig& config = *pool.speculation;
  serving::Speculation speculation{config.tokens, config.acceptance, streams.child("speculation")};
  if (!config.draft.device || config.tokens == 0) return speculation;
  const models::ModelSpec& draft = *draft_of(scenario, pool);
  // Passes of the mean, and padded ones, may reach beyond the longest request.
  const std::int64_t furthest = longest + speculation.tokens_per_decode();
  const std::int64_t in_time = engine::longest_in_time(
      *engine::bind(*config.draft.device, draft, {}, settings_of_user(pool)), models::kv_laws(draft), config.tokens,
      link_of(config.draft), deadline_of(scenario, pool, device), furthest);
  if (in_time < furthest) speculation.longest_in_time = in_time;
  return speculation;
}

std::vector<std::string> draft_problems(const Scenario& scenario, const PoolConfig& pool,
                                        const hardware::Device& device) {
  std::vector<std::string> problems;
  if (!pool.speculation) return problems;
  if (const std::int64_t tokens = pool.batcher->max_sequences() * (1 + pool.speculation->tokens);
      tokens > pool.batcher->max_tokens())
    problems.push_back("with " + std::to_string(pool.speculation->tokens) +
                       " drafts each, the most sequences of a step "
                       "compute " +
                       std::to_string(tokens) + " tokens, more than its budget of " +
                       std::to_string(pool.batcher->max_tokens()));
  const models::ModelSpec* draft = draft_of(scenario, pool);
  if (!draft) return problems;
  if (!contexts_of(scenario, pool, *draft).known())
    problems.push_back(draft->name + " attends to more than " + scenario.model_of(pool).name +
                       ", whose drafts it makes");
  const DraftConfig& config = pool.speculation->draft;
  const models::ParallelPlan plan = config.device ? models::ParallelPlan{} : pool.plan();
  const std::string drafting = draft->name + " cannot make drafts: ";
  std::vector<std::string> unfit = models::problems(plan, *draft);
  if (unfit.empty()) unfit = (config.device ? *config.device : device).problems(*draft, plan);
  for (const std::string& problem : unfit) problems.push_back(drafting + problem);
  return problems;
}

const hardware::Device* drafting_device(const PoolConfig& pool) {
  return makes_drafts(pool) ? pool.speculation->draft.device.get() : nullptr;
}

std::unique_ptr<engine::EngineModel> with_drafts(std::unique_ptr<engine::EngineModel> steps, const Scenario& scenario,
                                                 const PoolConfig& pool, const hardware::Device& device) {
  if (!makes_drafts(pool)) return steps;
  const DraftConfig& config = pool.speculation->draft;
  if (config.share) return engine::with_draft_heads(std::move(steps), *config.share);
  const models::ModelSpec* draft = draft_of(scenario, pool);
  if (!draft) return steps;
  engine::ContextsOfDraft contexts = contexts_of(scenario, pool, *draft);
  if (!config.device) {
    engine::Settings settings = settings_of(pool);
    settings.device.adapter = {};
    settings.device.coverage.tokens_per_decode = 1;  // its own steps draft a token of each
    return engine::with_draft_model(std::move(steps), engine::bind(device, *draft, pool.plan(), settings),
                                    std::move(contexts));
  }
  return engine::with_draft_device(std::move(steps), engine::bind(*config.device, *draft, {}, settings_of_user(pool)),
                                   std::move(contexts), link_of(config), deadline_of(scenario, pool, device));
}

std::optional<models::MemoryNeed> draft_memory(const Scenario& scenario, const PoolConfig& pool,
                                               const hardware::Device& device) {
  if (!makes_drafts(pool)) return std::nullopt;
  // Heads that add a share to a step's time do so by weights that it reads besides. Whether they keep KV entries of
  // their own (a last layer does, Medusa's heads do not) nobody says.
  if (const double share = pool.speculation->draft.share.value_or(0); share > 0) {
    models::MemoryNeed heads;
    heads.weights = share * device.weights(scenario.model_of(pool), pool.plan());
    return heads;
  }
  const models::ModelSpec* draft = draft_beside_kv(scenario, pool);
  if (!draft) return std::nullopt;
  return device.memory_need(*draft, pool.plan(), 1, 1);
}

const models::ModelSpec* draft_beside_kv(const Scenario& scenario, const PoolConfig& pool) {
  if (!makes_drafts(pool) || pool.speculation->draft.device) return nullptr;
  return draft_of(scenario, pool);
}

Bytes draft_weights_beside_kv(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  if (device.weight_memory()) return Bytes();
  return draft_memory(scenario, pool, device).value_or(models::MemoryNeed()).weights;
}

std::int64_t tokens_with_drafts(Bytes left, const Scenario& scenario, const PoolConfig& pool,
                                const hardware::Device& device) {
  const models::MemoryNeed own = device.memory_need(scenario.model_of(pool), pool.plan(), 1, 1);
  const models::MemoryNeed draft = draft_memory(scenario, pool, device).value_or(models::MemoryNeed());
  if (const auto apart = device.weight_memory(); apart && own.weights + draft.weights > *apart) return 0;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(left / (own.kv_per_token + draft.kv_per_token)));
}

std::int64_t beside_draft(std::int64_t tokens, const Scenario& scenario, const PoolConfig& pool,
                          const hardware::Device& device) {
  if (!draft_memory(scenario, pool, device)) return tokens;
  const models::MemoryNeed own = device.memory_need(scenario.model_of(pool), pool.plan(), 1, 1);
  const Bytes all = static_cast<double>(tokens) * own.kv_per_token;
  return tokens_with_drafts(all - draft_weights_beside_kv(scenario, pool, device), scenario, pool, device);
}

}  // namespace llmscape::scenario
