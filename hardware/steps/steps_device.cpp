// SPDX-License-Identifier: Apache-2.0
#include "hardware/steps/steps_device.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "hardware/profile/profile_device.hpp"
#include "hardware/split/part.hpp"
#include "hardware/steps/step_correction.hpp"
#include "models/step_work.hpp"
#include "models/token_plan.hpp"

namespace llmscape::hardware {
namespace {

class StepsModel final : public StepModel {
 public:
  // `measured` prices the steps as the device did that they were measured on.
  StepsModel(const StepsDevice& device, const models::ModelSpec& model, StepModel& measured,
             std::unique_ptr<StepModel> priced, Watts headroom)
      : priced_(std::move(priced)), correction_(correction(device, models::kv_laws(model), measured)),
        headroom_(headroom) {}

  StepPhases phases(const models::Batch& batch) override {
    StepPhases step = priced_->phases(batch);
    if (batch.tokens() == 0) return step;
    const StepCorrection::Factor factor = correction_.at(position_of(composition_of(batch)));
    if (factor.trust == 0) return step;
    for (std::size_t family = 0; family < kOperatorFamilies; ++family)
      if (step.has(family)) step.of(family).time *= factor.value;
    // Steps with drafts or adapters take the factor of those without, which were measured: better than none, but they
    // are not among the steps that were.
    const double trust = says_all(batch) ? factor.trust : 0;
    step.extrapolated *= factor.value * (1 - trust);
    step.tabled = trust;
    keep_below_limit(step);
    return step;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return priced_->range_warnings(); }

 private:
  static StepCorrection correction(const StepsDevice& device, const std::vector<std::int64_t>& laws,
                                   StepModel& priced) {
    std::vector<CorrectedStep> steps;
    for (const MeasuredStep& step : device.steps) {
      const Seconds price = priced.step(ComposedBatch(step, laws).batch()).device;
      steps.push_back({position_of(step), std::log(step.time / price), step_weight(step.count)});
    }
    return {std::move(steps), device.smoothing, device.reach};
  }

  // Measured times are what they are, also where the joules priced for them would exceed the limit.
  void keep_below_limit(StepPhases& step) const {
    const Joules all = step.energy(), most = headroom_ * step.time();
    if (headroom_ <= Watts() || all <= most) return;
    for (std::size_t family = 0; family < kOperatorFamilies; ++family)
      if (step.has(family))
        for (Joules& joules : step.of(family).energy) joules *= most / all;
  }

