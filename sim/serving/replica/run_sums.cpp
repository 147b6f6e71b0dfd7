// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/run_sums.hpp"

namespace llmscape::serving {
namespace {

constexpr auto kAttention = static_cast<std::size_t>(hardware::OperatorFamily::decode_attention);
constexpr auto kHost = static_cast<std::size_t>(hardware::OperatorFamily::host);
constexpr auto kOverhead = static_cast<std::size_t>(hardware::Bound::overhead);
constexpr auto kArithmetic = static_cast<std::size_t>(hardware::Resource::arithmetic);
constexpr auto kMemory = static_cast<std::size_t>(hardware::Resource::memory);
// In the order of DecodeSteps::Own::joules.
constexpr std::array kOfAttention = {hardware::EnergyComponent::active, hardware::EnergyComponent::compute,
                                     hardware::EnergyComponent::memory};

static_assert(static_cast<int>(hardware::Bound::memory) == 3);

}  // namespace

void RunSums::begin(const engine::DecodeRun& run, double stages, ReplicaTotals& totals) {
  const auto decodes = static_cast<std::size_t>(run.decodes);
  if (decodes >= alike_.size()) alike_.resize(decodes + 1);
  Alike& alike = alike_[decodes];
  alike.add_to(totals, stages);
  alike = {};
  alike.steps_ = run.steps;
  alike.adapters_ = run.adapters;
}

void RunSums::add_to(ReplicaTotals& totals, double stages) const {
  for (const Alike& alike : alike_) alike.add_to(totals, stages);
}

void RunSums::Alike::add_to(ReplicaTotals& totals, double stages) const {
  if (times_ == 0) return;
  const auto times = static_cast<double>(times_);
  const hardware::StepCost& others = steps_->others();
  for (const hardware::DecodeSteps::Family& other : steps_->families()) {
    totals.time[static_cast<std::size_t>(other.bound)][other.index] += times * (other.time * stages);
    totals.energy_by_family[other.index] += times * other.energy;
  }
  for (std::size_t bound = 0; bound < time_.size(); ++bound) totals.time[bound][kAttention] += time_[bound] * stages;
  totals.time[kOverhead][kHost] += host_;
  totals.extrapolated += times * (others.extrapolated * stages);
  for (std::size_t i = 0; i < others.energy.size(); ++i) totals.energy[i] += times * others.energy[i];
  for (std::size_t i = 0; i < joules_.size(); ++i) {
    totals.energy[static_cast<std::size_t>(kOfAttention[i])] += joules_[i];
    totals.energy_by_family[kAttention] += joules_[i];
  }
  for (std::size_t i = 0; i < others.busy.size(); ++i)
    if (i != kArithmetic && i != kMemory) totals.busy_by_resource[i] += times * others.busy[i];
  totals.busy_by_resource[kArithmetic] += arithmetic_;
  totals.busy_by_resource[kMemory] += memory_;
  totals.flops += flops_;
  totals.bytes += times * others.bytes + bytes_;
  totals.expert_bytes += times * others.expert_bytes;
}

}  // namespace llmscape::serving
