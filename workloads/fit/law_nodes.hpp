// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::workloads {

// Fitted laws, as they stand in a file.

// Lengths by the quantiles of the values, which are not empty, at their law_shares; {kind: fixed} where all are alike.
YamlNode quantile_lengths(std::vector<double> values);

// Counts as they were, each as often as it was; by their quantiles where more than 40 differ.
YamlNode observed_counts(std::vector<double> values);

// Times by a log-normal law of the mean and spread of the values (seconds); {kind: fixed} where all are alike, or none.
YamlNode log_normal_durations(const std::vector<double>& values);

YamlNode number_node(double value);

}  // namespace llmscape::workloads
