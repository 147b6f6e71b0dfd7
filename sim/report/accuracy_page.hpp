// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hardware/calibration/report.hpp"
#include "hardware/device.hpp"
#include "sim/validation/requests.hpp"

namespace llmscape::report {

// How well the kernels of one device were met.
struct DeviceAccuracy {
  std::string device;  // of the catalogue
  std::string tables;  // what its kernels were timed in
  std::vector<hardware::FamilyReport> families;
};

// Predictions beside one measured run, or one table of runs.
struct RunAccuracy {
  std::string name;
  std::string about;  // what was measured, and what the prediction knew of it
  std::vector<validation::Comparison> comparisons;
  std::vector<validation::Course> courses;
  std::vector<std::string> notes;  // the reasons of the largest errors, what was left out
};

// What is known of the accuracy, as the command `accuracy` finds it out.
struct AccuracyPage {
  std::vector<DeviceAccuracy> devices;
  std::vector<RunAccuracy> runs;
  std::vector<std::shared_ptr<const hardware::Device>> catalogue;  // for the list of what is not calibrated
};

// The whole page, in Markdown.
std::string accuracy_page(const AccuracyPage& page);
// Its main figures: a table of families and one of runs.
std::string accuracy_summary(const AccuracyPage& page);

}  // namespace llmscape::report
