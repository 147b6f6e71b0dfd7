// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "base/table.hpp"
#include "sim/cli/data_folder.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/json.hpp"
#include "sim/run/world.hpp"

namespace llmscape::cli {

namespace {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::optional<std::int64_t> seed;
};

int run(const RunArguments& arguments) {
  const std::filesystem::path data = data_folder();
  const run::Catalogs catalogs{data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"};
  Diagnostics diagnostics;
  const auto scenario = run::load_scenario(arguments.scenario, arguments.set, arguments.seed, catalogs, diagnostics);
  if (!scenario) {
    std::fputs(diagnostics.text(use_colour(ColourMode::automatic, stderr)).c_str(), stderr);
    return kUsage;
  }
  const run::RunResult result = run::run_scenario(*scenario, {}, diagnostics);
  if (diagnostics.has_errors()) {
    std::fputs(diagnostics.text(use_colour(ColourMode::automatic, stderr)).c_str(), stderr);
    return kUsage;
  }
  std::fputs(report::to_json(result).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "run a scenario and print what its users would see");
  verb->add_option("scenario", arguments->scenario, "scenario file")->required();
  verb->add_option("--set", arguments->set, "lay a value into the scenario: workload.arrivals.rate='12 /s'")
      ->allow_extra_args(false);
  verb->add_option("--seed", arguments->seed, "seed of every random stream");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace llmscape::cli
