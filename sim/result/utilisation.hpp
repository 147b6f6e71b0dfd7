// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sim/result/parts.hpp"
#include "sim/result/portion.hpp"
#include "sim/result/result.hpp"

namespace llmscape::result {

// How busy the devices of each group were in a part of the run, by its name, and which of their parts. Throws
// std::logic_error when a part worked for longer than the steps that it worked in (INV-8).
std::vector<GroupUse> utilisation_of(const Parts& parts, const serving::Gateway& gateway, const Portion& portion);

}  // namespace llmscape::result
