// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace llmscape::hardware::harness {

// What Linux tells about processor and kernel: device, cores, caches, kernel, governor where there is one.
std::map<std::string, std::string> machine_facts();

// Size of the third level's cache; 32 MiB where Linux does not tell.
Bytes last_cache();

// Of the processor this runs on; nothing where Linux does not tell.
std::optional<double> clock_mhz();

// Processor time that a hypervisor gave to others, as a share of all, from construction on.
class StealMeter {
 public:
  StealMeter();
  [[nodiscard]] std::optional<double> share_since() const;

 private:
  struct Ticks {
    double stolen = 0, all = 0;
  };
  static std::optional<Ticks> read();
  std::optional<Ticks> start_;
};

}  // namespace llmscape::hardware::harness
