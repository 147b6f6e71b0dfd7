// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/explore/store.hpp"

namespace llmscape::cli {

// What points are made by: this program, to the bit where its sources were changed.
std::string tool();

// Makes the folder a home of this plan; false after saying why it cannot be. One that holds points of it already is
// taken only by a call that `goes_on`.
bool settle(const explore::Plan& plan, const explore::Store& store, bool goes_on);

}  // namespace llmscape::cli
