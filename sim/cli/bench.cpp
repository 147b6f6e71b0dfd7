// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/standard_streams.hpp"
#include "base/table.hpp"
#include "hardware/harness/backend.hpp"
#include "hardware/harness/cases.hpp"
#include "hardware/harness/power.hpp"
#include "hardware/harness/runner.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/report/units.hpp"
#include "traces/kernel_case.hpp"

namespace llmscape::cli::bench_verb {
namespace {

namespace harness = hardware::harness;

constexpr const char* kFooter = R"(Examples:
  llmscape bench --quick -o my-cpu.json
  llmscape bench --list --filter 'gemm/m:1/'
  llmscape bench --backend cuda --time-budget '5 min' -o my-gpu.json)";

struct Arguments {
  std::string backend = "cpu", filter, budget, output;
  std::uint64_t seed = 1;
  bool list = false, quick = false, quiet = false;
};

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[sizeof "2026-01-01T00:00:00Z"];
  std::tm parts{};
  std::strftime(text, sizeof text, "%FT%TZ", gmtime_r(&now, &parts));
  return text;
}

std::unique_ptr<harness::Backend> backend_named(const std::string& name, std::string& reason) {
  return name == "cuda" ? harness::make_cuda_backend(0, reason) : harness::make_cpu_backend(1, reason);
}

std::vector<traces::KernelCase> chosen_cases(const Arguments& arguments) {
  std::vector<traces::KernelCase> cases = harness::kernel_cases(arguments.backend, arguments.quick);
  const std::regex pattern(arguments.filter);
  std::erase_if(cases, [&](const auto& what) { return !std::regex_search(traces::name_of(what), pattern); });
  return cases;
}

// What of the machine was reached, operator by operator.
std::string summary_of(const traces::MicrobenchRecord& record) {
  struct Family {
    std::int64_t cases = 0, noisy = 0;
    double fastest_flops = 0, fastest_bytes = 0, worst_error = 0;
  };
  std::map<std::string, Family> families;
  for (const traces::MicrobenchRow& row : record.rows) {
    Family& family = families[std::string(traces::operator_of(row.what))];
    ++family.cases;
    family.noisy += std::ranges::count(row.flags, "noisy");
    family.fastest_flops = std::max(family.fastest_flops, row.flops / row.time.median);
    family.fastest_bytes = std::max(family.fastest_bytes, row.bytes / row.time.median);
    family.worst_error = std::max(family.worst_error, row.error);
  }
  Table table({"operator", "cases", "noisy", "best GFLOP/s", "best GB/s", "largest error"});
  for (const auto& [name, f] : families) {
    table.row({name, fmt::to_string(f.cases), fmt::to_string(f.noisy), report::amount(f.fastest_flops / 1e9),
               report::amount(f.fastest_bytes / 1e9), fmt::format("{:.1e}", f.worst_error)});
  }
  return table.text();
}

void add_provenance(traces::MicrobenchRecord& record, const Arguments& arguments,
                    const std::vector<std::string>& typed) {
  const Version& v = version();
  record.context["tool"] = fmt::format("llmscape {} ({}{})", v.number, v.revision, v.dirty ? ", dirty" : "");
  record.context["compiler"] = fmt::format("{}, {}", v.compiler, v.build_type);
  record.context["date"] = utc_now();
  record.context["list"] = arguments.quick ? "quick" : "full";
  record.context["argv"] = fmt::to_string(fmt::join(std::next(typed.begin()), typed.end(), " "));
}

// A GPU's power, unless only some cases are wanted; why not stands in the record.
void add_power(traces::MicrobenchRecord& record, const Arguments& arguments) {
  if (arguments.backend != "cuda" || !arguments.filter.empty()) return;
  constexpr Seconds kEach(1.5);
  Progress progress("power", arguments.quiet);
  const auto step = [&progress](std::size_t done, std::size_t all) {
    stop_if_interrupted();
    progress.update(static_cast<double>(done) / static_cast<double>(all));
  };
  std::string reason;
  record.power = harness::measure_power(0, harness::power_cases("cuda", arguments.quick), kEach, step, reason);
  progress.update(1);
  if (record.power.empty()) record.context["power"] = reason;
}

