// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine_model.hpp"

#include <algorithm>

namespace llmscape::engine {
namespace {

class DrivenDevice final : public EngineModel {
 public:
  DrivenDevice(const hardware::Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Settings& settings)
      : graphs_(settings.graphs), device_(device.bind(model, plan, settings.device)) {
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

  EngineCost step(const models::Batch& planned) override {
    return slots_.empty() || planned.decodes == 0 ? priced(planned) : priced(with_whole_slots(planned));
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return device_->range_warnings(); }

 private:
  EngineCost priced(const models::Batch& batch) {
    EngineCost cost;
    if (captured_ && batch.chunks.empty()) {
      models::Batch padded = batch;
      const std::int64_t tokens = batch.decode_tokens();
      padded.padding = padded_tokens(tokens, graphs_) - tokens;
      static_cast<hardware::StepCost&>(cost) = device_->step(padded);
    } else {
      static_cast<hardware::StepCost&>(cost) = device_->step(batch);
    }
    for (const Host& host : hosts_) {
      cost.host = std::max(cost.host, host_time(host.parameters, batch));
      cost.launch = std::max(cost.launch, launch_time(host.parameters, graphs_, batch, host.launches));
      cost.sync = std::max(cost.sync, sync_time(host.parameters, batch));
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

  Graphs graphs_;
  std::vector<std::int64_t> slots_;  // entries that a decode reads, by KV law; none: those of its context
  std::vector<models::Attended> filled_;
  std::unique_ptr<hardware::StepModel> device_;
  std::vector<Host> hosts_;
  bool captured_ = false;
};

}  // namespace

std::unique_ptr<EngineModel> bind(const hardware::Device& device, const models::ModelSpec& model,
                                  const models::ParallelPlan& plan, const Settings& settings) {
  return std::make_unique<DrivenDevice>(device, model, plan, settings);
}

}  // namespace llmscape::engine
