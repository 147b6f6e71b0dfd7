// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "models/model.hpp"

namespace llmscape::cli {

// What a model is and what follows from it, for a terminal: layers, parameters against the published count, bytes.
std::string model_card(const models::ModelSpec& model);

}  // namespace llmscape::cli
