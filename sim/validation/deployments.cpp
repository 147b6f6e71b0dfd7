// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/deployments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>

#include "sim/run/run.hpp"
#include "traces/csv_table.hpp"

namespace llmscape::validation {

namespace {

// Levels of concurrency with fewer rows say nothing about rank.
constexpr std::size_t kLeastRowsToRank = 10;

// A name in the table, and what it is called here.
struct Name {
  std::string_view theirs, ours;
};
constexpr std::array kModels = {
    Name{"openai/gpt-oss-120b", "gpt-oss-120b"},    Name{"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
    Name{"MiniMaxAI/MiniMax-M2.5", "minimax-m2.5"}, Name{"zhipuai/GLM-5", "glm-5"},
    Name{"deepseek-ai/DeepSeek-R1", "deepseek-r1"}, Name{"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
    Name{"moonshotai/Kimi-K2.5", "kimi-k2.5"}};
constexpr std::array kDevices = {Name{"h100_sxm", "h100-sxm"}, Name{"h200_sxm", "h200"}};
constexpr std::array kBackends = {Name{"vllm", "vllm"}, Name{"trtllm", "trtllm"}, Name{"sglang", "sglang"}};

template <std::size_t N>
std::string renamed(const traces::CsvTable& table, std::size_t column, const std::array<Name, N>& names) {
  const auto found = std::ranges::find(names, table.text(column), &Name::theirs);
  if (found != names.end()) return std::string(found->ours);
  table.error(column, fmt::format("'{}' is not known here", table.text(column)));
  return {};
}

// The whole number behind `key` in the text: "tp" in "..._tp4_ep1_190" gives 4.
std::optional<int> number_behind(std::string_view text, std::string_view key) {
  const std::size_t place = text.find(key);
  if (place == std::string_view::npos) return std::nullopt;
  const char* begin = text.data() + place + key.size();
  int number = 0;
  if (std::from_chars(begin, text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

// The table gives the tensor-parallel degree of rows with expert parallelism multiplied by the expert-parallel degree,
// or as data parallelism; names of rows have it right.
models::ParallelPlan plan_of(std::string_view id, int tensor, int data, int expert) {
  const std::optional<int> named = number_behind(id, "_tp");
  const std::optional<int> named_experts = number_behind(id, "_ep");
  constexpr int kNode = 8;
  if (tensor == 1 && data > kNode) return {1, 1, expert, expert};  // attention in data parallel on all ranks
  if (named && named_experts) return {*named, 1, *named_experts, 1};
  return {tensor > kNode ? tensor / expert : tensor, 1, expert, 1};
}

// Whole benchmarks of Llama 1k/1k under TensorRT-LLM below eight GPUs let prompts wait for company.
bool waits_for_company(const Deployment& d) {
  return d.model == "llama-3.1-70b" && d.input <= 1024 && d.output <= 1024 && d.plan.tensor < 8;
}

std::string batcher_of(const Deployment& d) {
  if (d.backend == "vllm")
    return fmt::format(
        "{{policy: vllm_v1, max_num_seqs: {}, max_num_batched_tokens: 8192, enable_prefix_caching: false}}",
        d.concurrency);
  if (d.backend == "sglang")
    return fmt::format("{{policy: sglang, max_running_requests: {}, radix_cache: false}}", d.concurrency);
  std::int64_t budget = 20'000;
  if (d.model == "llama-3.1-70b") budget = d.input + d.output;
  if (d.model.starts_with("deepseek")) budget = std::max<std::int64_t>(8192, d.input + d.concurrency + 64);
  return fmt::format("{{policy: trtllm, max_batch_size: {}, max_num_tokens: {}{}}}", d.concurrency, budget,
                     waits_for_company(d) ? ", batch_wait_steps: 20, batch_wait_share: 0.9" : "");
}

std::string memory_of(const Deployment& d) {
  if (d.backend != "trtllm") return "gpu_memory_utilization: 0.9";
  const double share = d.model.starts_with("deepseek") ? 0.75 : d.model == "gpt-oss-120b" ? 0.85 : 0.9;
  return fmt::format("gpu_memory_utilization: 1\n  kv_memory_share: {}", share);
}

std::string model_of(const Deployment& d) {
  if (d.model == "llama-3.1-70b")
    return "{preset: llama-3.1-70b, weights: fp8, embeddings: bf16, activations: fp8, kv: fp8}";
  return d.model;
}

}  // namespace

std::vector<Deployment> read_deployments(const std::string& path, Diagnostics& diagnostics) {
  enum Column { kId, kSource, kBackend, kModel, kSystem, kInput, kOutput, kTensor, kData, kExpert, kTtft, kTpot };
  traces::CsvTable table(path,
                         {{"id"},
                          {"silicon_data_source"},
                          {"backend"},
                          {"model_path"},
                          {"system"},
                          {"isl"},
                          {"osl"},
                          {"tp_size"},
                          {"attention_dp_size"},
                          {"moe_ep_size"},
                          {"silicon_ttft_ms"},
                          {"silicon_tpot_ms"}},
                         diagnostics,
                         {"backend_version", "precision", "mode", "gemm_quant_mode", "moe_quant_mode", "batch_size",
                          "pp_size", "moe_tp_size", "prefill_", "decode_"});
  std::vector<Deployment> deployments;
  while (table.next()) {
    Deployment d;
    d.id = table.text(kId);
    d.backend = renamed(table, kBackend, kBackends);
    d.model = renamed(table, kModel, kModels);
    d.device = renamed(table, kSystem, kDevices);
    d.input = table.whole(kInput, 1).value_or(1);
    d.output = table.whole(kOutput, 2).value_or(2);
    d.plan = plan_of(d.id, static_cast<int>(table.whole(kTensor, 1).value_or(1)),
                     static_cast<int>(table.whole(kData, 1).value_or(1)),
                     static_cast<int>(table.whole(kExpert, 1).value_or(1)));
    const std::optional<int> clients = number_behind(table.text(kSource), "silicon_concurrency=");
    if (!clients) table.error(kSource, "no 'silicon_concurrency=' in the source");
    d.concurrency = clients.value_or(1);
    d.ttft_s = table.positive(kTtft).value_or(1) / 1e3;
    d.tpot_s = table.positive(kTpot).value_or(1) / 1e3;
    deployments.push_back(std::move(d));
  }
  return deployments;
}

std::vector<Exclusion> read_exclusions(const std::string& path, Diagnostics& diagnostics) {
  traces::CsvTable table(path, {{"id"}, {"reason"}}, diagnostics);
  std::vector<Exclusion> exclusions;
  while (table.next()) exclusions.push_back({std::string(table.text(0)), std::string(table.text(1))});
  return exclusions;
}

std::string scenario_text(const Deployment& d) {
  const auto lengths = [](std::int64_t longest) {
    return fmt::format("{{kind: uniform, min: {}, max: {}}}", longest * 8 / 10, longest);
  };
  return fmt::format(
      "schema: scenario/1\n"
      "model: {}\n"
      "hardware: {{devices: [{{preset: {}, count: {}}}]}}\n"
      "serving:\n"
      "  tensor_parallel: {}\n"
      "  expert_parallel: {}\n"
      "  data_parallel: {}\n"
      "  batcher: {}\n"
      "  {}\n"
      "  max_model_len: {}\n"
      "  front_end: {{per_call: 10 ms, per_token: 4.5 us}}\n"
      "workload:\n"
      "  tokens: random\n"
      "  arrivals: {{kind: closed_loop, users: {}}}\n"
      "  stream: {{kind: lengths, prompt: {}, output: {}}}\n"
      "  requests: {}\n",
      model_of(d), d.device, d.plan.all_devices(), d.plan.tensor, d.plan.expert, d.plan.data, batcher_of(d),
      memory_of(d), d.input + d.output, d.concurrency, lengths(d.input), lengths(d.output), 10 * d.concurrency);
}

double DeploymentPoint::rate(double ttft, double tpot) const {
  const auto tokens = static_cast<double>(deployment.output);
  return static_cast<double>(deployment.concurrency) * tokens / (ttft + tpot * (tokens - 1));
}

std::optional<DeploymentPoint> simulate(const Deployment& deployment, const std::vector<std::string>& overrides,
                                        const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  auto source = std::make_shared<SourceText>();
  source->name = deployment.id;
  source->text = scenario_text(deployment);
  const YamlNode root = read_yaml(source, diagnostics);
  const auto scenario = scenario::read_scenario(root, {}, overrides, std::nullopt, catalogs, diagnostics);
  if (!scenario) return std::nullopt;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  const result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  const result::Percentiles *ttft = result.latency["ttft_s"], *tpot = result.latency["tpot_s"];
  if (!ttft || !tpot) {
    diagnostics.error({}, deployment.id + ": no request was answered");
    return std::nullopt;
  }
  DeploymentPoint point;
  point.deployment = deployment;
  point.ttft_s = ttft->mean;
  point.tpot_s = tpot->mean;
  point.time_share = result.time_share;
  return point;
}

std::vector<DeploymentPoint> simulate_deployments(const std::string& table, const std::string& exclusions,
                                                  const std::function<bool(const Deployment&)>& wanted,
                                                  const std::vector<std::string>& overrides,
                                                  const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  std::map<std::string, std::string> reasons;
  for (Exclusion& e : read_exclusions(exclusions, diagnostics)) reasons.emplace(std::move(e.id), std::move(e.reason));
  std::vector<DeploymentPoint> points;
  for (const Deployment& deployment : read_deployments(table, diagnostics)) {
    if (diagnostics.has_errors()) break;
    if (!wanted(deployment)) continue;
    auto point = simulate(deployment, overrides, catalogs, diagnostics);
    if (!point) continue;
    if (const auto reason = reasons.find(deployment.id); reason != reasons.end()) point->excluded = reason->second;
    points.push_back(std::move(*point));
  }
  return points;
}

DeploymentErrors compare(const std::vector<DeploymentPoint>& points) {
  std::vector<Pair> ttft, tpot, rate;
  std::map<std::int64_t, std::vector<Pair>> by_concurrency;
  for (const DeploymentPoint& p : points) {
    if (p.excluded) continue;
    ttft.push_back({p.deployment.id, p.ttft_s, p.deployment.ttft_s});
    tpot.push_back({p.deployment.id, p.tpot_s, p.deployment.tpot_s});
    rate.push_back({p.deployment.id, p.predicted_rate(), p.measured_rate()});
    by_concurrency[p.deployment.concurrency].push_back(rate.back());
  }
  DeploymentErrors errors{compare("ttft", "s", ttft), compare("tpot", "s", tpot), compare("rate", "tokens/s", rate)};
  for (const auto& [concurrency, pairs] : by_concurrency) {
    if (pairs.size() < kLeastRowsToRank) continue;
    const std::optional<double> rank = compare("rate", "tokens/s", pairs).rank;
    errors.least_rank_at_one_level = std::min(errors.least_rank_at_one_level, rank.value_or(0));
  }
  return errors;
}

}  // namespace llmscape::validation
