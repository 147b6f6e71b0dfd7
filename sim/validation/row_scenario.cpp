// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/yaml_lines.hpp"
#include "sim/validation/measured_rows.hpp"

namespace llmscape::validation {
namespace {

// How the batcher of an engine calls its limits.
struct LimitNames {
  std::string_view engine, sequences, tokens;
};
constexpr std::array kLimits = {LimitNames{"vllm", "max_num_seqs", "max_num_batched_tokens"},
                                LimitNames{"sglang", "max_running_requests", "chunked_prefill_size"},
                                LimitNames{"tensorrt_llm", "max_batch_size", "max_num_tokens"}};

class ScenarioWriter {
 public:
  ScenarioWriter(const MeasuredRow& row, RowKind kind, std::string& problem)
      : row_(row), kind_(kind), problem_(problem) {}

  std::optional<std::string> text() {
    std::string text = fmt::format(
        "schema: scenario/1\n"
        "model: {}\n"
        "hardware: {{devices: [{{preset: {}, count: {:.0f}}}]}}\n"
        "serving: {{{}}}\n"
        "workload: {{{}}}\n",
        model(), needed_text("hardware"), devices(), serving(), workload());
    if (!problem_.empty()) return std::nullopt;
    return text;
  }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  [[nodiscard]] std::optional<std::string> text_in(std::string_view column) const {
    const auto value = row_.value(column);
    return value ? std::optional(text_of(*value)) : std::nullopt;
  }
  std::string needed_text(std::string_view column) {
    if (auto text = text_in(column)) return yaml_scalar(*text);
    fail(fmt::format("column '{}' is missing or empty", column));
    return "";
  }
  std::optional<double> number_in(std::string_view column) {
    const auto value = row_.value(column);
    if (!value) return std::nullopt;
    const double* number = std::get_if<double>(&*value);
    if (number && std::isfinite(*number) && *number > 0) return *number;
    fail(fmt::format("'{}' must be a number above 0; got {}", column, in_quotes(text_of(*value))));
    return std::nullopt;
  }
  double needed(std::string_view column) {
    const auto number = number_in(column);
    if (!number) fail(fmt::format("column '{}' is missing or empty", column));
    return std::max(1.0, number.value_or(1));
  }

  std::string model() {
    const std::string name = needed_text("model");
    const bool file = name.find(".json") != name.npos || name.find(".yaml") != name.npos;
    std::string text = fmt::format("{{{}: {}", file ? "hf_config" : "preset", name);
    for (const char* format : {"weights", "embeddings", "activations", "kv"})
      if (const auto value = text_in(format)) text += fmt::format(", {}: {}", format, yaml_scalar(*value));
    return text + '}';
  }
  double devices() {
    return number_in("devices").value_or(number_in("tensor_parallel").value_or(1) *
                                         number_in("pipeline_parallel").value_or(1) *
                                         number_in("data_parallel").value_or(1));
  }

  static void add(std::string& list, std::string_view key, const std::string& value) {
    list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", key, value);
  }
  void add_number(std::string& list, std::string_view key, std::string_view column) {
    if (const auto number = number_in(column)) add(list, key, text_of(*number));
  }

  std::string serving() {
    std::string list;
    const auto engine = text_in("engine");
    if (engine) {
      std::string name;
      add(name, "name", yaml_scalar(*engine));
      if (const auto version = text_in("engine_version")) add(name, "version", yaml_scalar(*version, true));
      add(list, "engine", '{' + name + '}');
    }
    for (const char* degree : {"tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel"})
      add_number(list, degree, degree);
    add_number(list, "gpu_memory_utilization", "gpu_memory_utilization");
    const auto limits = std::ranges::find(kLimits, engine.value_or("vllm"), &LimitNames::engine);
    if (limits != kLimits.end()) {
      std::string batcher;
      add_number(batcher, limits->sequences, "max_num_seqs");
      add_number(batcher, limits->tokens, "max_num_batched_tokens");
      if (!batcher.empty()) add(list, "batcher", '{' + batcher + '}');
    }
    add(list, "max_model_len", text_of(number_in("max_model_len").value_or(longest())));
    return list;
  }
  double longest() {
    const double answer = needed(text_in("output_histogram") ? "longest_output" : "output_tokens");
    return std::max(2.0, std::ceil(needed("prompt_tokens") + answer));
  }
  // Bins may begin at 0.
  double shortest_output() {
    const auto value = row_.value("shortest_output");
    const double* number = value ? std::get_if<double>(&*value) : nullptr;
    return number && *number == 0 ? 0 : needed("shortest_output");
  }

