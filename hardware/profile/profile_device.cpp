// SPDX-License-Identifier: Apache-2.0
#include "hardware/profile/profile_device.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace llmscape::hardware {
namespace {

// A step is its chunks one after the other, and one token of all decodes.
class ProfileStepModel final : public StepModel {
 public:
  explicit ProfileStepModel(const ProfileDevice& device)
      : name_(device.name), power_(*device.busy - *device.idle), seconds_(device.seconds()), decode_(device.decode) {}

  StepPhases phases(const models::Batch& batch) override {
    StepPhases phases;
    Phase& work = phases.of(OperatorFamily::gemm);  // a profile tells no operators apart
    for (const models::PrefillChunk& chunk : batch.chunks) work.time += time_of(chunk, phases.extrapolated);
    if (batch.decodes > 0) work.time += time_of_decodes(batch, phases.extrapolated);
    work.energy_of(EnergyComponent::active) = power_ * work.time;  // for as long as it lasts, whatever it computes
    return phases;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    std::vector<std::string> all;
    if (outside_ > 0)
      all.push_back(
          fmt::format("prompts of {} left its profile, which goes from {:g} to {:g} tokens: a chunk that ends at {} "
                      "tokens was extrapolated as the nearest piece goes on",
                      name_, seconds_.shortest(), seconds_.longest(), outside_));
    if (crowd_ > 0)
      all.push_back(
          fmt::format("decodes of {} left its profile, which has {} sequences at most: {} took as many times longer",
                      name_, decode_.sequences, crowd_));
    return all;
  }

 private:
  // Chunks of one prompt add up to its whole time.
  Seconds time_of(const models::PrefillChunk& chunk, Seconds& extrapolated) {
    const std::int64_t length = chunk.cached + chunk.tokens;
    const double before = chunk.cached > 0 ? seconds_.at(static_cast<double>(chunk.cached)) : 0;
    const Seconds time(seconds_.at(static_cast<double>(length)) - before);
    // The beginning of a prompt that goes on into the profile is a part of a time that was measured.
    const bool inside = seconds_.covers(static_cast<double>(length));
    if (inside || (!chunk.ends_prompt && static_cast<double>(length) < seconds_.shortest())) return time;
    extrapolated += time;
    if (outside_ == 0) outside_ = length;
    return time;
  }

  Seconds time_of_decodes(const models::Batch& batch, Seconds& extrapolated) {
    Seconds time = decode_.time_per_token * static_cast<double>(batch.tokens_per_decode);
    if (batch.decodes > decode_.sequences) {
      time *= static_cast<double>(batch.decodes) / static_cast<double>(decode_.sequences);
      extrapolated += time;
      if (crowd_ == 0) crowd_ = batch.decodes;
    }
    return time;
  }

