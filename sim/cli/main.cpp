// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/heap.hpp"
#include "base/standard_streams.hpp"
#include "sim/cli/data_folder.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/report/units.hpp"

namespace llmscape::cli {
namespace {

constexpr std::array kVerbs = {
    run_verb::add,       sweep_verb::add,    pareto_verb::add,      search_verb::add,     optimize_verb::add,
    report_verb::add,    explain_verb::add,  sensitivity_verb::add, reproduce_verb::add,  compare_verb::add,
    check_verb::add,     lint_verb::add,     show_verb::add,        list_verb::add,       schema_verb::add,
    trace_verb::add,     import_verb::add,   validate_verb::add,    observe_verb::add,    bench_verb::add,
    calibrate_verb::add, accuracy_verb::add, engine_verb::add,      completion_verb::add, man_verb::add,
};

constexpr const char* kFooter = R"(Exit codes:
    0  done
    1  a check, an SLO, a claim or a baseline failed
    2  wrong usage or configuration: nothing ran
    3  some points of a sweep failed; the others are kept
    4  an invariant broke, or an internal error
  130  interrupted; what was complete is kept

Results go to stdout, progress and messages to stderr. NO_COLOR is honoured.

Examples:
  llmscape run examples/chat-h100/scenario.yaml
  llmscape list devices
  llmscape show hardware/h100-sxm)";

std::string version_text() {
  const Version& v = version();
  return fmt::format("llmscape {} ({}{}), {}, {}, SimGrid {}", v.number, v.revision, v.dirty ? ", dirty" : "",
                     v.compiler, v.build_type, kernel::simgrid_version());
}

// Options as "--name TYPE", their default behind the description, and no line wider than 100 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();  // "FORMAT:{table,json}": the description has the choices
    return option->get_type_size() > 0 ? ' ' + type.substr(0, type.find(':')) : "";
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string& fallback = option->get_default_str();
    return report::wrapped(option->get_description() + (fallback.empty() ? "" : fmt::format(" [{}]", fallback)), 70);
  }
};

// Says what was meant by a verb that does not exist; true if there was one.
bool refuse_unknown_verb(const CLI::App& app, const std::vector<std::string>& arguments, std::size_t at) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  if (at >= arguments.size() || verbs.empty() || arguments[at].starts_with('-')) return false;
  if (std::ranges::find(verbs, arguments[at]) != verbs.end())
    return refuse_unknown_verb(*app.get_subcommand(arguments[at]), arguments, at + 1);
  const std::string meant = did_you_mean(arguments[at], verbs);
  write_to_stderr(fmt::format("llmscape: there is no verb {}{}{}\nRun with --help for more information.\n",
                              in_quotes(arguments[at]), meant.empty() ? "" : "; ", meant));
  return true;
}

// Options whose file is written: none that came with the program is meant.
constexpr std::array kWrites = {"-o", "--output", "--json", "--junit", "--markdown", "--page", "--report"};

// The commands of README and docs name examples as the source tree has them: where the working folder has none, those
// that came with the program are meant.
std::vector<std::string> with_examples(std::vector<std::string> arguments) {
  namespace fs = std::filesystem;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    std::error_code none;
    if (!argument.starts_with("examples/") || fs::exists(argument, none) ||
        std::ranges::find(kWrites, arguments[i - 1]) != kWrites.end())
      continue;
    const fs::path own = data_folder() / argument;
    if (fs::is_regular_file(own, none)) argument = own.string();
  }
  return arguments;
}

int answer(int argc, char** argv) {
  CLI::App app("Predicts how a language model is served on hardware that may not exist yet.", "llmscape");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(kFooter);
  app.set_version_flag("--version", version_text, "Print version, revision, compiler, build type and SimGrid version");
  Session session{with_examples({argv, argv + argc})};
  for (const auto& add : kVerbs) add(app, session);
  check_whole_numbers(app);
  if (refuse_unknown_verb(app, session.arguments, 1)) return kUsage;
  try {
    std::vector<std::string> last_first(session.arguments.rbegin(), std::prev(session.arguments.rend()));
    app.parse(std::move(last_first));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version were asked for
    write_to_stderr(fmt::format("llmscape: {}\nRun with --help for more information.\n", error.what()));
    return kUsage;
  }
  return session.exit_code;
}

}  // namespace
}  // namespace llmscape::cli

int main(int argc, char** argv) {
  using namespace llmscape::cli;
  llmscape::secure_standard_streams();
  llmscape::widen_heap();
  return guarded([&] { return answer(argc, argv); });
}
