// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/recent.hpp"
#include "sim/engine/engine_model.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/laid_figures.hpp"

namespace llmscape::world {

// Prices of steps that runs before have kept, for who runs scenarios that differ in what arrives alone: prices follow
// from the device, the model, the serving engine and what kind of tokens there are. A run has the same result with them
// as without.
class PriceMemory {
 public:
  // Of the replicas of that pool in that group of devices; nullptr if no run before had the same.
  std::unique_ptr<engine::EngineModel> find(const scenario::Scenario& scenario, std::size_t pool, std::size_t group);
  // Keeps the tables of `steps`, as engine::bind() made it there.
  void keep(const scenario::Scenario& scenario, std::size_t pool, std::size_t group, const engine::EngineModel& steps);
  // The figures laid over that device (laid_figures), found once: its tables hold thousands that are not, and the
  // device is read again for each.
  const std::vector<LaidFigure>& laid_over(const YamlNode& device);

 private:
  struct Priced {
    std::shared_ptr<const hardware::Device> device;
    YamlNode hardware, model, models, serving;
    std::filesystem::path folder;
    workloads::Tokens tokens;
    std::size_t pool, group;
  };
  static Priced priced(const scenario::Scenario& scenario, std::size_t pool, std::size_t group);
  static bool same_prices(const Priced& a, const Priced& b);

  static constexpr std::size_t kMost = 8;
  Recent<Priced, std::unique_ptr<engine::EngineModel>, kMost> known_;
  Recent<YamlNode, std::vector<LaidFigure>, kMost> laid_;
};

}  // namespace llmscape::world
