// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "base/expression.hpp"
#include "base/files.hpp"
#include "base/yaml_reader.hpp"
#include "models/hf_config.hpp"
#include "sim/explore/plan.hpp"
#include "sim/explore/results.hpp"
#include "sim/observe/readers.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/written.hpp"
#include "sim/studies/study.hpp"
#include "sim/validation/request_times.hpp"
#include "traces/engine_record.hpp"
#include "traces/kernel_tables.hpp"
#include "traces/microbench_record.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::fuzz {
namespace {

namespace fs = std::filesystem;

const scenario::Catalogs kCatalogs{"models/catalog", "hardware/catalog", "workloads/catalog"};

std::string text_of(const std::string& path) {
  std::string error;
  return read_file(path, error).value_or("");
}

// A tree that was read is written, and what was written is read as the same.
void read_tree(const std::string& path, Diagnostics& diagnostics) {
  const YamlNode tree = read_yaml_file(path, diagnostics);
  if (diagnostics.has_errors()) return;
  const std::string written = write_yaml(tree);
  const auto again = read_yaml(std::make_shared<const SourceText>(SourceText{"written", written}), diagnostics);
  if (diagnostics.has_errors() || write_yaml(again) != written)
    throw std::logic_error("what was written is read as something else:\n" + written + diagnostics.text(false));
}

void read_scenario(const std::string& path, Diagnostics& diagnostics) {
  const auto scenario = scenario::load_scenario(path, {}, std::nullopt, kCatalogs, diagnostics);
  if (scenario) static_cast<void>(write_yaml(scenario::written(*scenario)));
}

void read_plan(const std::string& path, Diagnostics& diagnostics) {
  const auto plan = explore::load_plan(path, {}, diagnostics);
  for (std::uint64_t i = 0; plan && i < std::min<std::uint64_t>(plan->size(), 3); ++i)
    if (const auto point = plan->point(i)) explore::scenario_of(*plan, *point, kCatalogs, diagnostics);
}

void read_study(const std::string& path, Diagnostics& diagnostics) { studies::read_study(path, diagnostics); }

void read_config(const std::string& path, Diagnostics& diagnostics) {
  const YamlNode root = read_yaml_file(path, diagnostics);
  if (!diagnostics.has_errors()) models::read_hf_config(root, "model", diagnostics);
}

// The first byte says as which format, so that each is tried on the same bytes.
void read_trace(const std::string& path, Diagnostics& diagnostics) {
  const std::string text = text_of(path);
  const auto& formats = traces::trace_formats();
  const std::size_t choice = text.empty() ? 0 : static_cast<unsigned char>(text[0]) % (formats.size() + 1);
  const std::string_view format = choice < formats.size() ? formats[choice].name : std::string_view();
  for (const std::string_view as : {std::string_view(), format}) {
    const auto reader = traces::open_trace(path, as, {}, diagnostics);
    for (int i = 0; reader && i < 10'000 && reader->next(diagnostics); ++i) continue;
  }
}

void read_tables(const std::string& path, Diagnostics& diagnostics) { traces::read_kernel_tables({path}, diagnostics); }
void read_bench(const std::string& path, Diagnostics& diagnostics) {
  traces::read_microbench_record(path, diagnostics);
}
void read_engine(const std::string& path, Diagnostics& diagnostics) { traces::read_engine_record(path, diagnostics); }
void read_requests(const std::string& path, Diagnostics& diagnostics) {
  validation::read_request_times(path, diagnostics);
}
void read_results(const std::string& path, Diagnostics& diagnostics) { explore::read_results(path, diagnostics); }

void read_observed(const std::string& path, Diagnostics& diagnostics) {
  observe::Observed observed;
  observe::read_observed(path, "", observed, diagnostics);
  for (const observe::Reader& reader : observe::readers()) {
    observe::Observed as;
    reader.read(path, as, diagnostics);
  }
}

void read_expression(const std::string& path, Diagnostics& diagnostics) {
  const auto expression = Expression::parse(text_of(path), {}, diagnostics);
  if (!expression) return;
  const auto lookup = [](std::string_view name) -> std::optional<Value> {
    if (name.size() % 3 == 0) return std::nullopt;
    return Value(static_cast<double>(name.size()));
  };
  static_cast<void>(expression->evaluate(lookup));
}

// Lines are assignments, one after the other over one scenario.
void read_override(const std::string& path, Diagnostics& diagnostics) {
  YamlNode tree = read_yaml_file("examples/chat-h100/scenario.yaml", diagnostics);
  const std::string text = text_of(path);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    apply_override(tree, std::string_view(text).substr(from, end - from), diagnostics);
    from = end + 1;
  }
  static_cast<void>(write_yaml(tree));
}

constexpr std::array kTargets = {
    Target{"yaml", "input.yaml", R"(tests/bad_input/syntax/.*)", read_tree},
    Target{"scenario", "input.yaml", R"(examples/.*/scenario\.yaml|tests/bad_input/(fit|keys|types)/.*)",
           read_scenario},
    Target{"plan", "input.yaml", R"(examples/.*/sweep\.yaml|tests/regression/plan\.yaml|tests/bad_input/sweeps/.*)",
           read_plan},
    Target{"study", "input.yaml", R"(studies/(edgecim|efim)/study\.yaml|tests/bad_input/studies/.*)", read_study},
    Target{"hf_config", "config.json", R"(tests/bad_input/parts/.*\.json)", read_config},
    Target{"trace", "input", R"(tests/bad_input/parts/.*\.csv)", read_trace},
    Target{"kernel_tables", "input.csv", "", read_tables},
    Target{"bench_record", "input.json", "", read_bench},
    Target{"engine_record", "input.json", "", read_engine},
    Target{"requests", "input.jsonl", "", read_requests},
    Target{"results", "results.csv", "", read_results},
    Target{"observed", "input", R"(tests/unit/observe/fixtures/.*)", read_observed},
    Target{"expression", "input", "", read_expression},
    Target{"override", "input", "", read_override},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

void feed(const Target& target, std::string_view bytes, const fs::path& folder) {
  const fs::path path = folder / target.file_name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Diagnostics diagnostics;
  try {
    target.read(path.string(), diagnostics);
  } catch (const std::exception& thrown) {
    throw std::logic_error(std::string(target.name) + " throws: " + thrown.what());
  }
  const std::string said = diagnostics.text(false);
  if (diagnostics.has_errors() != (said.find("error: ") != std::string::npos) && !said.empty())
    throw std::logic_error(std::string(target.name) + " reports what is not shown");
  for (const char* library : {"json.exception", "yaml-cpp"})  // unless the input has the words, whose lines are shown
    if (said.find(library) != std::string::npos && bytes.find(library) == std::string_view::npos)
      throw std::logic_error(std::string(target.name) + " tells a library's words:\n" + said);
}

std::vector<fs::path> inputs_of(const Target& target) {
  std::vector<fs::path> all;
  const fs::path corpus = fs::path("tests/fuzz/corpus") / target.name;
  if (fs::is_directory(corpus))
    for (const auto& entry : fs::directory_iterator(corpus)) all.push_back(entry.path());
  const std::regex seeds{std::string(target.seeds)};
  for (const char* root : {"examples", "studies", "tests/bad_input", "tests/regression", "tests/unit/observe"})
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.is_regular_file() && std::regex_match(entry.path().generic_string(), seeds))
        all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

}  // namespace llmscape::fuzz
