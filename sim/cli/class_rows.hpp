// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "base/diagnostics.hpp"
#include "sim/explore/results.hpp"

namespace llmscape::cli {

// The axis by which rows of a class of requests are told from those of all.
inline constexpr const char* kClassAxis = "slo_class";

// The file of a row's run: a point of a sweep, or `results` itself where that is one run.
std::filesystem::path run_file(const explore::ResultsTable& table, const explore::ResultRow& row,
                               const std::string& results);

// Adds the axis: "(all)" in the rows that are there, and behind each of them a row of each class that its run tells of
// (`classes` of schema run/1), by its name, "(none)" for requests without one. A class has the verdict of its run,
// which is noisy or not by all its calls. Reports runs that cannot be read.
void add_class_rows(explore::ResultsTable& table, const std::string& results, Diagnostics& diagnostics);

}  // namespace llmscape::cli
