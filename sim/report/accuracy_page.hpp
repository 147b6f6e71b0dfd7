// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hardware/calibration/report.hpp"
#include "hardware/device.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/validation/requests.hpp"

namespace llmscape::report {

// How well the kernels of one device were met.
struct DeviceAccuracy {
  std::string device;  // of the catalogue
  std::string tables;  // what its kernels were timed in
  std::vector<hardware::FamilyReport> families;
};

struct Coverage {
  std::string metric;
  double share = 0;
  std::size_t rows = 0;
  // Of intervals that are widened by what servers did in the rows of all other deployments, where that is known; and
  // what all rows give.
  std::optional<double> on_servers;
  metrics::ServerSpread spread;
};

// Predictions beside one measured run, or one table of runs.
struct RunAccuracy {
  std::string name;
  std::string about;  // what was measured, and what the prediction knew of it
  std::vector<validation::Comparison> comparisons;
  std::vector<validation::Course> courses;
  std::vector<std::string> notes;  // the reasons of the largest errors, what was left out
  std::size_t listed = 0;          // rows of a table, those left out too; 0: no table
  // By metric, the share of rows whose measured value lay in the 90 % interval of `run --intervals`, and of how many.
  std::vector<Coverage> coverage;
};

// Kernels of a chip, by the fits of another one and both data sheets.
struct CarriedAccuracy {
  std::string from, to;  // devices of the catalogue
  std::vector<hardware::FamilyReport> families;
};

// Rows of one kind, predicted in several ways: their errors by way and metric.
struct EnergyRows {
  std::string name;
  std::vector<std::vector<validation::Comparison>> ways;
};

// Power, joules of a token, tokens per second and the time between tokens of served batches.
struct EnergyAccuracy {
  std::string about;
  std::vector<std::string> ways;  // what a prediction was given beside the row
  EnergyRows all;
  std::vector<EnergyRows> by_model;
  EnergyRows apart;  // rows of which too little is known, in one way
  std::vector<Coverage> coverage;
  std::vector<std::string> notes;
};

// What is known of the accuracy, as the command `accuracy` finds it out.
struct AccuracyPage {
  std::vector<DeviceAccuracy> devices;
  std::vector<CarriedAccuracy> carried;
  std::vector<RunAccuracy> runs;
  std::optional<EnergyAccuracy> energy;
  std::vector<std::shared_ptr<const hardware::Device>> catalogue;  // for the list of what is not calibrated
};

// The run of the page that is a table of deployments under load.
inline constexpr const char* kDeployments = "Closed-loop deployments, H100 and H200";

// The whole page, in Markdown: what was measured of it.
std::string accuracy_page(const AccuracyPage& page);
// Its main figures: a table of families and one of runs.
std::string accuracy_summary(const AccuracyPage& page);

}  // namespace llmscape::report
