// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/cli/data_folder.hpp"
#include "sim/run/scenario.hpp"

namespace llmscape::cli {

// The catalogues that came with this program.
inline run::Catalogs catalogs() {
  const std::filesystem::path data = data_folder();
  return {data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"};
}

}  // namespace llmscape::cli
