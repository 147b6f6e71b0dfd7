// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>

#include "sim/cli/data_folder.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::cli {

// The catalogues that came with this program.
inline scenario::Catalogs catalogs() {
  const std::filesystem::path data = data_folder();
  return {data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"};
}

// Where the studies that came with it stand.
inline std::filesystem::path studies_folder() { return data_folder() / "studies"; }

// The same for who reads many scenarios: each description is read once.
inline scenario::Catalogs remembering_catalogs() {
  scenario::Catalogs all = catalogs();
  all.remembered = std::make_shared<scenario::Catalogs::Remembered>();
  return all;
}

}  // namespace llmscape::cli
