// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/row_runs.hpp"

namespace llmscape::testing {

// A table of the reference data, read by a mapping of tests/validation/rows, or of an absolute path; nothing, with a
// message, where there is no such data.
inline std::optional<validation::MeasuredTable> reference_rows(const std::string& table, validation::RowKind kind,
                                                               const std::string& mapping) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto read =
      validation::read_measured_table(std::string(data) + "/measured/" + table, kind,
                                      (std::filesystem::path("tests/validation/rows") / mapping).string(), diagnostics);
  if (!read) FAIL(diagnostics.text(false));
  return read;
}

inline std::vector<validation::Comparison> errors_of(const validation::MeasuredTable& table,
                                                     const std::vector<validation::RowPoint>& points) {
  std::vector<const validation::RowPoint*> all;
  for (const auto& point : points) all.push_back(&point);
  return compare_points(table, all);
}

}  // namespace llmscape::testing