  std::string lengths(std::string_view column) {
    const double longest = std::round(needed(column));
    const double share = std::min(1.0, number_in("shortest_share").value_or(1));
    if (share == 1) return fmt::format("{{kind: fixed, value: {:.0f}}}", longest);
    const double shortest = std::max(1.0, std::floor(share * longest + 1e-9));
    return fmt::format("{{kind: uniform, min: {:.0f}, max: {:.0f}}}", shortest, longest);
  }
  // Counts in bins of equal width, each at its middle.
  std::string histogram(const std::string& counts) {
    std::vector<std::string> bins;
    for (std::size_t at = 0, end = 0; at < counts.size(); at = end + 1) {
      end = std::min(counts.find(' ', at), counts.size());
      if (end > at) bins.push_back(counts.substr(at, end - at));
    }
    const double shortest = shortest_output(), longest = needed("longest_output");
    std::string values, weights;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const double middle = (static_cast<double>(i) + 0.5) / static_cast<double>(bins.size());
      values += fmt::format("{}{:.0f}", i == 0 ? "" : ", ", std::max(1.0, shortest + (longest - shortest) * middle));
      weights += (i == 0 ? "" : ", ") + bins[i];
    }
    return fmt::format("{{kind: empirical, values: [{}], weights: [{}]}}", values, weights);
  }
  std::string workload() {
    const auto counts = text_in("output_histogram");
    const auto lines = fmt::format("stream: {{kind: lengths, prompt: {}, output: {}}}", lengths("prompt_tokens"),
                                   counts ? histogram(*counts) : lengths("output_tokens"));
    if (kind_ == RowKind::batch) {
      const double batch = needed("batch");
      return fmt::format("arrivals: {{kind: closed_loop, users: {:.0f}}}, {}, requests: {:.0f}", batch, lines, batch);
    }
    const auto rate = number_in("rate_per_s");
    if (rate)
      return fmt::format("arrivals: {{kind: poisson, rate: {} /s}}, {}, requests: {:.0f}", text_of(*rate), lines,
                         number_in("requests").value_or(300));
    const double users = needed("users");
    return fmt::format("arrivals: {{kind: closed_loop, users: {:.0f}}}, {}, requests: {:.0f}", users, lines,
                       number_in("requests").value_or(10 * users));
  }

  const MeasuredRow& row_;
  RowKind kind_;
  std::string& problem_;
};

}  // namespace

const std::vector<RowColumn>& row_columns() {
  static const std::vector<RowColumn> columns = {
      {"name", "what the row is called in messages and lists"},
      {"model", "an entry of the models' catalogue, or a config.json (model.yaml) from the table's folder"},
      {"weights", "number format of the weights; absent: the model's own"},
      {"embeddings", "number format of the embeddings"},
      {"activations", "number format that products are computed in"},
      {"kv", "number format of the KV cache"},
      {"hardware", "an entry of the hardware catalogue, or a device file from the table's folder"},
      {"devices", "how many; absent: the product of tensor, pipeline and data parallel degrees"},
      {"engine", "vllm, sglang or tensorrt_llm"},
      {"engine_version", "0.19.1; absent: the newest that is known"},
      {"tensor_parallel", "degree"},
      {"pipeline_parallel", "degree"},
      {"expert_parallel", "degree"},
      {"data_parallel", "degree"},
      {"gpu_memory_utilization", "share of a device's memory that the engine may use"},
      {"max_model_len", "in tokens; absent: the longest prompt and answer of the row"},
      {"max_num_seqs", "most sequences of a step; SGLang: max_running_requests, TensorRT-LLM: max_batch_size"},
      {"max_num_batched_tokens", "most tokens of a step; SGLang: chunked_prefill_size, TensorRT-LLM: max_num_tokens"},
      {"prompt_tokens", "length of the prompts"},
      {"output_tokens", "length of the answers"},
      {"shortest_share", "lengths are uniform between this share of the two and these; absent: 1"},
      {"output_histogram", "instead: counts of answers in bins of equal width, separated by blanks"},
      {"shortest_output", "where the first bin begins"},
      {"longest_output", "where the last bin ends"},
      {"users", "of --deployments: calls that are under way at any time, a closed loop"},
      {"rate_per_s", "of --deployments, instead: calls a second, as a Poisson process"},
      {"requests", "calls in all; absent: 10 for each user, or 300"},
      {"batch", "of --batches: calls that are submitted at once"}};
  return columns;
}

std::optional<std::string> row_scenario(const MeasuredRow& row, RowKind kind, std::string& problem) {
  return ScenarioWriter(row, kind, problem).text();
}

}  // namespace llmscape::validation
