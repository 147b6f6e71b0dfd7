// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/replay.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/files.hpp"
#include "sim/run/run.hpp"

namespace llmscape::validation {
namespace {

namespace fs = std::filesystem;

// As the record's context calls it, by its file's name where that was a path.
std::string model_name(const traces::EngineRecord& record) {
  const auto called = record.context.find("model");
  fs::path name = called == record.context.end() ? fs::path() : fs::path(called->second).filename();
  if (name.extension() == ".yaml" || name.extension() == ".json") name = name.stem();
  const std::string text = name.string();
  const auto odd = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_';
  };
  return text.empty() || text.front() == '.' || std::ranges::any_of(text, odd) ? "model" : text;
}

// As the engine serves: each step is planned when the one before has ended, and nothing is found in a prefix cache.
std::string scenario_text(const traces::EngineRecord& record) {
  return fmt::format(
      "schema: scenario/1\n"
      "model: {{hf_config: \"{}.yaml\"}}\n"
      "hardware: {{devices: []}}\n"
      "serving:\n"
      "  batcher: {{policy: vllm_v1, max_num_seqs: {}, max_num_batched_tokens: {}, async_scheduling: false, "
      "enable_prefix_caching: false}}\n"
      "  block_size: {}\n"
      "  kv_blocks: {}\n"
      "  cuda_graphs: {}\n"
      "workload: {{replay: {{trace: trace.jsonl}}}}\n",
      model_name(record), record.max_sequences, record.max_batched_tokens, record.block_tokens, record.kv_blocks,
      record.graphs);
}

std::string trace_text(const traces::EngineRecord& record) {
  std::string text = "{\"schema\": \"trace/1\"}\n";
  for (const traces::EngineRequest& r : record.requests)
    text += fmt::format("{{\"arrival_s\": {}, \"prompt_tokens\": {}, \"output_tokens\": {}}}\n", r.arrival_s,
                        r.prompt_tokens, r.output_tokens);
  return text;
}

class Stations : public world::Watcher {
 public:
  void on_request(const serving::Request& r, serving::Outcome outcome, Seconds) override {
    if (outcome != serving::Outcome::completed) return;
    requests.push_back({fmt::format("{}", r.id), r.prompt_tokens, r.output_tokens, r.enqueue.si(), r.schedule.si(),
                        r.first_token.si(), r.last_token.si(), r.arrival.si()});
  }
  void on_step(int, Seconds, Seconds, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override {}
  [[nodiscard]] bool hears_steps() const override { return false; }

  std::vector<RequestTimes> requests;
};

}  // namespace

Replay::Replay(const traces::EngineRecord& record, YamlNode device, const scenario::Catalogs& catalogs,
               Diagnostics& diagnostics)
    : folder_(fs::temp_directory_path() / fmt::format("llmscape-replay-{}", getpid())) {
  const fs::path file = folder_ / "scenario.yaml";
  write_file_atomically(folder_ / (model_name(record) + ".yaml"), record.model);
  write_file_atomically(folder_ / "trace.jsonl", trace_text(record));
  YamlNode root =
      read_yaml(std::make_shared<const SourceText>(SourceText{file.string(), scenario_text(record)}), diagnostics);
  root.find("hardware")->find("devices")->items.push_back(std::move(device));
  scenario_ = scenario::read_scenario(std::move(root), folder_, {}, std::nullopt, catalogs, diagnostics);
}

Replay::~Replay() {
  std::error_code gone;
  fs::remove_all(folder_, gone);
}

std::optional<Simulated> simulate(const scenario::Scenario& scenario, Diagnostics& diagnostics) {
  Stations stations;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.watcher = &stations;
  result::RunResult result = run::run_scenario(scenario, options, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return Simulated{std::move(stations.requests), std::move(result)};
}

std::vector<Comparison> compare_energy(const result::RunResult& predicted, const traces::EngineRecord& measured) {
  const result::EnergyResult& whole = predicted.overall.energy;
  if (!measured.energy_j || !whole.joules_per_output_token) return {};
  double end_s = 0, tokens = 0;
  for (const traces::EngineRequest& r : measured.requests) {
    end_s = std::max(end_s, r.last_token_s);
    tokens += static_cast<double>(r.output_tokens);
  }
  return {compare("power", "W", {{"run", whole.mean_w, *measured.energy_j / end_s}}),
          compare("energy per token", "J", {{"run", *whole.joules_per_output_token, *measured.energy_j / tokens}})};
}

}  // namespace llmscape::validation
