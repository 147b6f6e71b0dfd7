// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/accuracy_data.hpp"
#include "sim/validation/row_runs.hpp"

// What the page is put together from: each part measures and adds its sections.
namespace llmscape::report {

struct AccuracyTask {
  const AccuracySources& sources;
  const std::function<void(const std::string&)>& about_to;
  Diagnostics& diagnostics;

  // The catalogue's device of that name.
  [[nodiscard]] std::optional<YamlNode> entry(const std::string& device) const;
  // A table of measured/, as the mapping in tests/validation/rows reads it.
  [[nodiscard]] std::optional<validation::MeasuredTable> rows(const char* table, validation::RowKind kind,
                                                              const char* mapping) const;
};

std::vector<const validation::RowPoint*> all_of(const std::vector<validation::RowPoint>& points);
// Which rows' intervals hold what was measured, by the table's metrics; rows are of one deployment where they are equal
// in `deployment`.
std::vector<Coverage> coverage_of(const AccuracyTask& task, const validation::MeasuredTable& table,
                                  const std::vector<const validation::MeasuredRow*>& rows,
                                  const std::vector<std::string>& deployment);

// Fits of the devices that have tables of kernels.
void add_kernels(const AccuracyTask& task, AccuracyPage& page);
// Kernels of chips by the fits of others.
void add_carried(const AccuracyTask& task, AccuracyPage& page);
// Engine runs of this project and of vLLM, replayed request by request.
void add_engine_runs(const AccuracyTask& task, AccuracyPage& page);
void add_vllm_runs(const AccuracyTask& task, AccuracyPage& page);
// Rows of others' tables, simulated from their columns.
void add_deployments(const AccuracyTask& task, AccuracyPage& page);
void add_batches(const AccuracyTask& task, AccuracyPage& page);
void add_energy(const AccuracyTask& task, AccuracyPage& page);

}  // namespace llmscape::report
