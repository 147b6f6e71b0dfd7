// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process_pool.hpp"
#include "base/standard_streams.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/run_folder.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/explore/point.hpp"
#include "sim/report/result_file.hpp"
#include "sim/report/summary.hpp"
#include "sim/report/vllm_json.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/analytic.hpp"
#include "sim/run/intervals.hpp"
#include "sim/run/run.hpp"

namespace llmscape::cli::run_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(Examples:
  llmscape run scenario.yaml
  llmscape run scenario.yaml --set workload.rate='20 /s' --set hardware.devices[0].count=2
  llmscape run scenario.yaml -o out --requests --timeline
  llmscape run scenario.yaml --intervals
  llmscape run scenario.yaml --analytic
  llmscape run --from out --format json)";

struct Arguments {
  std::string scenario, from, folder;
  std::string format = "table";
  std::vector<std::string> set;
  std::optional<std::int64_t> seed;
  bool requests = false, timeline = false, overwrite = false, intervals = false, analytic = false, quiet = false,
       verbose = false;
  int jobs = default_jobs();
  Messages messages;
};

// Passes on what happens to everybody who looks on, and lets Ctrl-C in.
class Audience : public world::Watcher {
 public:
  explicit Audience(std::vector<world::Watcher*> watchers) : watchers_(std::move(watchers)) {}
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override {
    stop_if_interrupted();
    for (world::Watcher* watcher : watchers_) watcher->on_request(request, outcome, at);
  }
  void on_availability(int replica, serving::Availability availability, Seconds at) override {
    for (world::Watcher* watcher : watchers_) watcher->on_availability(replica, availability, at);
  }
  void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
               std::int64_t waiting, std::int64_t kv_blocks_used) override {
    stop_if_interrupted();
    for (world::Watcher* watcher : watchers_)
      watcher->on_step(replica, start, end, decodes, prefill_tokens, waiting, kv_blocks_used);
  }
  [[nodiscard]] bool hears_steps() const override {
    return std::ranges::any_of(watchers_, [](const world::Watcher* watcher) { return watcher->hears_steps(); });
  }
  void on_power(const std::string& group, const metrics::PowerSeries& power) override {
    for (world::Watcher* watcher : watchers_) watcher->on_power(group, power);
  }

 private:
  std::vector<world::Watcher*> watchers_;
};

// Progress for runs that take longer than a moment.
class Patience {
 public:
  Patience(std::string label, bool quiet) : progress_(std::move(label), quiet) {}
  void update(double share) {
    if (std::chrono::steady_clock::now() - started_ > std::chrono::seconds(1)) progress_.update(share);
  }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  Progress progress_;
};

std::string text_of(const result::RunResult& result, const Arguments& arguments) {
  if (arguments.format == "json") return result::to_json(result);
  if (arguments.format == "vllm-json") return report::to_vllm_json(result);
  return report::summary(result, arguments.messages.colour(stdout));
}

std::optional<scenario::Scenario> read_scenario(const Arguments& arguments, Diagnostics& diagnostics) {
  if (arguments.from.empty()) {
    scenario::report_overridden(arguments.set, arguments.seed, diagnostics);
    return scenario::load_scenario(arguments.scenario, arguments.set, arguments.seed, catalogs(), diagnostics);
  }
  const fs::path from = arguments.from;
  if (fs::is_directory(from) || from.filename() == "run.json") {  // of a run
    const fs::path folder = fs::is_directory(from) ? from : from.parent_path();
    if (fs::is_directory(folder / "points") && !fs::exists(folder / "run.json")) {
      diagnostics.error({}, fmt::format("{} is the folder of a sweep", folder.string()),
                        fmt::format("name a point of it: {}", (folder / "points" / "ID.json").string()));
      return std::nullopt;
    }
    return scenario::load_scenario(folder / "scenario.resolved.yaml", {}, std::nullopt, catalogs(), diagnostics);
  }
  auto point = explore::saved_scenario(from, diagnostics);
  if (!point) return std::nullopt;
  return scenario::read_scenario(std::move(point->tree), point->folder, {}, std::nullopt, catalogs(), diagnostics);
}

std::optional<result::Intervals> intervals(const scenario::Scenario& scenario, const Arguments& arguments) {
  if (!arguments.intervals) return std::nullopt;
  Patience patience("intervals", arguments.quiet);
  std::size_t runs = 0;
  return run::predict_intervals(scenario, arguments.jobs, [&] {
    stop_if_interrupted();
    patience.update(static_cast<double>(++runs) / result::kIntervalRuns);
  });
}

// What the scenario carries by arithmetic: schema analytic/1.
int analyse(const scenario::Scenario& scenario, const Messages& messages, Diagnostics& diagnostics) {
  const auto analysis = run::analyse(scenario, diagnostics);
  messages.show(diagnostics);
  if (!analysis) return kUsage;
  std::fputs(run::to_json(*analysis).c_str(), stdout);
  return kDone;
}

