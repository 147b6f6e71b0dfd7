// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine_model.hpp"

#include <algorithm>
#include <utility>

#include "hardware/shared_prices.hpp"
#include "sim/engine/another.hpp"

namespace llmscape::engine {
namespace {

class alignas(64) DrivenDevice final : public EngineModel {
 public:
  DrivenDevice(const hardware::Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Settings& settings)
      : device_(device.bind(model, plan, settings.device)),
        decodes_(dynamic_cast<hardware::DecodePrices*>(device_.get())), graphs_(settings.graphs),
        engine_host_(settings.host) {
    const models::Execution& execution = settings.device.execution;
    if (execution.kv_cache == models::KvCacheForm::slots)
      for (const std::int64_t reach : models::kv_laws(model))
        slots_.push_back(reach > 0 ? std::min(reach, execution.slot_tokens) : execution.slot_tokens);
    filled_.resize(slots_.size());
    for (const hardware::HostDriven& driven : device.hosts(model, plan)) {
      hosts_.push_back({driven.host, launches_of(driven.model, driven.plan, execution)});
      captured_ = captured_ || driven.graphs;
    }
  }

  DrivenDevice(const DrivenDevice& like, std::unique_ptr<hardware::StepModel> device)
      : device_(std::move(device)), decodes_(dynamic_cast<hardware::DecodePrices*>(device_.get())),
        of_decodes_(like.of_decodes_), captured_(like.captured_), slots_(like.slots_), filled_(like.filled_),
        graphs_(like.graphs_), engine_host_(like.engine_host_), hosts_(like.hosts_) {}
  [[nodiscard]] std::unique_ptr<EngineModel> another() const {
    const auto* shared = dynamic_cast<const hardware::SharedPrices*>(device_.get());
    return shared ? std::make_unique<DrivenDevice>(*this, shared->another()) : nullptr;
  }

  EngineCost step(const models::Batch& planned) override {
    return slots_.empty() || planned.decodes == 0 ? priced(planned) : priced(with_whole_slots(planned));
  }

  bool decode_run(const models::Batch& batch, DecodeRun& run) override {
    if (!decodes_ || !slots_.empty()) return false;
    const OfDecodes& known = of_decodes(batch);
    models::Batch padded = batch;
    if (captured_) padded.padding = known.padding;
    const auto* steps = decodes_->decode_steps(padded);
    if (!steps) return false;
    if (run.steps != *steps) run.steps = *steps;
    run.host = known.times.host;
    run.launch = known.times.launch;
    run.sync = known.times.sync;
    run.decodes = batch.decodes;
    run.adapters = batch.adapters;
    return true;
  }
  bool attend(const DecodeRun& run, const models::Batch& batch, hardware::OwnAttention& own) override {
    return decodes_->attend(*run.steps, batch, own);
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return device_->range_warnings(); }

 private:
  EngineCost priced(const models::Batch& batch) {
    EngineCost cost;
    if (batch.chunks.empty()) {
      const OfDecodes& known = of_decodes(batch);
      cost.host = known.times.host;
      cost.launch = known.times.launch;
      cost.sync = known.times.sync;
      if (captured_ && batch.padding != known.padding) {
        models::Batch padded = batch;
        padded.padding = known.padding;
        static_cast<hardware::StepCost&>(cost) = device_->step(padded);
      } else {
        static_cast<hardware::StepCost&>(cost) = device_->step(batch);
      }
    } else {
      const HostTimes times = times_of(batch);
      cost.host = times.host;
      cost.launch = times.launch;
      cost.sync = times.sync;
      static_cast<hardware::StepCost&>(cost) = device_->step(batch);
    }
    cost.settle_host();
    return cost;
  }

  struct Host {
    hardware::HostParameters parameters;
    Launches launches;
  };

  // Attention reads the slots of all decodes to their ends.
  models::Batch with_whole_slots(models::Batch batch) {
    for (std::size_t law = 0; law < slots_.size(); ++law) filled_[law] = {batch.decodes * slots_[law], slots_[law]};
    batch.attended = filled_;
    return batch;
  }

  // Of the slowest.
  struct HostTimes {
    Seconds host, launch, sync;
  };
  [[nodiscard]] HostTimes times_of(const models::Batch& batch) const {
    HostTimes times;
    for (const Host& host : hosts_) {
      times.host = std::max(times.host, host_time(host.parameters, batch));
      times.launch = std::max(times.launch, launch_time(host.parameters, graphs_, batch, host.launches));
      times.sync = std::max(times.sync, sync_time(host.parameters, batch) + engine_host_.time(batch));
    }
    return times;
  }

  // Of a step of decodes alone, which follows from their numbers.
  struct OfDecodes {
    std::int64_t tokens = -1;  // that they compute; -1: nothing is kept yet
    std::int64_t padding = 0;
    HostTimes times;
  };
  const OfDecodes& of_decodes(const models::Batch& batch) {
    const auto decodes = static_cast<std::size_t>(batch.decodes);
    if (decodes >= of_decodes_->size()) of_decodes_->resize(decodes + 1);
    OfDecodes& known = (*of_decodes_)[decodes];
    if (const std::int64_t tokens = batch.decode_tokens(); known.tokens != tokens)
      known = {tokens, padded_tokens(tokens, graphs_) - tokens, times_of(batch)};
    return known;
  }

  // First what is read of every run of decodes, in one line of a cache.
  std::unique_ptr<hardware::StepModel> device_;
  hardware::DecodePrices* decodes_;  // of it, if it has them
  // By their number; one table for all replicas that have their prices in common.
  std::shared_ptr<std::vector<OfDecodes>> of_decodes_ = std::make_shared<std::vector<OfDecodes>>();
  bool captured_ = false;
  std::vector<std::int64_t> slots_;  // entries that a decode reads, by KV law; none: those of its context
  std::vector<models::Attended> filled_;
  Graphs graphs_;
  EngineHost engine_host_;
  std::vector<Host> hosts_;
};

}  // namespace

std::unique_ptr<EngineModel> bind(const hardware::Device& device, const models::ModelSpec& model,
                                  const models::ParallelPlan& plan, const Settings& settings) {
  return std::make_unique<DrivenDevice>(device, model, plan, settings);
}

std::unique_ptr<EngineModel> another(const EngineModel& like) {
  const auto* driven = dynamic_cast<const DrivenDevice*>(&like);
  return driven ? driven->another() : nullptr;
}

}  // namespace llmscape::engine