int report_failures(const harness::RunOutcome& outcome) {
  for (const harness::FailedCheck& failed : outcome.failed) {
    write_to_stderr(
        fmt::format("llmscape: {} differs from its reference by {:.1e}, more than {:.1e}; it was not timed\n",
                    traces::name_of(failed.what), failed.error, failed.tolerance));
  }
  if (!outcome.unsupported.empty())
    write_to_stderr(fmt::format("{} cases have no kernel here, the first: {}\n", outcome.unsupported.size(),
                                traces::name_of(outcome.unsupported.front())));
  if (!outcome.out_of_time.empty())
    write_to_stderr(fmt::format("{} cases were left out: the time budget is spent\n", outcome.out_of_time.size()));
  return outcome.failed.empty() ? kDone : kBroken;
}

int bench_it(const Arguments& arguments, const std::optional<Seconds>& budget, const std::vector<std::string>& typed) {
  const std::vector<traces::KernelCase> cases = chosen_cases(arguments);
  if (cases.empty()) {
    write_to_stderr(fmt::format("llmscape: no case matches {}\n", in_quotes(arguments.filter)));
    return kUsage;
  }
  if (arguments.list) {
    for (const traces::KernelCase& what : cases) fmt::print("{}\n", traces::name_of(what));
    return kDone;
  }
  std::string reason;
  const auto backend = backend_named(arguments.backend, reason);
  if (!backend) {
    write_to_stderr(fmt::format("llmscape: no backend '{}' here: {}\n", arguments.backend, reason));
    return kUsage;
  }
  catch_interrupts();
  Progress progress("bench", arguments.quiet);
  const auto step = [&progress](std::size_t done, std::size_t all, const std::string&) {
    stop_if_interrupted();
    progress.update(static_cast<double>(done) / static_cast<double>(all));
  };
  harness::RunOutcome outcome =
      harness::run_cases(*backend, cases, harness::sentinel_cases(arguments.backend), {arguments.seed, budget, step});
  progress.update(1);
  add_power(outcome.record, arguments);
  add_provenance(outcome.record, arguments, typed);
  if (!is_stdout(arguments.output)) fmt::print("{}", summary_of(outcome.record));
  if (!arguments.output.empty()) traces::write_microbench_record(outcome.record, arguments.output);
  return report_failures(outcome);
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("bench", "Time real kernels of this machine, for 'calibrate'");
  verb->footer(kFooter);
  verb->add_option("--backend", arguments->backend,
                   "Where kernels run: cpu (one thread, its processor time) or cuda (the first GPU, events)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  verb->add_flag("--list", arguments->list, "Print the names of the cases and time none");
  verb->add_option("--filter", arguments->filter, "Only cases whose name this regular expression finds something in")
      ->type_name("REGEX");
  verb->add_flag("--quick", arguments->quick, "Fewer cases with the same spread: about a minute on a CPU");
  verb->add_option("--time-budget", arguments->budget,
                   "Begin no case after this time, such as '60 s'; the order is random, so all kinds lose alike")
      ->type_name("TIME");
  verb->add_option("--seed", arguments->seed, "Seed of the order and of the data")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->output,
                   "Write the record (schema llmscape.microbench/1) into this file; compressed for .gz and .zst")
      ->type_name("FILE");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  verb->callback([arguments, &session] {
    std::optional<Seconds> budget;
    if (!arguments->budget.empty()) {
      const auto seconds = parse_quantity(arguments->budget, Dimension::time);
      if (const auto* error = std::get_if<QuantityError>(&seconds))
        throw CLI::ValidationError("--time-budget", error->message);
      budget = Seconds(std::get<double>(seconds));
    }
    try {
      static_cast<void>(std::regex(arguments->filter));
    } catch (const std::regex_error&) {
      throw CLI::ValidationError("--filter", "not a regular expression: " + arguments->filter);
    }
    session.exit_code = bench_it(*arguments, budget, session.arguments);
  });
}

}  // namespace llmscape::cli::bench_verb
