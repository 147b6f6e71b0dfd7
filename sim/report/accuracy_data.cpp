// SPDX-License-Identifier: Apache-2.0
#include "sim/report/accuracy_data.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/catalog.hpp"
#include "base/process_pool.hpp"
#include "hardware/device_entry.hpp"
#include "sim/report/accuracy_parts.hpp"
#include "sim/validation/server_spread.hpp"

namespace llmscape::report {
namespace {

void add_catalogue(const AccuracyTask& task, AccuracyPage& page) {
  for (const std::string& name : catalog_names(task.sources.catalogs.hardware))
    if (const auto tree = task.entry(name))
      if (auto device = hardware::devices().read(*tree, task.diagnostics)) page.catalogue.push_back(std::move(device));
}

struct PageSection {
  const char* name;
  void (*add)(const AccuracyTask&, AccuracyPage&);
};
constexpr std::array kPageSections = {
    PageSection{"kernels", add_kernels},     PageSection{"carried", add_carried},
    PageSection{"energy", add_energy},       PageSection{"engine-runs", add_engine_runs},
    PageSection{"vllm-runs", add_vllm_runs}, PageSection{"deployments", add_deployments},
    PageSection{"batches", add_batches},     PageSection{"catalogue", add_catalogue}};

}  // namespace

std::optional<YamlNode> AccuracyTask::entry(const std::string& device) const {
  return hardware::device_entry(sources.catalogs.hardware, device, {}, diagnostics);
}

std::optional<validation::MeasuredTable> AccuracyTask::rows(const char* table, validation::RowKind kind,
                                                            const char* mapping) const {
  const std::filesystem::path mappings = sources.measured.parent_path().parent_path() / "tests/validation/rows";
  return validation::read_measured_table(sources.data / "measured" / table, kind, mappings / mapping, diagnostics);
}

std::vector<const validation::RowPoint*> all_of(const std::vector<validation::RowPoint>& points) {
  std::vector<const validation::RowPoint*> all;
  for (const auto& point : points) all.push_back(&point);
  return all;
}

std::vector<Coverage> coverage_of(const AccuracyTask& task, const validation::MeasuredTable& table,
                                  const std::vector<const validation::MeasuredRow*>& rows,
                                  const std::vector<std::string>& deployment) {
  std::vector<Coverage> all;
  const auto intervals = row_intervals(table, rows, {}, task.sources.catalogs, default_jobs());
  for (std::size_t metric = 0; metric < table.metrics.size(); ++metric) {
    const auto share = share_inside(intervals, metric);
    if (!share) continue;
    Coverage& coverage = all.emplace_back();
    coverage.metric = table.metrics[metric].name;
    coverage.share = *share;
    coverage.rows = rows.size();
    const auto columns = metrics::find_columns(coverage.metric);
    if (columns.empty() || !columns.front()->metric->server) continue;
    coverage.on_servers = held_out_share(intervals, metric, deployment);
    coverage.spread = server_spread(intervals, metric);
  }
  return all;
}

const std::vector<std::string>& accuracy_sections() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PageSection& section : kPageSections) all.emplace_back(section.name);
    return all;
  }();
  return names;
}

AccuracyPage measure_accuracy(const AccuracySources& sources, const std::vector<std::string>& sections,
                              const std::function<void(const std::string&)>& about_to, Diagnostics& diagnostics) {
  const AccuracyTask task{sources, about_to, diagnostics};
  AccuracyPage page;
  for (const PageSection& section : kPageSections)
    if (sections.empty() || std::ranges::find(sections, section.name) != sections.end()) section.add(task, page);
  return page;
}

}  // namespace llmscape::report
