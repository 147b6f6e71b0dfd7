// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "hardware/device.hpp"
#include "sim/serving/replica/adapters.hpp"

namespace llmscape::scenario {

struct PoolConfig;
struct Scenario;

// Low-rank adapters that calls carry: all of one shape.
struct LoraConfig : models::Adapter {
  std::int64_t adapters = 1;
  double popularity = 0;                 // exponent of a Zipf law
  std::optional<std::int64_t> resident;  // absent: all
  std::optional<BytesPerSecond> load_bandwidth;
  [[nodiscard]] std::int64_t held() const { return std::min(adapters, resident.value_or(adapters)); }
};
const Fields<LoraConfig>& lora_fields();

// Why the pool's adapters cannot be served on the device, one sentence each.
std::vector<std::string> lora_problems(const Scenario& scenario, const PoolConfig& pool,
                                       const hardware::Device& device);
// Adds a warning for each pool whose streams of batches (pipeline_batches) hold adapters: each has a set of its own.
void warn_of_adapters_of_streams(Scenario& scenario);
// What the resident adapters take of the memory of each device.
Bytes resident_adapters(const Scenario& scenario, const PoolConfig& pool);
// As the pool's replicas on the device see it.
serving::AdapterConfig adapters_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                   const RandomStreams& streams);

}  // namespace llmscape::scenario
