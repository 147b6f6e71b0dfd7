// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/vllm_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "base/quantity.hpp"

namespace llmscape::cli {
namespace {

using Meaning = VllmFlag::Meaning;

constexpr std::array kFlags = {
    VllmFlag{"--model", "", Meaning::model},
    VllmFlag{"--tensor-parallel-size", "tensor_parallel", Meaning::count},
    VllmFlag{"-tp", "tensor_parallel", Meaning::count},
    VllmFlag{"--pipeline-parallel-size", "pipeline_parallel", Meaning::count},
    VllmFlag{"-pp", "pipeline_parallel", Meaning::count},
    VllmFlag{"--data-parallel-size", "data_parallel", Meaning::count},
    VllmFlag{"-dp", "data_parallel", Meaning::count},
    VllmFlag{"--enable-expert-parallel", "", Meaning::expert_parallel},
    VllmFlag{"--max-model-len", "max_model_len", Meaning::tokens},
    VllmFlag{"--gpu-memory-utilization", "gpu_memory_utilization", Meaning::share},
    VllmFlag{"--block-size", "block_size", Meaning::count},
    VllmFlag{"--num-gpu-blocks-override", "kv_blocks", Meaning::count},
    VllmFlag{"--enforce-eager", "cuda_graphs", Meaning::no},
    VllmFlag{"--max-cudagraph-capture-size", "max_cudagraph_capture_size", Meaning::count},
    VllmFlag{"--max-num-seqs", "batcher.max_num_seqs", Meaning::count},
    VllmFlag{"--max-num-batched-tokens", "batcher.max_num_batched_tokens", Meaning::tokens},
    VllmFlag{"--long-prefill-token-threshold", "batcher.long_prefill_token_threshold", Meaning::tokens},
    VllmFlag{"--enable-chunked-prefill", "batcher.chunked_prefill", Meaning::yes},
    VllmFlag{"--no-enable-chunked-prefill", "batcher.chunked_prefill", Meaning::no},
    VllmFlag{"--enable-prefix-caching", "batcher.enable_prefix_caching", Meaning::yes},
    VllmFlag{"--no-enable-prefix-caching", "batcher.enable_prefix_caching", Meaning::no},
    VllmFlag{"--stream-interval", "engine.stream_interval", Meaning::count},
    VllmFlag{"--async-scheduling", "batcher.async_scheduling", Meaning::yes},
    VllmFlag{"--no-async-scheduling", "batcher.async_scheduling", Meaning::no},
    VllmFlag{"--speculative-config", "", Meaning::speculation},
    VllmFlag{"--compilation-config", "", Meaning::compilation},
    VllmFlag{"-cc", "", Meaning::compilation},
    VllmFlag{"--kv-transfer-config", "", Meaning::kv_transfer},
    VllmFlag{"--kv-offloading-size", "", Meaning::kv_offloading},
    VllmFlag{"--kv-offloading-backend", "", Meaning::value_without_effect},
    VllmFlag{"--enable-lora", "", Meaning::lora},
    VllmFlag{"--max-loras", "", Meaning::max_loras},
    VllmFlag{"--max-lora-rank", "", Meaning::max_lora_rank},
    VllmFlag{"--lora-modules", "", Meaning::lora_modules},
    VllmFlag{"--decode-context-parallel-size", "decode context parallelism", Meaning::only_one},
    VllmFlag{"-dcp", "decode context parallelism", Meaning::only_one},
    VllmFlag{"--prefill-context-parallel-size", "prefill context parallelism", Meaning::only_one},
    VllmFlag{"-pcp", "prefill context parallelism", Meaning::only_one},
    VllmFlag{"--cpu-offload-gb", "keeping weights in host memory", Meaning::only_one},
    VllmFlag{"--runner", "", Meaning::generates_text},
    VllmFlag{"--task", "", Meaning::generates_text},
    VllmFlag{"--quantization", "", Meaning::weights},
    VllmFlag{"-q", "", Meaning::weights},
    VllmFlag{"--dtype", "", Meaning::activations},
    VllmFlag{"--kv-cache-dtype", "", Meaning::kv},
    VllmFlag{"--host", "", Meaning::value_without_effect},
    VllmFlag{"--port", "", Meaning::value_without_effect},
    VllmFlag{"--api-key", "", Meaning::value_without_effect},
    VllmFlag{"--api-server-count", "", Meaning::value_without_effect},
    VllmFlag{"--served-model-name", "", Meaning::value_without_effect},
    VllmFlag{"--tokenizer", "", Meaning::value_without_effect},
    VllmFlag{"--tokenizer-mode", "", Meaning::value_without_effect},
    VllmFlag{"--revision", "", Meaning::value_without_effect},
    VllmFlag{"--download-dir", "", Meaning::value_without_effect},
    VllmFlag{"--load-format", "", Meaning::value_without_effect},
    VllmFlag{"--chat-template", "", Meaning::value_without_effect},
    VllmFlag{"--generation-config", "", Meaning::value_without_effect},
    VllmFlag{"--tool-call-parser", "", Meaning::value_without_effect},
    VllmFlag{"--reasoning-parser", "", Meaning::value_without_effect},
    VllmFlag{"--uvicorn-log-level", "", Meaning::value_without_effect},
    VllmFlag{"--distributed-executor-backend", "", Meaning::value_without_effect},
    VllmFlag{"--seed", "", Meaning::value_without_effect},
    VllmFlag{"--swap-space", "", Meaning::value_without_effect},
    VllmFlag{"--limit-mm-per-prompt", "", Meaning::value_without_effect},
    VllmFlag{"--trust-remote-code", "", Meaning::without_effect},
    VllmFlag{"--disable-log-requests", "", Meaning::without_effect},
    VllmFlag{"--no-enable-log-requests", "", Meaning::without_effect},
    VllmFlag{"--disable-log-stats", "", Meaning::without_effect},
    VllmFlag{"--disable-uvicorn-access-log", "", Meaning::without_effect},
    VllmFlag{"--enable-auto-tool-choice", "", Meaning::without_effect},
};

struct Spelling {
  std::string_view theirs, ours;
};
constexpr std::array kQuantizations = {
    Spelling{"fp8", "fp8"},     Spelling{"awq", "int4"},         Spelling{"awq_marlin", "int4"},
    Spelling{"gptq", "int4"},   Spelling{"gptq_marlin", "int4"}, Spelling{"bitsandbytes", "int4"},
    Spelling{"mxfp4", "mxfp4"},
};
// Of hidden states: 16 bits are what models have anyway, and say nothing of the inputs of quantised weights.
constexpr std::array kDtypes = {Spelling{"auto", ""}, Spelling{"bfloat16", ""},    Spelling{"float16", ""},
                                Spelling{"half", ""}, Spelling{"float32", "fp32"}, Spelling{"float", "fp32"}};
constexpr std::array kKvDtypes = {Spelling{"auto", ""}, Spelling{"fp8", "fp8"}, Spelling{"fp8_e4m3", "fp8"},
                                  Spelling{"fp8_e5m2", "fp8"}};

}  // namespace

const VllmFlag* vllm_flag(std::string_view name) {
  const auto found = std::ranges::find(kFlags, name, &VllmFlag::name);
  return found == kFlags.end() ? nullptr : &*found;
}

std::vector<std::string> vllm_flag_names() {
  std::vector<std::string> names;
  for (const VllmFlag& flag : kFlags) names.emplace_back(flag.name);
  return names;
}

std::optional<std::string_view> vllm_format(Meaning meaning, std::string_view name) {
  const std::span<const Spelling> spellings = meaning == Meaning::weights ? std::span<const Spelling>(kQuantizations)
                                              : meaning == Meaning::activations ? std::span<const Spelling>(kDtypes)
                                                                                : std::span<const Spelling>(kKvDtypes);
  const auto found = std::ranges::find(spellings, name, &Spelling::theirs);
  return found == spellings.end() ? std::nullopt : std::optional(found->ours);
}

std::optional<std::string> vllm_tokens(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1}, {"k", 1e3}, {"m", 1e6}, {"K", 1024}, {"M", 1048576}}};
  const auto known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (failure != std::errc() || known == kUnits.end()) return std::nullopt;
  const double tokens = number * known->second;
  if (!(tokens >= 1) || tokens > 1e12 || tokens != std::floor(tokens)) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(tokens));
}

std::optional<std::string> vllm_share(std::string text) {
  if (text.starts_with('.')) text.insert(0, 1, '0');
  const auto read = parse_quantity(text, Dimension::number);
  const double* share = std::get_if<double>(&read);
  return share && *share > 0 && *share <= 1 ? std::optional(std::move(text)) : std::nullopt;
}

bool is_vllm_count(const std::string& text) {
  return !text.empty() && text.size() <= 7 && text.find_first_not_of("0123456789") == std::string::npos &&
         std::stoll(text) >= 1 && std::stoll(text) <= 1'000'000;
}

}  // namespace llmscape::cli
