// SPDX-License-Identifier: Apache-2.0
#include "hardware/decode_steps.hpp"

#include <algorithm>
#include <numeric>

namespace llmscape::hardware {
namespace {

constexpr auto kAttention = static_cast<std::size_t>(OperatorFamily::decode_attention);

PartCost without_attention(PartCost part) {
  part.by_family[kAttention] = Seconds();
  return part;
}

}  // namespace

DecodeSteps::DecodeSteps(const PartCost& part, const Rates& rates, const PowerModel& power, int devices)
    : attention_(part.kernels(kAttention)), rates_(rates), power_(power), devices_(devices) {
  const StepPhases others = phases_of(without_attention(part), rates, power, devices);
  others_ = cost_of(others);
  others_joules_ = std::accumulate(others_.energy.begin(), others_.energy.end(), Joules());
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!others.has(f)) continue;
    const Phase& phase = others.at(f);
    families_[count_++] = {f, phase.time, others_.energy_by_family[f], phase.bound};
    for (std::size_t i = 0; i < kEnergyComponents; ++i) without_.energy[i] += phase.energy[i];
    for (std::size_t i = 0; i < kResources; ++i) without_.busy[i] += phase.busy[i];
    arithmetic_ += phase.busy[static_cast<std::size_t>(Resource::arithmetic)];
    memory_ += phase.busy[static_cast<std::size_t>(Resource::memory)];
    const Amounts all = amounts(phase);
    if (f < kAttention) {
      time_before_ += phase.time;
      for (std::size_t i = 0; i < all.size(); ++i) before_[i] += all[i];
    } else {
      time_after_[behind_] = phase.time;
      after_[behind_++] = all;
    }
  }
}

DecodeSteps::Amounts DecodeSteps::amounts(const Phase& phase) {
  const auto joules = [&](EnergyComponent of) { return phase.energy[static_cast<std::size_t>(of)].si(); };
  const auto busy = [&](Resource of) { return phase.busy[static_cast<std::size_t>(of)].si(); };
  return {joules(EnergyComponent::active), joules(EnergyComponent::compute), joules(EnergyComponent::memory),
          busy(Resource::arithmetic),      busy(Resource::memory),           phase.bytes.si()};
}

DecodeSteps::Sums DecodeSteps::sums(const OwnAttention& own) const {
  Sums sums = without_;
  sums.device = device(own);
  Amounts sum = before_;
  if (own.cost.time > Seconds()) {
    const Phase attention = phase_of(OperatorFamily::decode_attention, {own.cost}, rates_, power_, devices_);
    sums.bound = attention.bound;
    const Amounts all = amounts(attention);
    sums.attention = Joules(all[0] + all[1] + all[2]);
#pragma GCC unroll 6
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += all[i];
  }
  for (std::size_t behind = 0; behind < behind_; ++behind)
#pragma GCC unroll 6
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += after_[behind][i];
  sums.energy[static_cast<std::size_t>(EnergyComponent::active)] = Joules(sum[0]);
  sums.energy[static_cast<std::size_t>(EnergyComponent::compute)] = Joules(sum[1]);
  sums.energy[static_cast<std::size_t>(EnergyComponent::memory)] = Joules(sum[2]);
  sums.busy[static_cast<std::size_t>(Resource::arithmetic)] = Seconds(sum[3]);
  sums.busy[static_cast<std::size_t>(Resource::memory)] = Seconds(sum[4]);
  sums.bytes = Bytes(sum[5]);
#pragma GCC unroll 5
  for (std::size_t i = 0; i < kResources; ++i) sums.busy[i] = std::min(sums.busy[i], sums.device);
  return sums;
}

StepCost DecodeSteps::cost(const OwnAttention& own) const {
  const Sums of = sums(own);
  StepCost cost = others_;
  cost.device = of.device;
  cost.by_family[kAttention] = own.cost.time;
  cost.bound[kAttention] = of.bound;
  cost.energy = of.energy;
  cost.energy_by_family[kAttention] = of.attention;
  cost.busy = of.busy;
  cost.flops = own.flops;
  cost.bytes = of.bytes;
  return cost;
}

}  // namespace llmscape::hardware