// A scenario that is repeated may name files, and the program may be another, than when its result was written.
void compare_with_first(const fs::path& from, const result::RunResult& result, Diagnostics& diagnostics) {
  if (fs::is_directory(from) && !fs::exists(from / "run.json")) return;
  nlohmann::ordered_json first = report::read_result(from, diagnostics);
  if (!first.is_object()) return;
  nlohmann::ordered_json now = nlohmann::ordered_json::parse(result::to_json_line(result));
  for (const char* differs : {"intervals", "warnings"}) {
    first.erase(differs);
    now.erase(differs);
  }
  if (first != now)
    diagnostics.warning({std::make_shared<const SourceText>(SourceText{from.string(), ""})},
                        "the result that stands there is another: the program, or a file that the scenario names, has "
                        "changed since",
                        "'llmscape compare' says what moved");
}

int run_it(const Arguments& arguments, const std::vector<std::string>& typed) {
  Diagnostics diagnostics;
  const auto scenario = read_scenario(arguments, diagnostics);
  if (!scenario) {
    arguments.messages.show(diagnostics, "See 'llmscape show fields scenario'.");
    return kUsage;
  }
  if (arguments.analytic) return analyse(*scenario, arguments.messages, diagnostics);
  std::unique_ptr<RunFolder> folder;
  if (!arguments.folder.empty()) {
    const RunFolder::Extras extras{arguments.requests, arguments.timeline};
    RunFolder::report_foreign(arguments.folder, extras, arguments.overwrite, diagnostics);
    if (diagnostics.has_errors()) {
      arguments.messages.show(diagnostics);
      return kUsage;
    }
    folder = std::make_unique<RunFolder>(arguments.folder, *scenario, extras);
  }
  catch_interrupts();
  auto around = intervals(*scenario, arguments);
  Audience audience(folder ? folder->watchers() : std::vector<world::Watcher*>());
  Patience patience("run", arguments.quiet);
  world::Options options;
  options.watcher = &audience;
  options.progress = [&patience](double share) { patience.update(share); };
  result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  if (!arguments.from.empty() && !diagnostics.has_errors()) compare_with_first(arguments.from, result, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  result.intervals = std::move(around);
  if (folder) folder->finish(result, typed);
  std::fputs(text_of(result, arguments).c_str(), stdout);
  if (arguments.verbose)
    write_to_stderr(fmt::format("{} steps, {} sequences in them; {}\n", result.steps, result.sequence_steps,
                                folder ? "wrote " + arguments.folder : "nothing was written"));
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("run", "Run a scenario and print what its users would see");
  verb->footer(kFooter);
  CLI::Option* scenario = verb->add_option("scenario", arguments->scenario, "Scenario file")->type_name("FILE");
  CLI::Option* set = verb->add_option("--set", arguments->set,
                                      "Lay a value over the scenario's; lists by number or name: "
                                      "hardware.devices[0].count=4. Repeatable")
                         ->type_name("PATH=VALUE")
                         ->allow_extra_args(false);
  CLI::Option* seed =
      verb->add_option("--seed", arguments->seed, "Seed of every random stream, instead of the scenario's")
          ->type_name("N");
  verb->add_option("--from", arguments->from,
                   "Repeat the run that left this folder (or the run.json in it), or this point of a sweep "
                   "(points/ID.json); takes no other value")
      ->type_name("DIR")
      ->excludes(scenario)
      ->excludes(set)
      ->excludes(seed);
  CLI::Option* folder =
      verb->add_option(
              "-o,--output", arguments->folder,
              "Write scenario.resolved.yaml, run.json and manifest.json into this folder; it is made if missing")
          ->type_name("DIR");
  verb->add_flag("--requests", arguments->requests,
                 "Write requests.jsonl there too, one line per model call; needs --output")
      ->needs(folder);
  verb->add_flag("--timeline", arguments->timeline,
                 "Write timeline.json there too, a Chrome trace for ui.perfetto.dev; needs --output")
      ->needs(folder);
  verb->add_flag(kOverwrite, arguments->overwrite, kOverwriteText)->needs(folder);
  CLI::Option* intervals = verb->add_flag(
      "--intervals", arguments->intervals,
      fmt::format("Run {} times more with kernel times drawn from the errors of their fits, and give the {:.0f} % "
                  "interval of each main metric",
                  result::kIntervalRuns, 100 * result::kIntervalLevel));
  verb->add_flag("--analytic", arguments->analytic,
                 "No run: what prefill and decode pools of profile devices carry by arithmetic, and the best "
                 "threshold and split of such a system (JSON, schema analytic/1)")
      ->excludes(folder)
      ->excludes(intervals);
  verb->add_option("-j,--jobs", arguments->jobs, "Runs at once under --intervals; the result does not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_option("--format", arguments->format,
                   "What to print: table, json (schema run/1) or vllm-json (vLLM's keys, in ms)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "vllm-json"}))
      ->capture_default_str();
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  verb->add_flag("-v,--verbose", arguments->verbose, "Say more on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    if (arguments->scenario.empty() && arguments->from.empty())
      throw CLI::RequiredError("a scenario file (or --from DIR)");
    session.exit_code = run_it(*arguments, session.arguments);
  });
}

}  // namespace llmscape::cli::run_verb