  std::unique_ptr<StepModel> priced_;
  StepCorrection correction_;
  Watts headroom_;  // of all devices; 0: nothing limits it
};

void check_step(const MeasuredStep& step, const YamlNode& node, Diagnostics& diagnostics) {
  const auto wrong = [&](const char* key, const std::string& what) {
    const YamlNode* value = node.find(key);
    diagnostics.error(value ? value->where : node.where, what);
  };
  if (step.prompt_tokens + step.decodes == 0) diagnostics.error(node.where, "a step that computes no token");
  if (step.prompt_tokens < step.prompts) wrong("prompts", "each prompt of a step computes at least one token");
  if (step.prompt_tokens > 0 && step.prompts == 0) wrong("prompts", "tokens of prompts, but no prompt");
  if (step.cached_tokens > 0 && step.prompts == 0) wrong("cached_tokens", "cached tokens of no prompt");
  if (step.context < step.decodes) wrong("context", "each decode attends at least to the token that it computes");
  if (step.decodes == 0 && step.context > 0) wrong("context", "a context of no decode");
  if (step.longest_context > step.context) wrong("longest_context", "longer than all contexts together");
}

void check_device(const StepsDevice& device, const YamlNode& node, Diagnostics& diagnostics) {
  if (device.steps.empty()) diagnostics.error(node.where, "'steps' must have a step or more");
  const auto profile = [](const auto& some) { return some && as_profile(*some); };
  if (profile(device.device) || profile(device.measured_on))
    diagnostics.error(node.where, "a profile knows no steps that measured ones could be compared with");
}

}  // namespace

const Fields<MeasuredStep>& measured_step_fields() {
  static const Fields<MeasuredStep> fields = [] {
    using M = MeasuredStep;
    Fields<M> f("measured_step", "what a step computed and how long the device took");
    f.add("prompts", &M::prompts, "prompts that have a part in it").between(0, 1e6);
    f.add("prompt_tokens", &M::prompt_tokens, "of prompts, computed in the step").between(0, 1e9);
    f.add("cached_tokens", &M::cached_tokens, "of these prompts, computed before or found in a cache, all together")
        .between(0, 1e12);
    f.add("decodes", &M::decodes, "sequences that compute one token each").between(0, 1e6);
    f.add("context", &M::context, "entries that the decodes attend to, all together, the new ones included")
        .between(0, 1e12);
    f.add("longest_context", &M::longest_context, "of one of the decodes; 0: all are alike").between(0, 1e9);
    f.add("padding", &M::padding, "tokens of a captured graph without a sequence").between(0, 1e6);
    f.add("time", &M::time, "of the device, without its host's work").required().above(0);
    f.add("count", &M::count, "steps like it for which this one stands").between(1, 1e12);
    f.check(check_step);
    return f;
  }();
  return fields;
}

const Fields<MeasuredWith>& measured_with_fields() {
  static const Fields<MeasuredWith> fields = [] {
    using M = MeasuredWith;
    Fields<M> f("measured_with", "what steps were measured with");
    f.add("model", &M::model, "its name").required();
    f.add("weights", &M::weights, "their format; absent: whatever the model has");
    f.add("kv", &M::kv, "its format; absent: whatever the model has");
    const auto degree = [&f](const char* key, std::int64_t M::* member) {
      f.add(key, member, "degree of the replica").between(1, 1024);
    };
    degree("tensor_parallel", &M::tensor);
    degree("pipeline_parallel", &M::pipeline);
    degree("expert_parallel", &M::expert);
    degree("data_parallel", &M::data);
    return f;
  }();
  return fields;
}

std::vector<std::string> StepsDevice::problems(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  std::vector<std::string> found;
  const auto need = [&](bool same, const std::string& measured, const std::string& asked) {
    if (!same)
      found.push_back(fmt::format("the steps of {} were measured with {}, not with {}", name, measured, asked));
  };
  need(model.name == with.model, with.model, model.name);
  if (models::changed_by_plan(model))
    found.push_back(fmt::format("the steps of {} were measured without a token plan", name));
  const std::string& weights = model.precision.weights.name;
  const std::string kv = model.precision.kv.name();
  need(with.weights.empty() || with.weights == weights, "weights in " + with.weights, weights);
  need(with.kv.empty() || with.kv == kv, "KV in " + with.kv, kv);
  const auto degree = [&](std::string_view which, std::int64_t measured, int asked) {
    need(measured == asked, fmt::format("{} parallelism {}", which, measured), fmt::format("{}", asked));
  };
  degree("tensor", with.tensor, plan.tensor);
  degree("pipeline", with.pipeline, plan.pipeline);
  degree("expert", with.expert, plan.expert);
  degree("data", with.data, plan.data);
  for (std::string& problem : device->problems(model, plan)) found.push_back(std::move(problem));
  if (measured_on)
    for (std::string& problem : measured_on->problems(model, plan)) found.push_back("measured_on: " + problem);
  return found;
}

std::string StepsDevice::step_table() const {
  std::int64_t measured = 0;
  for (const MeasuredStep& step : steps) measured += step.count;
  return fmt::format("{}: {} measured steps of {}{}", name, measured, with.model,
                     source.empty() ? "" : " (" + source + ")");
}

std::shared_ptr<const Device> StepsDevice::with_kernels_of(const std::string& engine) const {
  auto variant = device->with_kernels_of(engine);
  if (!variant) return nullptr;
  auto copy = std::make_shared<StepsDevice>(*this);
  copy->device = std::move(variant);
  if (measured_on)
    if (auto measured = measured_on->with_kernels_of(engine)) copy->measured_on = std::move(measured);
  return copy;
}

std::unique_ptr<StepModel> StepsDevice::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                             const Settings& settings) const {
  auto priced = device->bind(model, plan, settings);
  const auto measured = measured_on ? measured_on->bind(model, plan, settings) : nullptr;
  StepModel& then = measured ? *measured : *priced;
  return std::make_unique<StepsModel>(*this, model, then, std::move(priced),
                                      static_cast<double>(plan.devices()) * headroom());
}

const Fields<StepsDevice>& steps_fields() {
  static const Fields<StepsDevice> fields = [] {
    using S = StepsDevice;
    Fields<S> f("steps", "a device whose steps were measured while it served one model");
    add_common_fields(f);
    f.add_family("device", &S::device, single_devices(),
                 "what its steps are held against, and priced by away from measured ones")
        .preset_from("hardware")
        .required();
    f.add_family("measured_on", &S::measured_on, single_devices(),
                 "what the steps were measured on, where 'device' has been changed since; absent: 'device'")
        .preset_from("hardware");
    f.add_group("measured_with", &S::with, measured_with_fields(), "a run has to be of the same").required();
    f.add("source", &S::source, "of the steps: machine, engine and version, error on steps that were held out");
    f.add("smoothing", &S::smoothing, "doublings over which ratios of measured to priced are averaged").above(0);
    f.add("reach", &S::reach, "doublings from a measured step within which its ratio holds; at twice this it is gone")
        .above(0);
    f.add_group("steps", &S::steps, measured_step_fields(), "measured, or each for some that are alike").required();
    f.check(check_device);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
