// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>

#include "sim/run/run.hpp"
#include "traces/csv_table.hpp"

namespace llmscape::validation {

namespace {

struct ModelName {
  std::string_view theirs, ours;
};
// Models of other names have the same shape as far as costs go.
constexpr std::array kBatchModels = {ModelName{"meta-llama/Llama-2-7b-hf", "llama-2-7b"},
                                     ModelName{"meta-llama/Llama-2-70b-hf", "llama-2-70b"},
                                     ModelName{"mistralai/Mistral-7B-v0.1", "mistral-7b"},
                                     ModelName{"meta-llama/Meta-Llama-3-8B", "llama-3-8b"},
                                     ModelName{"meta-llama/Meta-Llama-3-70B", "llama-3.1-70b"},
                                     ModelName{"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
                                     ModelName{"Qwen/Qwen2-7B", "qwen2-7b"},
                                     ModelName{"llama2-70b", "llama-2-70b"}};

std::optional<std::string> catalogued(std::string_view model) {
  const auto found = std::ranges::find(kBatchModels, model, &ModelName::theirs);
  return found == kBatchModels.end() ? std::nullopt : std::optional<std::string>(found->ours);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string batcher_of(const BatchRun& run) {
  const std::int64_t prompts = run.batch * run.input;
  if (run.software == "splitwise")
    return fmt::format("{{policy: static, max_batch: {}, max_prompt_tokens: {}}}", run.batch, prompts);
  if (run.software == "TensorRT-LLM")
    return fmt::format("{{policy: trtllm, max_batch_size: {}, max_num_tokens: {}, overlap_scheduler: false}}",
                       run.batch, std::max<std::int64_t>(8192, run.batch + run.input));
  if (run.software == "vLLM") return fmt::format("{{policy: vllm_v0, max_num_seqs: {}}}", run.batch);
  // Dynamic SplitFuse: chunks of prompts beside decodes.
  return fmt::format(
      "{{policy: vllm_v1, max_num_seqs: {}, max_num_batched_tokens: 2048, async_scheduling: false, "
      "enable_prefix_caching: false}}",
      run.batch);
}

}  // namespace

std::vector<BatchRun> read_inference_bench(const std::string& path, Diagnostics& diagnostics) {
  enum Column { kHardware, kDevices, kSoftware, kModel, kLength, kBatch, kLatency };
  traces::CsvTable table(path,
                         {{"Hardware"},
                          {"Num of Hardware"},
                          {"Framework"},
                          {"Model"},
                          {"Input Output Length"},
                          {"Batch Size"},
                          {"Latency"}},
                         diagnostics, {"Throughput"});
  std::vector<BatchRun> runs;
  while (table.next()) {
    const auto model = catalogued(table.text(kModel));
    if (table.text(kHardware) != "Nvidia A100 GPU" || !model) continue;
    BatchRun run;
    run.software = table.text(kSoftware);
    run.model = *model;
    run.device = "a100-40";
    run.tensor = static_cast<int>(table.whole(kDevices, 1).value_or(1));
    run.input = run.output = table.whole(kLength, 1).value_or(1);
    run.batch = table.whole(kBatch, 1).value_or(1);
    run.latency_s = table.positive(kLatency).value_or(1);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<BatchRun> read_splitwise(const std::string& path, Diagnostics& diagnostics) {
  enum Column { kModel, kPrompt, kBatch, kTokens, kPromptTime, kTokenTime, kTensor };
  traces::CsvTable table(path,
                         {{"model"},
                          {"prompt_size"},
                          {"batch_size"},
                          {"token_size"},
                          {"prompt_time"},
                          {"token_time"},
                          {"tensor_parallel"}},
                         diagnostics, {"hardware", "peak_power", "average_power", "e2e_time"});
  using Point = std::tuple<int, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Point, std::pair<std::vector<double>, std::vector<double>>> repeats;
  while (table.next()) {
    if (table.text(kModel) != "llama2-70b") continue;
    const Point point = {static_cast<int>(table.whole(kTensor, 1).value_or(1)), table.whole(kPrompt, 1).value_or(1),
                         table.whole(kTokens, 1).value_or(1), table.whole(kBatch, 1).value_or(1)};
    repeats[point].first.push_back(table.positive(kPromptTime).value_or(1) / 1e3);
    repeats[point].second.push_back(table.positive(kTokenTime).value_or(1) / 1e3);
  }
  std::vector<BatchRun> runs;
  for (const auto& [point, times] : repeats) {
    const auto& [tensor, input, output, batch] = point;
    runs.push_back({"splitwise", "llama-2-70b", "a100-80", tensor, input, output, batch, 0, median(times.first),
                    median(times.second)});
  }
  return runs;
}

std::string scenario_text(const BatchRun& run) {
  return fmt::format(
      "schema: scenario/1\n"
      "model: {}\n"
      "hardware: {{devices: [{{preset: {}, count: {}}}]}}\n"
      "serving:\n"
      "  tensor_parallel: {}\n"
      "  batcher: {}\n"
      "  max_model_len: {}\n"
      "workload:\n"
      "  arrivals: {{kind: closed_loop, users: {}}}\n"
      "  stream: {{kind: lengths, prompt: {{kind: fixed, value: {}}}, output: {{kind: fixed, value: {}}}}}\n"
      "  requests: {}\n",
      run.model, run.device, run.tensor, run.tensor, batcher_of(run), run.input + run.output, run.batch, run.input,
      run.output, run.batch);
}

std::optional<BatchPoint> simulate(const BatchRun& run, const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  auto source = std::make_shared<SourceText>();
  source->name = fmt::format("{} {} x{}, {} of {}", run.software, run.model, run.tensor, run.batch, run.input);
  source->text = scenario_text(run);
  const YamlNode root = read_yaml(source, diagnostics);
  const auto scenario = scenario::read_scenario(root, {}, {}, std::nullopt, catalogs, diagnostics);
  if (!scenario) return std::nullopt;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  const result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  if (result.requests.completed < run.batch) return std::nullopt;  // longer than the pool
  const result::Percentiles* tpot = result.latency["tpot_s"];
  return BatchPoint{run, result.simulated_s, result.latency["ttft_s"]->mean, tpot ? tpot->mean : 0};
}

}  // namespace llmscape::validation
