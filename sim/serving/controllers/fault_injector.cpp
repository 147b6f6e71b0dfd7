// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/fault_injector.hpp"

#include <utility>

namespace llmscape::serving {

FaultInjector::FaultInjector(std::vector<Fault> faults, std::vector<FailingDevice> devices, const FleetPlan& plan)
    : faults_(std::move(faults)), devices_(std::move(devices)), plan_(plan) {
  for (std::size_t i = 0; i < faults_.size(); ++i) changes_.push({faults_[i].at, false, i});
  for (std::size_t i = 0; i < devices_.size(); ++i)
    changes_.push({Seconds(devices_[i].stream.exponential(devices_[i].mtbf.si())), false, faults_.size() + i});
}

void FaultInjector::act(Fleet& fleet, Seconds now) {
  const Change change = changes_.top();
  changes_.pop();
  const bool scheduled = change.fault < faults_.size();
  FailingDevice* device = scheduled ? nullptr : &devices_[change.fault - faults_.size()];
  const std::vector<std::size_t>& replicas = scheduled ? faults_[change.fault].replicas : device->replicas;
  const Seconds lasts = scheduled ? faults_[change.fault].lasts : Seconds();
  for (const std::size_t replica : replicas) {
    if (change.repairs) fleet.repair(replica, *plan_.replicas[replica].cold_start, now);
    else fleet.lose(replica, lasts == kNever, now);
  }
  if (device) {
    const Seconds mean = change.repairs ? device->mtbf : device->mttr;
    changes_.push({now + Seconds(device->stream.exponential(mean.si())), !change.repairs, change.fault});
  } else if (!change.repairs && lasts < kNever) {
    changes_.push({now + lasts, true, change.fault});
  }
}

}  // namespace llmscape::serving
