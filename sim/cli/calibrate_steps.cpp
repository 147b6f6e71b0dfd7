// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/calibrate_steps.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/step_table.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

SourceRange typed(const std::string& what) { return {std::make_shared<const SourceText>(SourceText{what, ""})}; }

YamlNode device_entry(const std::string& base, Diagnostics& diagnostics) {
  if (fs::exists(base)) return read_description(base, FileKind::device, diagnostics).value_or(YamlNode());
  YamlNode device = YamlNode::mapping(typed("--base"));
  device.set("preset", YamlNode::scalar(base)).where = typed("--base");
  return device;
}

// Steps with the scenario of the server that took them.
struct Read {
  std::unique_ptr<validation::Replay> replay;  // keeps the scenario's files
  std::optional<scenario::Scenario> scenario;
  validation::MeasuredSteps measured;

  void add(validation::MeasuredSteps more) {
    measured.steps.insert(measured.steps.end(), more.steps.begin(), more.steps.end());
    measured.host_bound += more.host_bound;
    measured.times.insert(more.times.begin(), more.times.end());
  }
};

// A table begins with its columns, a record with a brace.
bool is_table(const std::string& path) {
  LineReader lines(path);
  const auto header = lines.next();
  return header && !header->starts_with('{') && header->find(',') != std::string::npos &&
         header->find(':') == std::string::npos;
}

Read read_engine_records(const StepRecords& what, Diagnostics& diagnostics) {
  Read read;
  std::string model;
  for (const std::string& path : what.records) {
    if (is_table(path)) {
      diagnostics.error(typed(path), "a table of steps does not tell of which server it is",
                        "give --scenario instead of --base: the scenario of that server");
      continue;
    }
    const auto record = traces::read_engine_record(path, diagnostics);
    if (!record) continue;
    if (read.replay && record->model != model) {
      diagnostics.error(typed(path), "another model than that of " + what.records.front());
      continue;
    }
    model = record->model;
    if (!read.replay)
      read.replay =
          std::make_unique<validation::Replay>(*record, device_entry(what.base, diagnostics), catalogs(), diagnostics);
    if (!read.replay->scenario()) break;
    if (!read.scenario) read.scenario = read.replay->scenario();
    read.add(validation::measured_steps(*record, *read.scenario));
  }
  return read;
}

Read read_tables(const StepRecords& what, Diagnostics& diagnostics) {
  Read read;
  read.scenario = scenario::load_scenario(what.scenario, {}, std::nullopt, catalogs(), diagnostics);
  for (const std::string& path : what.records)
    if (const auto rows = traces::read_step_rows(path, diagnostics); rows && read.scenario)
      read.add(validation::measured_steps(*rows, *read.scenario));
  return read;
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

std::string errors_of(const validation::StepTable& table) {
  Table rows({"held-out steps", "median error", "90 %", "bias"});
  for (const validation::Comparison& c : table.comparisons)
    rows.row({c.metric, percent(c.error_median), percent(c.error_p90), percent(c.bias)});
  return rows.text(terminal_width(stdout));
}

std::string names_of(const StepRecords& what) {
  std::string names;
  for (const std::string& record : what.records)
    names += (names.empty() ? "" : ", ") + fs::path(record).filename().string();
  return names;
}

}  // namespace

bool calibrate_steps(const StepRecords& what, Diagnostics& diagnostics) {
  if (what.base.empty() == what.scenario.empty()) {
    diagnostics.error(typed("--steps"), "needs --base for records of 'llmscape engine', or --scenario for CSV tables");
    return false;
  }
  const Read read = what.scenario.empty() ? read_engine_records(what, diagnostics) : read_tables(what, diagnostics);
  if (diagnostics.has_errors() || !read.scenario) return false;
  auto table =
      validation::step_table(read.measured, *read.scenario, names_of(what), typed(what.records.front()), diagnostics);
  if (!table) return false;
  hardware::StepsDevice& device = table->device;
  const std::string base = device.device->name;
  const validation::Comparison &priced = table->comparisons[0], &tabled = table->comparisons[1];
  device.name = is_stdout(what.output) ? "calibrated" : what.output.stem().string();
  device.die_area = device.device->die_area;
  device.energy_boundary = device.device->energy_boundary;  // its joules are those of that device
  device.description = fmt::format("{}, corrected by measured steps of {}", base, device.with.model);
  device.source += fmt::format("; median error of {} held-out steps {}, by {} alone {}", tabled.count,
                               percent(tabled.error_median), base, percent(priced.error_median));
  YamlNode file;
  file.set("schema", YamlNode::scalar("device/1"));
  YamlNode written = hardware::devices().write(device);
  for (auto& entry : written.entries) file.set(entry.key, std::move(entry.value));
  write_file_atomically(what.output, write_yaml(file));
  if (is_stdout(what.output)) return true;
  fmt::print("{} steps of {}, {} held out, {} of these within reach of the others\n\n{}", read.measured.steps.size(),
             device.with.model, tabled.count, percent(table->inside), errors_of(*table));
  if (read.measured.host_bound > 0)
    fmt::print("\n{} more steps took no longer than the host alone, and say nothing of the device.\n",
               read.measured.host_bound);
  if (tabled.error_median > priced.error_median)
    fmt::print("\nThe steps do not predict one another better than the device does: do without them.\n");
  return true;
}

}  // namespace llmscape::cli
