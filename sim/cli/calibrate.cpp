// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/table.hpp"
#include "hardware/calibration/calibrate.hpp"
#include "hardware/calibration/unfitted_rows.hpp"
#include "hardware/device_entry.hpp"
#include "hardware/gpu/gpu.hpp"
#include "models/format.hpp"
#include "sim/cli/calibrate_steps.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/named_twice.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/calibration.hpp"
#include "traces/kernel_tables.hpp"

namespace llmscape::cli::calibrate_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(A RECORD is what 'llmscape bench' wrote, or a public kernel table: of AIConfigurator, Vidur or
Frontier, a folder of LLMServingSim's profiler, or a folder of these. All are of one device. The
data sheet comes from the base; families without rows keep its parameters.

With --steps a RECORD is of whole steps: what 'llmscape engine' wrote, or a CSV table with the
columns prompt_tokens, decodes, context and device_ms or step_ms of a server that a scenario
describes. The result corrects the base near these steps, and is the base elsewhere.

Use the result in a scenario as {preset: ./my-gpu.yaml}.

Examples:
  llmscape calibrate bench.json --base h100-sxm -o my-gpu.yaml
  llmscape calibrate tables/h100 --base h100-sxm --family gemm,decode_attention -o my-gpu.yaml
  llmscape calibrate --steps engine.json --base cpu-epyc-vm -o my-cpu.yaml
  llmscape calibrate --steps steps.csv --scenario server.yaml -o my-server.yaml)";

struct Arguments {
  std::vector<std::string> records, families, siblings, held;
  std::string base, output, report, scenario;
  bool steps = false;
  std::size_t rows = 1500;
  Messages messages;
};

std::optional<YamlNode> base_description(const std::string& base, Diagnostics& diagnostics) {
  if (fs::exists(base)) return read_description(base, FileKind::device, diagnostics);
  const SourceRange where{std::make_shared<const SourceText>(SourceText{"--base", ""})};
  return hardware::device_entry(catalogs().hardware, base, where, diagnostics);
}

std::string names_of(const std::vector<std::string>& records) {
  std::string names;
  for (const std::string& record : records) {
    const fs::path path = fs::path(record).lexically_normal();
    const fs::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
    names += (names.empty() ? "" : ", ") + name.string();
  }
  return names;
}

// The device file: the base with its fitted groups, under the output's name.
std::string device_file(YamlNode device, const std::string& base, const fs::path& output) {
  YamlNode file;
  file.set("schema", YamlNode::scalar("device/1"));
  file.set("kind", *device.find("kind"));
  file.set("name", YamlNode::scalar(is_stdout(output) ? "calibrated" : output.stem().string()));
  file.set("description", YamlNode::scalar(base + ", calibrated", true));
  for (auto& entry : device.entries)
    if (!file.find(entry.key)) file.set(entry.key, std::move(entry.value));
  return write_yaml(file);
}

// Each as NAME=RECORD.
std::vector<hardware::Sibling> siblings_of(const std::vector<std::string>& named, Diagnostics& diagnostics) {
  std::vector<hardware::Sibling> siblings;
  for (const std::string& text : named) {
    const std::size_t equals = text.find('=');
    const SourceRange where{std::make_shared<const SourceText>(SourceText{"--sibling", ""})};
    const auto entry = hardware::device_entry(catalogs().hardware, text.substr(0, equals), where, diagnostics);
    auto tables = traces::read_kernel_tables({text.substr(equals + 1)}, diagnostics);
    const auto device = entry ? hardware::devices().read(*entry, diagnostics) : nullptr;
    auto gpu = std::dynamic_pointer_cast<const hardware::Gpu>(device);
    if (device && !gpu) diagnostics.error(where, "a sibling is a GPU of the catalogue");
    if (gpu && tables)
      siblings.push_back({std::move(gpu), std::make_shared<const traces::KernelTables>(std::move(*tables))});
  }
  return siblings;
}

// Rows of formats that the catalogue does not know are fitted to nothing.
void warn_of_unknown_formats(const traces::KernelTables& tables, Diagnostics& diagnostics) {
  std::map<std::string, std::size_t> unknown;  // rows by format
  const auto count = [&unknown](const auto& rows) {
    for (const auto& row : rows)
      if (!models::format_named(row.format)) ++unknown[row.format];
  };
  count(tables.gemm);
  count(tables.grouped_gemm);
  count(tables.expert_layer);
  for (const auto& [format, rows] : unknown)
    diagnostics.warning({}, fmt::format("{} rows of GEMMs and experts are left out: no number format is called {}",
                                        rows, in_quotes(format)));
}

