// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "hardware/part_cost.hpp"
#include "models/batch.hpp"

namespace llmscape::hardware {

// What tells a step of decodes from others of as many: its attention.
struct OwnAttention {
  KernelSum cost;  // of all layers, recurrent states included
  Flops flops;     // of the step, of one device
};

// Steps of decodes alone that differ in nothing but what they attend to. What they have in common is summed once; each
// is then its OwnAttention, and costs to the last bit what cost_of() its phases says.
class DecodeSteps {
 public:
  // `part`: all but the attention of their decodes.
  DecodeSteps(const PartCost& part, const Rates& rates, const PowerModel& power, int devices);

  // What every step's attention begins with.
  [[nodiscard]] OwnAttention common() const { return {attention_, others_.flops}; }
  [[nodiscard]] Seconds device(const OwnAttention& own) const {
    Seconds sum = time_before_ + own.cost.time;
    for (std::size_t i = 0; i < behind_; ++i) sum += time_after_[i];
    return sum;
  }
  // Of the step's dynamic energy, no less than it takes.
  [[nodiscard]] Joules at_most(const OwnAttention& own) const {
    return others_joules_ + devices_ * (power_.active * own.cost.time + own.cost.work + own.cost.bytes * power_.memory);
  }
  [[nodiscard]] StepCost cost(const OwnAttention& own) const;

  // What the attention of one of many adds to all that they have in common.
  struct Own {
    Seconds device;                // the step
    Seconds arithmetic, memory;    // of it, so long these work at their peak: at most `device` each
    std::array<Joules, 3> joules;  // of attention: active, of arithmetic, of memory
    Bound bound;                   // of attention
  };
  [[nodiscard]] Own of_one(const OwnAttention& own) const {
    const Phase attention = phase_of(OperatorFamily::decode_attention, {own.cost}, rates_, power_, devices_);
    const auto busy = [&](Resource of) { return attention.busy[static_cast<std::size_t>(of)]; };
    const auto joules = [&](EnergyComponent of) { return attention.energy[static_cast<std::size_t>(of)]; };
    const Seconds step = device(own);
    return {step,
            std::min(arithmetic_ + busy(Resource::arithmetic), step),
            std::min(memory_ + busy(Resource::memory), step),
            {joules(EnergyComponent::active), joules(EnergyComponent::compute), joules(EnergyComponent::memory)},
            attention.bound};
  }
  // What attention has no part in: its own entries are 0.
  [[nodiscard]] const StepCost& others() const { return others_; }
  // All of its joules.
  [[nodiscard]] Joules others_joules() const { return others_joules_; }
  // The other families, one by one, as others() has them.
  struct Family {
    std::size_t index = 0;
    Seconds time;
    Joules energy;
    Bound bound = Bound::overhead;
  };
  [[nodiscard]] std::span<const Family> families() const { return {families_.data(), count_}; }

 private:
  // The parts of cost() which attention has a part in.
  struct Sums {
    Seconds device;
    Bytes bytes;
    Joules attention;  // of the energy
    std::array<Joules, kEnergyComponents> energy;
    std::array<Seconds, kResources> busy;  // at most `device` each
    Bound bound;                           // of attention
  };
  [[nodiscard]] Sums sums(const OwnAttention& own) const;

  // The amounts that attention has a part in, to be summed side by side: joules that are active, of arithmetic and of
  // memory, seconds of arithmetic and of memory, bytes.
  using Amounts = std::array<double, 6>;
  [[nodiscard]] static Amounts amounts(const Phase& phase);

  // First what is read of every step: in a fleet little else of this is in the caches.
  KernelSum attention_;
  Rates rates_;
  Seconds arithmetic_, memory_;  // so long these work at their peak for the other families
  PowerModel power_;
  int devices_;
  Joules others_joules_;
  std::size_t behind_ = 0;                               // families behind attention
  Seconds time_before_;                                  // of those before it
  std::array<Seconds, kOperatorFamilies> time_after_{};  // of each behind it
  Amounts before_{};
  std::array<Amounts, kOperatorFamilies> after_{};
  Sums without_{};  // those amounts of the other families in which attention has no part
  std::array<Family, kOperatorFamilies> families_{};
  std::size_t count_ = 0;  // of them
  StepCost others_;
};

// A step model that prices such steps by their attention alone.
class DecodePrices {
 public:
  virtual ~DecodePrices() = default;
  // Those of which `batch`, of decodes alone, is one, until the next call; nullptr where a step has to be priced by
  // itself.
  virtual const std::shared_ptr<const DecodeSteps>* decode_steps(const models::Batch& batch) = 0;
  // One of them. False where it has to be priced by itself: it leaves a range that is watched.
  virtual bool attend(const DecodeSteps& steps, const models::Batch& batch, OwnAttention& own) = 0;
};

}  // namespace llmscape::hardware
