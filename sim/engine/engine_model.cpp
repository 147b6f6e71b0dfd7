// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine_model.hpp"

#include <algorithm>

namespace llmscape::engine {
namespace {

class DrivenDevice final : public EngineModel {
 public:
  DrivenDevice(const hardware::Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Settings& settings)
      : graphs_(settings.graphs), engine_host_(settings.host), device_(device.bind(model, plan, settings.device)) {
    for (const hardware::HostDriven& driven : device.hosts(model, plan)) {
      hosts_.push_back({driven.host, launches_of(driven.model, driven.plan)});
      captured_ = captured_ || driven.graphs;
    }
  }

  EngineCost step(const models::Batch& batch) override {
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
      cost.sync = std::max(cost.sync, sync_time(host.parameters, batch) + engine_host_.time(batch));
    }
    cost.settle_host();
    return cost;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return device_->range_warnings(); }

 private:
  struct Host {
    hardware::HostParameters parameters;
    Launches launches;
  };

  Graphs graphs_;
  EngineHost engine_host_;
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
