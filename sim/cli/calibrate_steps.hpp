// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::cli {

// `llmscape calibrate --steps`: measured steps as a device file.
struct StepRecords {
  std::vector<std::string> records;  // of the mini engine, or CSV tables of steps
  std::string base;                  // of records of the mini engine: the device that they are held against
  std::string scenario;              // of CSV tables: the server that they are of
  std::filesystem::path output;
};

// Writes the device file and prints how well a part of the steps predicts the others. False after reporting.
bool calibrate_steps(const StepRecords& what, Diagnostics& diagnostics);

}  // namespace llmscape::cli
