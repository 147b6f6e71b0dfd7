// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/engine/engine_model.hpp"

namespace llmscape::engine {

// What bind() made, once more for another replica: the tables of the device's prices are kept for both, where its kind
// can share them (hardware/shared_prices.hpp). Nullptr where it cannot, or the model is not one of bind()'s.
std::unique_ptr<EngineModel> another(const EngineModel& like);

}  // namespace llmscape::engine