int calibrate(const Arguments& arguments) {
  Diagnostics diagnostics;
  report_twice(arguments.records, diagnostics);
  if (arguments.steps) {
    const bool done =
        calibrate_steps({arguments.records, arguments.base, arguments.scenario, arguments.output}, diagnostics);
    arguments.messages.show(diagnostics);
    return done ? kDone : kUsage;
  }
  if (arguments.base.empty())
    diagnostics.error({std::make_shared<const SourceText>(SourceText{"calibrate", ""})},
                      "needs --base: the device whose data sheet counts");
  const auto base = arguments.base.empty() ? std::nullopt : base_description(arguments.base, diagnostics);
  const auto tables = traces::read_kernel_tables(arguments.records, diagnostics);
  auto siblings = siblings_of(arguments.siblings, diagnostics);
  std::optional<hardware::Calibration> calibration;
  if (tables) warn_of_unknown_formats(*tables, diagnostics);
  if (tables && tables->device.find(", ") != std::string::npos)
    diagnostics.warning({}, "the records name several devices, and are taken as those of one: " + tables->device);
  if (base && tables && !diagnostics.has_errors())
    calibration = hardware::calibrate(
        *tables, *base,
        {arguments.families, arguments.rows, names_of(arguments.records), std::move(siblings), arguments.held},
        diagnostics);
  if (calibration) {
    const YamlNode* kind = calibration->device.find("kind");
    hardware::warn_of_unfitted_rows(*tables, kind && kind->text == "cpu", arguments.families, calibration->reports,
                                    diagnostics);
  }
  arguments.messages.show(diagnostics);
  if (!calibration) return kUsage;
  if (!is_stdout(arguments.output) && !is_stdout(arguments.report))
    fmt::print("{}", report::calibration_text(calibration->reports, terminal_width(stdout)));
  write_file_atomically(arguments.output,
                        device_file(std::move(calibration->device), arguments.base, arguments.output));
  if (!arguments.report.empty())
    write_file_atomically(arguments.report, report::calibration_json(calibration->reports));
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("calibrate", "Fit a device's kernel parameters to timed kernels");
  verb->footer(kFooter);
  verb->add_option("records", arguments->records, "What was measured on the device")->type_name("RECORD")->required();
  CLI::Option* base =
      verb->add_option("--base", arguments->base, "Device of the catalogue, or a device file, with the data sheet")
          ->type_name("NAME|FILE");
  CLI::Option* steps = verb->add_flag("--steps", arguments->steps, "The records are of steps, not of kernels");
  verb->add_option("--scenario", arguments->scenario, "Instead of --base: the server that tables of steps are of")
      ->type_name("FILE")
      ->needs(steps)
      ->excludes(base);
  verb->add_option("-o,--output", arguments->output, "Device file to write")->type_name("FILE")->required();
  verb->add_option(
          "--family", arguments->families,
          "Fit only these: gemm, expert_gemm, prefill_attention, decode_attention, latent_attention, elementwise, "
          "collectives, energy")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(CLI::IsMember(hardware::kFittableFamilies));
  verb->add_option("--sibling", arguments->siblings,
                   "A GPU of the catalogue of the same generation, and its own tables: what one engine's kernels do "
                   "there helps to learn corrections")
      ->type_name("NAME=RECORD")
      ->check([](const std::string& text) {
        return text.find('=') == std::string::npos ? "must be NAME=RECORD" : std::string();
      });
  verb->add_option("--hold", arguments->held,
                   "Of the energy, what stays as the base has it: active, memory, padding, compute, idle, or a format")
      ->type_name("NAME,...")
      ->delimiter(',');
  verb->add_option("--rows", arguments->rows, "At most this many rows of a family, always the same ones")
      ->type_name("N")
      ->check(CLI::Range(20, 1'000'000))
      ->capture_default_str();
  verb->add_option("--report", arguments->report, "File for errors and parameters as JSON")->type_name("FILE");
  for (const char* of_kernels : {"--family", "--sibling", "--hold", "--rows", "--report"})
    steps->excludes(verb->get_option(of_kernels));
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = calibrate(*arguments); });
}

}  // namespace llmscape::cli::calibrate_verb
