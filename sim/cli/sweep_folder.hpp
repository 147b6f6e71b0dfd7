// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sim/explore/store.hpp"

namespace llmscape::cli {

// What points are made by: this program, to the bit where its sources were changed.
std::string tool();

// What a folder is taken for.
struct Settling {
  bool goes_on = false;    // points of this plan may be there already
  bool overwrite = false;  // files of somebody else's may be replaced
};

// Makes the folder a home of this plan; false after reporting why it cannot be. Of two plans that come at once one has
// it.
bool settle(const explore::Plan& plan, const explore::Store& store, Settling how, Diagnostics& diagnostics);

// Names the points whose files were damaged on stderr.
void tell_damaged(const std::vector<std::filesystem::path>& set_aside);

}  // namespace llmscape::cli
