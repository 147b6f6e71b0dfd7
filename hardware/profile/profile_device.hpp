// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hardware/device.hpp"
#include "hardware/fit.hpp"
#include "hardware/profile/length_profile.hpp"

namespace llmscape::hardware {

// What one prompt of this length took on the device, alone, and the bytes that it left in its KV cache: entries and
// states of linear attention together.
struct ProfiledPrompt {
  std::int64_t tokens = 0;
  Seconds time;
  Bytes kv;
};

// How the device decodes: up to so many sequences at once at this time per token, whatever their contexts.
struct ProfiledDecode {
  Seconds time_per_token;
  std::int64_t sequences = 1;
};

// A serving instance that is known only by what prompts and tokens of one model took on it: a published table, where
// neither model nor kernels are public. Between the profile's lengths times and bytes are linear; beyond them they go
// on as in the nearest piece (LengthProfile), which counts as extrapolated and leaves a warning. It says nothing about
// other models.
struct ProfileDevice final : Device, Fit {
  std::string model;  // that it was profiled with
  std::vector<ProfiledPrompt> prompts;
  ProfiledDecode decode;
  Sourced<Bytes> capacity;
  std::int64_t kv_capacity = 0;  // tokens of KV that it holds
  Sourced<Watts> idle, busy;

  [[nodiscard]] LengthProfile seconds() const;
  [[nodiscard]] LengthProfile kv_bytes() const;

  [[nodiscard]] Bytes memory() const override { return *capacity; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] EnergyTags energy_tags() const override { return {busy.tag, idle.tag}; }
  [[nodiscard]] std::int64_t kv_tokens(const models::ModelSpec&, const models::ParallelPlan&) const override {
    return kv_capacity;
  }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};

const Fields<ProfileDevice>& profile_fields();

// The profile that the device is; nullptr: it is of another kind.
const ProfileDevice* as_profile(const Device& device);

}  // namespace llmscape::hardware
