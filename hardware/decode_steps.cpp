// SPDX-License-Identifier: Apache-2.0
#include "hardware/decode_steps.hpp"

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
    : attention_(part.family(kAttention)), rates_(rates), power_(power), devices_(devices) {
  const StepPhases others = phases_of(without_attention(part), rates, power, devices);
  others_ = cost_of(others);
  others_joules_ = std::accumulate(others_.energy.begin(), others_.energy.end(), Joules());
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!others.has(f)) continue;
    const Amounts all = amounts(others.at(f));
    if (f < kAttention) {
      time_before_ += others.at(f).time;
      for (std::size_t i = 0; i < all.size(); ++i) before_[i] += all[i];
    } else {
      time_after_[behind_] = others.at(f).time;
      after_[behind_++] = all;
    }
  }
}

DecodeSteps::Amounts DecodeSteps::amounts(const Phase& phase) {
  Amounts all{};
  for (std::size_t i = 0; i < kEnergyComponents; ++i) all[i] = phase.energy[i].si();
  for (std::size_t i = 0; i < kResources; ++i) all[kEnergyComponents + i] = phase.busy[i].si();
  all[kEnergyComponents + kResources] = phase.bytes.si();
  return all;
}

DecodeSteps::Sums DecodeSteps::sums(const OwnAttention& own) const {
  Amounts sum = before_;
  Joules joules;
  Bound bound = Bound::overhead;
  if (own.cost.time > Seconds()) {
    const Phase attention = phase_of(OperatorFamily::decode_attention, own.cost, rates_, power_, devices_);
#pragma GCC unroll 7
    for (std::size_t i = 0; i < kEnergyComponents; ++i) joules += attention.energy[i];
    bound = attention.bound;
    const Amounts all = amounts(attention);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += all[i];
  }
  for (std::size_t behind = 0; behind < behind_; ++behind)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += after_[behind][i];
  Sums sums{device(own), Bytes(sum[kEnergyComponents + kResources]), {}, {}, joules, bound};
#pragma GCC unroll 7
  for (std::size_t i = 0; i < kEnergyComponents; ++i) sums.energy[i] = Joules(sum[i]);
#pragma GCC unroll 5
  for (std::size_t i = 0; i < kResources; ++i)
    sums.busy[i] = std::min(Seconds(sum[kEnergyComponents + i]), sums.device);
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
