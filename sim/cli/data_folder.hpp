// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace llmscape::cli {

// The folder under which `models/catalog`, `hardware/catalog`, `workloads/catalog` and `schemas` stand:
// ../share/llmscape beside an installed program, else the source tree that this one was built from. Throws
// std::runtime_error naming both places when neither is there.
std::filesystem::path data_folder();

}  // namespace llmscape::cli
