// SPDX-License-Identifier: Apache-2.0
// Names and meanings: python/sglang/srt/server_args.py of 0.4 to 0.5.
#include "sim/cli/sglang_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/diagnostics.hpp"
#include "sim/cli/vllm_flags.hpp"

namespace llmscape::cli {
namespace {

using Meaning = VllmFlag::Meaning;

struct SglangKey {
  std::string_view theirs, ours;
};
constexpr std::array kServingKeys = {SglangKey{"ep_size", "expert_parallel"}, SglangKey{"pp_size", "pipeline_parallel"},
                                     SglangKey{"mem_fraction_static", "gpu_memory_utilization"},
                                     SglangKey{"context_length", "max_model_len"},
                                     SglangKey{"page_size", "block_size"}};
constexpr std::array kBatcherKeys = {SglangKey{"max_running_requests", "max_running_requests"},
                                     SglangKey{"chunked_prefill_size", "chunked_prefill_size"}};

// What changes a time and is not read, with the value that it has unless somebody chose another. None is neutral too.
constexpr std::array kNotRead = {std::pair("schedule_policy", "fcfs"),
                                 std::pair("schedule_conservativeness", "1.0"),
                                 std::pair("max_prefill_tokens", "16384"),
                                 std::pair("enable_mixed_chunk", "False"),
                                 std::pair("num_continuous_decode_steps", "1"),
                                 std::pair("speculative_algorithm", "None"),
                                 std::pair("disaggregation_mode", "null"),
                                 std::pair("cpu_offload_gb", "0"),
                                 std::pair("enable_hierarchical_cache", "False"),
                                 std::pair("enable_two_batch_overlap", "False"),
                                 std::pair("enable_torch_compile", "False"),
                                 std::pair("enable_lora", "False"),
                                 std::pair("lora_paths", "None"),
                                 std::pair("torchao_config", ""),
                                 std::pair("disable_custom_all_reduce", "False"),
                                 std::pair("moe_a2a_backend", "none"),
                                 std::pair("moe_dense_tp_size", "None"),
                                 std::pair("json_model_override_args", "{}")};

YamlNode written_value(std::string text) { return YamlNode::scalar(std::move(text)); }

class ArgumentReader {
 public:
  ArgumentReader(const std::map<std::string, std::string>& arguments, std::vector<std::string>& notes)
      : arguments_(arguments), notes_(notes) {}

  SglangArguments read() {
    ranks();
    for (const SglangKey& key : kServingKeys) copy(key, read_.serving);
    if (said("disable_cuda_graph")) read_.serving.set("cuda_graphs", written_value("false"));
    YamlNode batcher;
    batcher.set("policy", written_value("sglang"));
    for (const SglangKey& key : kBatcherKeys) copy(key, batcher);
    if (value("chunked_prefill_size") == "-1") uncut(batcher);
    if (said("disable_radix_cache")) batcher.set("radix_cache", written_value("false"));
    if (said("disable_overlap_schedule")) batcher.set("overlap_schedule", written_value("false"));
    read_.serving.set("batcher", std::move(batcher));
    if (const std::string text = value("stream_interval"); !text.empty()) {
      YamlNode engine;
      engine.set("stream_interval", written_value(text));
      read_.serving.set("engine", std::move(engine));
    }
    formats();
    for (const auto& [name, neutral] : kNotRead)
      if (const std::string text = value(name); !text.empty() && text != neutral)
        notes_.push_back(fmt::format("not modelled and left out: {} {}", name, text));
    return std::move(read_);
  }

 private:
  // -1: prompts are not cut, and those of a step have max_prefill_tokens together.
  void uncut(YamlNode& batcher) {
    const std::string most = value("max_prefill_tokens").empty() ? "16384" : value("max_prefill_tokens");
    batcher.set("chunked_prefill_size", written_value(most));
    notes_.push_back(
        fmt::format("assumed: chunked_prefill_size -1 does not cut prompts; only longer ones than "
                    "max_prefill_tokens ({}) are cut here",
                    most));
  }

  [[nodiscard]] std::string value(std::string_view name) const {
    const auto found = arguments_.find(std::string(name));
    return found == arguments_.end() || found->second == "None" ? std::string() : found->second;
  }

  [[nodiscard]] bool said(std::string_view name) const { return value(name) == "True"; }

  [[nodiscard]] std::int64_t whole(std::string_view name) const {
    const std::string text = value(name);
    std::int64_t number = 1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return std::max<std::int64_t>(1, number);
  }

  void copy(const SglangKey& key, YamlNode& to) const {
    if (const std::string text = value(key.theirs); !text.empty()) to.set(key.ours, written_value(text));
  }

  // Replicas of tp_size devices each; with attention in data-parallel ranks, ranks within tp_size devices.
  void ranks() {
    const std::int64_t tensor = whole("tp_size"), data = whole("dp_size");
    const bool within = said("enable_dp_attention") && data > 1;
    read_.devices = tensor * whole("pp_size") * (within ? 1 : data);
    const std::int64_t cut = within ? std::max<std::int64_t>(1, tensor / data) : tensor;
    if (!value("tp_size").empty()) read_.serving.set("tensor_parallel", written_value(std::to_string(cut)));
    if (within) read_.serving.set("data_parallel", written_value(std::to_string(data)));
    if (data == 1) return;
    const std::string balance = value("load_balance_method");
    if (balance.empty() || balance == "round_robin") read_.serving.set("router", written_value("round_robin"));
    else notes_.push_back(fmt::format("not modelled and left out: load_balance_method {}", balance));
  }

  // Many of SGLang's names for number formats are vLLM's.
  void formats() {
    const auto put = [&](std::string_view key, Meaning meaning, std::string_view theirs) {
      const std::string name = value(theirs);
      if (name.empty()) return;
      const auto format = vllm_format(meaning, name);
      if (!format)
        notes_.push_back(
            fmt::format("no number format is known for {} {}: the model's own is kept", theirs, in_quotes(name)));
      else if (!format->empty()) read_.formats.set(key, written_value(std::string(*format)));
    };
    put("weights", Meaning::weights, "quantization");
    if (read_.formats.find("weights")) read_.formats.set("embeddings", written_value("bf16"));
    put("activations", Meaning::activations, "dtype");
    put("kv", Meaning::kv, "kv_cache_dtype");
  }

  const std::map<std::string, std::string>& arguments_;
  std::vector<std::string>& notes_;
  SglangArguments read_;
};

}  // namespace

SglangArguments read_sglang_arguments(const std::map<std::string, std::string>& arguments,
                                      std::vector<std::string>& notes) {
  return ArgumentReader(arguments, notes).read();
}

}  // namespace llmscape::cli
