// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/time_factors.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace llmscape::engine {
namespace {

constexpr auto kHost = static_cast<std::size_t>(hardware::OperatorFamily::host);

class ScaledModel final : public EngineModel {
 public:
  ScaledModel(std::unique_ptr<EngineModel> model, const TimeFactors& factors, int devices)
      : model_(std::move(model)), factors_(factors), headroom_(static_cast<double>(devices) * factors.headroom) {}

  EngineCost step(const models::Batch& batch) override {
    EngineCost cost = model_->step(batch);
    const auto regime = static_cast<std::size_t>(hardware::regime_of(batch.tokens()));
    const Seconds beyond = cost.extrapolated * (factors_.extrapolated - 1);
    const auto before = cost.by_family;
    const Watts drawn = joules_of(cost) / cost.device;
    cost.host *= factors_.by_family[kHost][regime];
    cost.launch *= factors_.by_family[kHost][regime];
    Seconds device = beyond;
    for (std::size_t family = 0; family < cost.by_family.size(); ++family) {
      cost.by_family[family] *= factors_.by_family[family][regime];
      if (family != kHost) device += cost.by_family[family];
    }
    // What lies beyond the range is spread over the families like their own times.
    for (std::size_t family = 0; family < kHost; ++family)
      if (device > beyond) cost.by_family[family] *= device / (device - beyond);
    lengthen_active(cost, before);
    cost.device = device;
    cost.extrapolated += beyond;
    lengthen(cost, *std::ranges::max_element(cost.busy));
    keep_below_limit(cost, drawn);
    scale_joules(cost);
    cost.drafting *= factors_.drafting;
    cost.settle_host();
    return cost;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  static Joules joules_of(const EngineCost& cost) {
    return std::accumulate(cost.energy.begin(), cost.energy.end(), Joules());
  }

  // What devices draw because they run a kernel they draw for as long as it runs; other joules are of its work.
  static void lengthen_active(EngineCost& cost, const std::array<Seconds, hardware::kOperatorFamilies>& before) {
    if (cost.device <= Seconds()) return;
    Joules& active = cost.energy[static_cast<std::size_t>(hardware::EnergyComponent::active)];
    const Watts drawn = active / cost.device;
    for (std::size_t family = 0; family < kHost; ++family) {
      const Joules more = drawn * (cost.by_family[family] - before[family]);
      cost.energy_by_family[family] += more;
      active += more;
    }
  }

  // No kernel is faster than a part of the device works at its peak: the step lasts `least` at least, all families
  // alike.
  static void lengthen(EngineCost& cost, Seconds least) {
    if (least <= cost.device || cost.device <= Seconds()) return;
    const double longer = least / cost.device;
    const auto before = cost.by_family;
    for (std::size_t family = 0; family < kHost; ++family) cost.by_family[family] *= longer;
    lengthen_active(cost, before);
    cost.extrapolated *= longer;
    cost.device = least;
  }

  // A draw lies over a price that the limit has slowed already: where it is faster at the same joules, the limit slows
  // it again. That its lower clock would save joules is left out, as it is where the lowest clock pauses. A price that
  // `drew` more than the limit itself (measured steps that were faster than their joules allow) is the limit.
  void keep_below_limit(EngineCost& cost, Watts drew) const {
    if (headroom_ <= Watts() || cost.device <= Seconds()) return;
    const Seconds least = joules_of(cost) / std::max(headroom_, drew);
    if (least <= cost.device) return;
    const double longer = least / cost.device;
    for (std::size_t family = 0; family < kHost; ++family) cost.by_family[family] *= longer;
    cost.extrapolated *= longer;
    cost.device = least;
  }

  // Times were measured under the limit, whatever the joules are: these are no more than it leaves in that time.
  void scale_joules(EngineCost& cost) const {
    const Joules drawn = joules_of(cost);
    double factor = factors_.joules;
    if (headroom_ > Watts() && drawn > Joules())
      factor = std::min(factor, std::max(1.0, headroom_ * cost.device / drawn));
    for (Joules& joules : cost.energy) joules *= factor;
    for (Joules& joules : cost.energy_by_family) joules *= factor;
  }

  std::unique_ptr<EngineModel> model_;
  TimeFactors factors_;
  Watts headroom_;  // of all devices
};

}  // namespace

namespace {

double factor_of_joules(const hardware::Device& device, double rank) {
  return hardware::factor_at(hardware::spread_of(device.energy_tags().dynamic).front(), rank);
}

}  // namespace

static_assert(kHost + 1 == hardware::kOperatorFamilies);

TimeFactors::TimeFactors() {
  for (auto& regimes : by_family) regimes.fill(1);
}

TimeRanks draw_ranks(RandomStream stream) {
  TimeRanks ranks{};
  for (auto& regimes : ranks.by_family)
    for (double& rank : regimes) rank = stream.uniform();
  ranks.extrapolated = stream.uniform();
  ranks.joules = stream.uniform();
  ranks.drafting = stream.uniform();
  return ranks;
}

TimeFactors factors_at(const TimeRanks& ranks, const hardware::Device& device, const models::ModelSpec& model,
                       const models::ParallelPlan& plan, const hardware::Device::Settings& settings) {
  TimeFactors factors;
  const hardware::Spreads spreads = device.spreads(model, plan, settings);
  for (std::size_t family = 0; family < spreads.size(); ++family)
    for (std::size_t regime = 0; regime < hardware::kRegimes; ++regime)
      factors.by_family[family][regime] = hardware::factor_at(spreads[family][regime], ranks.by_family[family][regime]);
  factors.headroom = device.headroom();
  factors.joules = factor_of_joules(device, ranks.joules);
  factors.extrapolated = hardware::factor_at(hardware::spread_of(Tag::assumed).front(), ranks.extrapolated);
  return factors;
}

double drafting_at(const TimeRanks& ranks, const hardware::Device& device) {
  return factor_of_joules(device, ranks.drafting);
}

std::unique_ptr<EngineModel> with_factors(std::unique_ptr<EngineModel> model, const TimeFactors& factors, int devices) {
  return std::make_unique<ScaledModel>(std::move(model), factors, devices);
}

}  // namespace llmscape::engine
