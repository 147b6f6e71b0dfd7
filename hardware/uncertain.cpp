// SPDX-License-Identifier: Apache-2.0
#include "hardware/uncertain.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr auto kHost = static_cast<std::size_t>(OperatorFamily::host);

class UncertainStepModel final : public StepModel {
 public:
  UncertainStepModel(std::unique_ptr<StepModel> model, const TimeFactors& factors)
      : model_(std::move(model)), factors_(factors) {}

  StepCost step(const models::Batch& batch) override {
    StepCost cost = model_->step(batch);
    const auto regime = static_cast<std::size_t>(regime_of(batch.tokens()));
    const Seconds beyond = cost.extrapolated * (factors_.extrapolated - 1);
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
    cost.device = device;
    cost.by_family[kHost] = cost.host + (cost.stage() - cost.device);
    for (Seconds& busy : cost.busy) busy = std::min(busy, device);  // a draw may be below the time at the peak
    cost.extrapolated += beyond;
    return cost;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  std::unique_ptr<StepModel> model_;
  TimeFactors factors_;
};

}  // namespace

static_assert(kHost + 1 == kOperatorFamilies);

TimeFactors::TimeFactors() {
  for (auto& regimes : by_family) regimes.fill(1);
}

TimeFactors draw_factors(const Device& device, RandomStream stream) {
  TimeFactors factors;
  const auto spreads = device.spreads();
  for (std::size_t family = 0; family < spreads.size(); ++family)
    for (std::size_t regime = 0; regime < kRegimes; ++regime)
      factors.by_family[family][regime] = factor_at(spreads[family][regime], stream.uniform());
  factors.extrapolated = factor_at(spread_of(Tag::assumed).front(), stream.uniform());
  return factors;
}

std::unique_ptr<StepModel> with_factors(std::unique_ptr<StepModel> model, const TimeFactors& factors) {
  return std::make_unique<UncertainStepModel>(std::move(model), factors);
}

}  // namespace llmscape::hardware
