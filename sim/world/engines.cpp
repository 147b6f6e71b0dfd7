// SPDX-License-Identifier: Apache-2.0
#include "sim/world/engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "hardware/gpu/gpu.hpp"
#include "hardware/profile/profile_device.hpp"
#include "sim/engine/another.hpp"
#include "sim/scenario/device_memory.hpp"
#include "sim/world/price_memory.hpp"

namespace llmscape::world {

class Engines::Process : public kernel::Process {
 public:
  explicit Process(serving::Replica& replica) : replica_(&replica) {}
  explicit Process(serving::RankGroup& ranks) : ranks_(&ranks) {}
  Seconds next_event() override { return ranks_ ? ranks_->next_event() : replica_->next_event(); }
  bool wake(Seconds now) override {
    if (ranks_) ranks_->wake(now);
    else replica_->wake(now);
    return true;
  }

 private:
  serving::Replica* replica_ = nullptr;
  serving::RankGroup* ranks_ = nullptr;  // of those that step together
};

class Engines::StepRecorder : public metrics::StepRecorder {
 public:
  StepRecorder(Seconds warmup, metrics::WindowTracker& window, Values& gap_values, metrics::PowerSeries& power,
               metrics::PowerSeries* drafting, int replica, Watcher* watcher)
      : metrics::StepRecorder(warmup, window, gap_values, power, drafting), replica_(replica), watcher_(watcher),
        hears_steps_(watcher && watcher->hears_steps()) {}
  void on_step(Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens, std::int64_t waiting,
               std::int64_t kv_blocks_used) override {
    if (hears_steps_) watcher_->on_step(replica_, start, end, decodes, prefill_tokens, waiting, kv_blocks_used);
  }
  [[nodiscard]] bool hears_steps() const override { return hears_steps_; }