  std::string name_;
  Watts power_;  // beside that of an idle device
  LengthProfile seconds_;
  ProfiledDecode decode_;
  std::int64_t outside_ = 0, crowd_ = 0;  // the first that left the profile
};

template <class Quantity>
LengthProfile profile(const std::vector<ProfiledPrompt>& prompts, Quantity ProfiledPrompt::* value) {
  std::vector<LengthProfile::Point> points;
  for (const ProfiledPrompt& prompt : prompts)
    points.push_back({static_cast<double>(prompt.tokens), (prompt.*value).si()});
  return LengthProfile(std::move(points));
}

void check_profile(const ProfileDevice& device, const YamlNode& node, Diagnostics& diagnostics) {
  const auto falls = [&](auto member) {
    return std::ranges::adjacent_find(device.prompts, std::ranges::greater_equal(), member) != device.prompts.end();
  };
  if (device.prompts.size() < 2) diagnostics.error(node.where, "'prompts' must have two lengths or more");
  if (falls(&ProfiledPrompt::tokens)) diagnostics.error(node.where, "the 'tokens' of 'prompts' must rise");
  if (falls(&ProfiledPrompt::time)) diagnostics.error(node.where, "the 'time' of 'prompts' must rise");
  if (!std::ranges::is_sorted(device.prompts, {}, &ProfiledPrompt::kv))
    diagnostics.error(node.where, "the 'kv' of 'prompts' must not fall");
  if (*device.idle >= *device.busy) diagnostics.error(node.where, "idle_power is not below busy_power");
}

const Fields<ProfiledPrompt>& prompt_fields() {
  static const Fields<ProfiledPrompt> fields = [] {
    using P = ProfiledPrompt;
    Fields<P> f("profiled_prompt", "what a prompt of one length took");
    f.add("tokens", &P::tokens, "its length").required().between(1, 1e9);
    f.add("time", &P::time, "from its first step to its first token, alone on the device").required().above(0);
    f.add("kv", &P::kv, "what it leaves in the KV cache: entries, and states of linear attention")
        .required()
        .at_least(0);
    return f;
  }();
  return fields;
}

const Fields<ProfiledDecode>& decode_fields() {
  static const Fields<ProfiledDecode> fields = [] {
    using D = ProfiledDecode;
    Fields<D> f("profiled_decode", "how an instance decodes");
    f.add("time_per_token", &D::time_per_token, "of a step in which every sequence computes a token")
        .required()
        .above(0);
    f.add("sequences", &D::sequences, "that decode at once in this time; a step of more takes proportionally longer")
        .required()
        .between(1, 1e6);
    return f;
  }();
  return fields;
}

}  // namespace

LengthProfile ProfileDevice::seconds() const { return profile(prompts, &ProfiledPrompt::time); }
LengthProfile ProfileDevice::kv_bytes() const { return profile(prompts, &ProfiledPrompt::kv); }

std::vector<std::string> ProfileDevice::problems(const models::ModelSpec& spec,
                                                 const models::ParallelPlan& plan) const {
  std::vector<std::string> found;
  if (spec.name != model) found.push_back(fmt::format("{} was profiled with {}, not with {}", name, model, spec.name));
  if (plan.all_devices() > 1 || plan.expert > 1)
    found.push_back(fmt::format("{} is a whole instance: every degree of parallelism must be 1", name));
  return found;
}

std::array<Tag, kOperatorFamilies> ProfileDevice::provenance() const {
  std::array<Tag, kOperatorFamilies> tags;
  tags.fill(tag);
  return tags;
}

Spreads ProfileDevice::spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const {
  Spreads spreads;
  spreads.fill(spread_of(tag, residuals));
  return spreads;
}

std::unique_ptr<StepModel> ProfileDevice::bind(const models::ModelSpec&, const models::ParallelPlan&,
                                               const Settings&) const {
  return std::make_unique<ProfileStepModel>(*this);
}

const ProfileDevice* as_profile(const Device& device) { return dynamic_cast<const ProfileDevice*>(&device); }

const Fields<ProfileDevice>& profile_fields() {
  static const Fields<ProfileDevice> fields = [] {
    using P = ProfileDevice;
    Fields<P> f("profile", "a serving instance that is known by the times of prompts and tokens of one model");
    add_common_fields(f);
    f.add("model", &P::model, "name of the model that it was profiled with").required();
    f.add_group("prompts", &P::prompts, prompt_fields(), "prompts by rising length: linear in between").required();
    add_fit_fields(f);
    f.add_group("decode", &P::decode, decode_fields(), "how it decodes").required();
    f.add("capacity", &P::capacity, "device memory of the whole instance").required().above(0);
    f.add("kv_tokens", &P::kv_capacity, "tokens of KV that the instance holds").required().at_least(1);
    f.add("idle_power", &P::idle, "power of the whole instance when idle").required().at_least(0);
    f.add("busy_power", &P::busy, "power of the whole instance while a step runs").required().above(0);
    f.check(check_profile);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
