// SPDX-License-Identifier: Apache-2.0
#include "traces/engine_kernels.hpp"

#include <algorithm>
#include <array>

namespace llmscape::traces {
namespace {

struct Framework {
  std::string_view name, engine;
};
constexpr std::array kFrameworks = {Framework{"VLLM", "vllm"}, Framework{"TRTLLM", "tensorrt_llm"},
                                    Framework{"SGLang", "sglang"}};

struct Rule {
  std::string_view engine, device, operation, part;  // parts of the names of device and kernel
  std::string_view why;
  bool watts_count = false;
};
// SGLang's `--attention-backend` is fa3 on Hopper and trtllm_mha on Blackwell, its `--moe-runner-backend` triton on
// Hopper and flashinfer_trtllm on Blackwell (server_args.py); the same shapes were timed with others too, and only rows
// of one backend belong together. vLLM runs its CUTLASS experts on Blackwell for the few models whose shapes the other
// kernels do not take, at half their rate. On Hopper the collector ran FlashInfer's CUTLASS experts with a scale for a
// tensor untuned: they take twice as long as those in bf16, whose weights have twice their bytes, and four times as
// long as the same library's with a scale for a block (medians over 13,256 and 198 shapes of an H100).
constexpr std::array kRules = {
    Rule{"sglang", "", "attention", "triton", "not the engine's default backend"},
    Rule{"sglang", "", "attention", "flashinfer", "not the engine's default backend"},
    Rule{"sglang", "H200", "moe", "sglang_flashinfer_cutlass", "not the engine's default backend"},
    Rule{"sglang", "B200", "moe", "sglang_fused_moe_triton", "not the engine's default backend"},
    Rule{"tensorrt_llm", "", "attention", "flashinfer", "not the engine's default backend"},
    Rule{"tensorrt_llm", "", "moe", "nongated", kTwoMatrices},
    Rule{"tensorrt_llm", "", "moe", "min_latency", "an option for one request at a time"},
    Rule{"", "", "moe", "situ_as_silu", "another model's activation"},
    Rule{"vllm", "NVIDIA H", "moe", "modeloptfp8moe_flashinfer_cutlass",
         "not tuned, as an engine does before it serves"},
    Rule{"vllm", "", "attention", "triton", "for heads that the other kernels do not take", true},
    Rule{"vllm", "B200", "moe", "flashinfer_cutlass", "for shapes that the other kernels do not take"},
    Rule{"vllm", "B200", "moe", "w4a4mxfp4moe_marlin", "for shapes that the other kernels do not take"},
};

}  // namespace

std::string engine_of_framework(std::string_view framework) {
  const auto* known = std::ranges::find(kFrameworks, framework, &Framework::name);
  return known == kFrameworks.end() ? std::string() : std::string(known->engine);
}

std::string_view passed_over(std::string_view engine, std::string_view device, std::string_view operation,
                             std::string_view kernel, bool with_watts) {
  for (const Rule& rule : kRules)
    if (!(with_watts && rule.watts_count) && (rule.engine.empty() || rule.engine == engine) &&
        device.find(rule.device) != std::string_view::npos &&
        operation.find(rule.operation) != std::string_view::npos && kernel.find(rule.part) != std::string_view::npos)
      return rule.why;
  return {};
}

PlacedRows placed_rows(std::string_view engine, std::string_view device, std::string_view kernel,
                       std::string_view format) {
  const auto named = [kernel](std::string_view part) { return kernel.find(part) != std::string_view::npos; };
  const bool routes = format == "fp8_block" || format == "mxfp4";  // trtllm-gen's kernels route tokens themselves
  if (engine == "tensorrt_llm") {
    if (named("cutlass") || named("deepgemm")) return PlacedRows::own;
    return format == "mxfp4" && device.find("B200") != std::string_view::npos ? PlacedRows::own_on_the_way_in
                                                                              : PlacedRows::all;
  }
  if (engine != "sglang" || !named("flashinfer_trtllm")) return PlacedRows::all;
  return routes ? PlacedRows::own_on_the_way_in : PlacedRows::own;
}

}  // namespace llmscape::traces