 private:
  int replica_;
  Watcher* watcher_;
  bool hears_steps_;
};

namespace {

serving::Acceptance acceptance_of(const scenario::AcceptanceConfig& config,
                                  const std::vector<std::string>& slo_classes) {
  serving::Acceptance accepts;
  accepts.longer_than = config.longer_than.value_or(accepts.longer_than);
  accepts.up_to = config.up_to.value_or(accepts.up_to);
  for (const std::string& name : config.classes)
    accepts.slo_classes.push_back(static_cast<int>(std::ranges::find(slo_classes, name) - slo_classes.begin()));
  return accepts;
}

// How often a token's entries lie in a replica: ranks without KV heads of their own hold copies; of latents all do.
// Nothing where a device says what it holds, and cuts entries as it likes.
std::optional<double> kv_copies(const hardware::Device& device, const models::ModelSpec& model,
                                const models::ParallelPlan& plan) {
  const auto held = [](const models::ModelSpec& part, int ranks) {
    return ranks * models::kv_bytes_per_token(part, ranks);
  };
  const double alone = models::kv_bytes_per_token(model);
  const std::vector<hardware::KvPart> parts = device.kv_parts(model);
  if (parts.empty())
    return device.kv_tokens(model, plan) == 0 ? std::optional(held(model, plan.tensor) / alone) : std::nullopt;
  double all = 0;
  for (const hardware::KvPart& part : parts) {
    const int ranks = static_cast<int>(part.device->count);
    if (part.device->kv_tokens(part.model, {.tensor = ranks}) > 0) return std::nullopt;
    all += held(part.model, ranks);
  }
  return all / alone;
}

}  // namespace

Engines::Engines(const scenario::Scenario& scenario, const Options& options, serving::OutcomeListener& outcomes,
                 metrics::WindowTracker& window, kernel::Kernel& kernel)
    : scenario_(scenario), overrides_(scenario, options.prices), options_(options), outcomes_(outcomes),
      window_(window), kernel_(kernel), tiers_(scenario) {
  if (std::ranges::any_of(scenario.pools, [&](const scenario::PoolConfig& pool) {
        return pool.pipeline_parallel > 1 && pool.pipeline_batches == 1 &&
               std::ranges::any_of(pool.devices, [&](const std::string& group) {
                 return !scenario.config.hardware.devices[scenario.group_of(group)]->passes_tokens_on();
               });
      }))
    warnings_.push_back(
        "pipeline stages work on one batch at a time: latencies hold for a lightly loaded pipeline, throughput is a "
        "lower bound; serving.pipeline_batches lets several follow one another");
  warnings_.insert(warnings_.end(), scenario.warnings.begin(), scenario.warnings.end());
  for (const scenario::PoolConfig& pool : scenario.pools) add_pool(pool);
}

void Engines::add_pool(const scenario::PoolConfig& config) {
  serving::Pool& pool = pools_.emplace_back();
  work_ = std::make_shared<serving::StepWork>();
  pool.role = config.role;
  pool.router = config.router->make();
  pool.kv_per_token = Bytes(models::kv_bytes_per_token(scenario_.model_of(config)));
  if (pool.kv_per_token > Bytes()) {
    double most = 0;
    for (const std::string& name : config.devices) {
      const hardware::Device& device = *scenario_.config.hardware.devices[scenario_.group_of(name)];
      most = std::max(most, kv_copies(device, scenario_.model_of(config), config.plan()).value_or(1));
    }
    pool.kv_copies = most;
  }
  pool.model = scenario_.model_index(config);
  pool.accepts = acceptance_of(config.accepts, scenario_.slo_classes);
  for (const auto& controller : scenario_.config.serving.controllers)
    pool.off += controller->off_at_first(scenario_.fleet, pools_.size() - 1);
  for (const std::string& name : config.devices) {
    const std::size_t group = scenario_.group_of(name);
    if (const auto* profile = hardware::as_profile(*scenario_.config.hardware.devices[group]))
      pool.kv_of_prompt = [kv = profile->kv_bytes()](std::int64_t tokens) {
        return Bytes(kv.at(static_cast<double>(tokens)));
      };
    add_group(config, group);
  }
}

void Engines::add_group(const scenario::PoolConfig& config, std::size_t group) {
  const hardware::Device& device = *scenario_.config.hardware.devices[group];
  const scenario::ReplicaSize size = scenario::replica_size(scenario_, config, device);
  if (!size.warning.empty()) warnings_.push_back(size.warning);
  const std::int64_t devices = config.plan().devices();
  auto variant = device.with_kernels_of(config.engine.kernel_set());
  first_of_group_ = nullptr;
  const hardware::Device& priced = variant ? *variants_.emplace_back(std::move(variant)) : device;
  draw_factors(config, device, group);
  for (std::int64_t first = 0; first + devices <= device.count; first += devices) {
    if (config.stages_shared()) pipelines_.emplace_back(static_cast<std::size_t>(config.pipeline_parallel));
    for (std::int64_t stream = 0; stream < config.pipeline_batches; ++stream)
      add_replica(config, group, priced, size, first, stream);
  }
}

void Engines::draw_factors(const scenario::PoolConfig& config, const hardware::Device& device, std::size_t group) {
  factors_.reset();
  if (options_.time_ranks.empty()) return;
  factors_ = engine::factors_at(options_.time_ranks.at(group), device, scenario_.model_on(config, device),
                                config.plan(), scenario::settings_of(config).device);
  if (const hardware::Device* drafting = scenario::drafting_device(config))
    factors_->drafting = engine::drafting_at(options_.time_ranks.at(group), *drafting);
}

std::unique_ptr<engine::EngineModel> Engines::bind(const scenario::PoolConfig& config, const hardware::Device& device) {
  std::unique_ptr<engine::EngineModel> steps = first_of_group_ ? engine::another(*first_of_group_) : nullptr;
  const std::size_t pool = pools_.size() - 1, group = scenario_.group_of(device.name);
  const bool kept = options_.prices && !first_of_group_;
  if (kept) steps = options_.prices->find(scenario_, pool, group);
  if (!steps) {
    steps = engine::bind(device, scenario_.model_on(config, device), config.plan(), scenario::settings_of(config));
    if (kept) options_.prices->keep(scenario_, pool, group, *steps);
  }
  if (!first_of_group_) first_of_group_ = steps.get();
  return steps;
}

// `stream`: of those that share the stages of a pipeline.
void Engines::add_replica(const scenario::PoolConfig& config, std::size_t group, const hardware::Device& priced,
                          const scenario::ReplicaSize& size, std::int64_t first, std::int64_t stream) {
  const hardware::Device& device = *scenario_.config.hardware.devices[group];
  const models::ModelSpec& model = scenario_.model_on(config, device);
  const auto placed = scenario_.config.hardware.fabric.groups.find(device.name);
  const std::int64_t devices = config.plan().devices();
  const auto index = replicas_.size();
  const hardware::Device* drafting = scenario::drafting_device(config);
  StepRecorder& recorder = recorders_.emplace_back(
      scenario_.config.workload.warmup, window_, gap_values_, power_[device.name],
      drafting ? &power_[result::name_of_drafting(*drafting)] : nullptr, static_cast<int>(index), options_.watcher);
  serving::ReplicaConfig replica;
  replica.index = static_cast<int>(index);
  replica.kv_blocks = size.kv.all();
  replica.block_tokens = static_cast<int>(size.block_tokens);
  replica.pipeline_stages = static_cast<int>(config.pipeline_parallel);
  replica.pipeline = config.stages_shared() ? &pipelines_.back() : nullptr;
  replica.chunks_follow = config.pipeline_chunks;
  replica.max_model_len = size.max_model_len;
  replica.first_token = config.first_token;
  replica.stream = config.engine.stream();
  replica.windows = size.windows;
  replica.window_pools = size.window_pools;
  replica.lookahead = options_.lookahead;
  replica.rank_of_group = config.lock_step;
  replica.budget = models::PoolBudget(model);
  replica.sharing = models::sharing(model);
  replica.memory = scenario::memory_of(scenario_, config, device, size);
  replica.turns = turns_of(config, device, first);
  Exchange* exchange = exchange_of(config, priced, first);
  replica.exchange = exchange;
  if (!exchange && !config.lock_step && config.role != serving::Role::prefill && !scenario_.replicas_convert())
    replica.work = work_;
  const bool both = config.role != serving::Role::any && scenario_.replicas_convert();
  seats_.push_back({placed != scenario_.config.hardware.fabric.groups.end() ? &placed->second : nullptr, device.name,
                    first, devices, both || config.role == serving::Role::prefill,
                    both || config.role == serving::Role::decode});
  const serving::KvSite site{
      model, size.block_tokens, size.block_bytes, size.kv, config.batcher->prefix_caching(), config.tenants(), [&] {
        return tiers_.below(config, seats_.back(), size, pools_.back().kv_copies);
      }};
  for (const serving::KvPlace* place : config.places()) place->build(site, replica.below);
  const RandomStreams streams(static_cast<std::uint64_t>(scenario_.config.seed));
  replica.speculation = scenario::speculation_of(scenario_, config, device, size.max_model_len, streams);
  replica.adapters = scenario::adapters_of(scenario_, config, device, streams);
  auto steps = overrides_.watched(bind(config, device), config, group);
  steps = scenario::with_drafts(std::move(steps), scenario_, config, device);
  // Those that wait for others are of one stage.
  Watts waiting = priced.active_power();
  if (factors_) {
    waiting *= factors_->joules;
    if (priced.headroom() > Watts()) waiting = std::min(waiting, priced.headroom());
  }
  replica.waiting_power = static_cast<double>(config.plan().tensor) * waiting;
  if (factors_) steps = engine::with_factors(std::move(steps), *factors_, config.plan().devices());
  replicas_.emplace_back(replica, *config.batcher, std::move(steps), models::kv_laws(model), outcomes_, recorder);
  add_process(config, exchange);
  if (replica.turns)
    replica.turns->add(replicas_.back(), scenario::load_time(scenario_, config, device),
                       [this, index] { ring(index); });
  pools_.back().replicas.push_back(&replicas_.back());
  built_.push_back({&priced, drafting, pools_.size() - 1, replica.turns, stream == 0});
}

// Of a replica that begins at device `first`, or of the ranks that it steps with; nullptr: it sends no flows.
Exchange* Engines::exchange_of(const scenario::PoolConfig& config, const hardware::Device& priced, std::int64_t first) {
  if (!scenario_.config.hardware.collective_flows.value_or(false)) return nullptr;
  const std::int64_t rank =
      config.lock_step ? static_cast<std::int64_t>(pools_.back().replicas.size()) % config.data_parallel : 0;
  if (rank > 0) return last_exchange_;
  last_exchange_ = nullptr;
  const std::int64_t devices = config.plan().all_devices();
  if (devices == 1) return nullptr;  // and its group need not stand in any node
  const auto& placement = scenario_.config.hardware.fabric.groups.at(priced.name);
  const std::int64_t node = placement.node.devices;
  if (first / node == (first + devices - 1) / node) return nullptr;
  const std::size_t index = replicas_.size();
  const Seat all{&placement, priced.name, first, devices};
  last_exchange_ = &exchanges_.emplace_back(
      fmt::format("replica {}", index), all, static_cast<int>(index), config.plan().devices(),
      engine::NodeTraffic(priced, *hardware::links_of(priced), scenario_.model_on(config, priced), config.plan(),
                          scenario::settings_of(config)),
      kernel_.fabric(), [this, index] { ring(index); });
  return last_exchange_;
}

void Engines::connect(Cables& cables) {
  for (Exchange& exchange : exchanges_) exchange.connect(cables);
}

// One for the replica that was added last; ranks that step together share that of the first of them.
void Engines::add_process(const scenario::PoolConfig& config, Exchange* exchange) {
  if (!config.lock_step) {
    processes_.emplace_back(replicas_.back());
  } else {
    if (pools_.back().replicas.size() % static_cast<std::size_t>(config.data_parallel) == 0)
      processes_.emplace_back(rank_groups_.emplace_back(exchange));
    rank_groups_.back().add(replicas_.back());
  }
  process_of_.push_back(processes_.size() - 1);
}

serving::DeviceTurns* Engines::turns_of(const scenario::PoolConfig& config, const hardware::Device& device,
                                        std::int64_t first_device) {
  if (config.models.empty()) return nullptr;
  return &turns_
              .try_emplace({device.name, first_device}, config.take_turns.least_hold,
                           static_cast<std::size_t>(config.take_turns.resident))
              .first->second;
}

Engines::~Engines() = default;

void Engines::ring(std::size_t i) { kernel_.ring(processes_[process_of_[i]]); }

void Engines::start() {
  for (Process& process : processes_) kernel_.add(process);
}

void Engines::settle(Seconds now) {
  for (serving::Replica& replica : replicas_) replica.stop(now);
}

std::vector<serving::StepUse> Engines::used_until(Seconds now) {
  std::vector<serving::StepUse> used;
  for (serving::Replica& replica : replicas_) used.push_back(replica.used_until(now));
  return used;
}

void Engines::check_invariants(Seconds now) const {
  for (const auto& [place, turns] : turns_) {
    Seconds used;
    for (const serving::Replica* tenant : turns.tenants()) used += tenant->totals().busy;
    if (used > now * (1 + 1e-9))
      throw std::logic_error("INV-8: the models on '" + place.first +
                             "' used its devices for longer than the run lasted");
  }
}

void Engines::fill(Ended& parts) const {
  parts.tiers = &tiers_;
  parts.gap_values = &gap_values_;
  parts.power = &power_;
  parts.warnings.insert(parts.warnings.end(), warnings_.begin(), warnings_.end());
  const auto unread = overrides_.warnings();
  parts.warnings.insert(parts.warnings.end(), unread.begin(), unread.end());
  std::map<const serving::DeviceTurns*, std::vector<std::size_t>> tenants;
  for (std::size_t i = 0; i < replicas_.size(); ++i)
    if (built_[i].turns) tenants[built_[i].turns].push_back(i);
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    parts.replicas.push_back(&replicas_[i]);
    parts.devices.push_back(built_[i].device);
    parts.drafting.push_back(built_[i].drafting);
    parts.gaps.push_back(&recorders_[i].gaps);
    const serving::DeviceTurns* turns = built_[i].turns;
    const bool counted = built_[i].first_stream && (!turns || turns->tenants().front() == &replicas_[i]);
    parts.devices_of_replica.push_back(seats_[i].devices);
    parts.devices_counted.push_back(counted ? seats_[i].devices : 0);
    parts.pools.push_back(built_[i].pool);
    parts.turns.push_back(turns);
    parts.tenants.push_back(turns ? tenants[turns] : std::vector<std::size_t>());
  }
}

}  // namespace llmscape::world
