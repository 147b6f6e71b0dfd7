// SPDX-License-Identifier: Apache-2.0
#include "models/format.hpp"

#include <algorithm>

namespace llmscape::models {
namespace {

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {"fp32", 4},                 // IEEE 754 binary32
      {"bf16", 2},                 // bfloat16
      {"fp16", 2},                 // IEEE 754 binary16
      {"fp8", 1},                  // OCP OFP8 E4M3 or E5M2, one scale per tensor or channel
      {"fp8_block", 1, 16384, 4},  // DeepSeek-V3 (arXiv 2412.19437, 3.3): a 32-bit scale per 128 x 128 block
      {"int8", 1},                 // one scale per channel (SmoothQuant, arXiv 2211.10438)
      {"int4", 0.5, 128, 2},       // GPTQ (arXiv 2210.17323) and AWQ (arXiv 2306.00978): a 16-bit scale per 128
      {"int3", 0.375, 128, 2},     // GPTQ; packed without gaps
      {"int2", 0.25, 128, 2},      // GPTQ; KIVI (arXiv 2402.02750) stores keys and values so, with a zero point each
      {"fp4", 0.5, 16, 1},         // as nvfp4
      {"nvfp4", 0.5, 16, 1},       // NVIDIA Blackwell: E2M1, an FP8 scale per 16
      {"mxfp8", 1, 32, 1},         // OCP Microscaling 1.0: an E8M0 scale per 32
      {"mxfp6", 0.75, 32, 1},      // OCP Microscaling 1.0
      {"mxfp4", 0.5, 32, 1},       // OCP Microscaling 1.0; experts of GPT-OSS
      {"q8_0", 1, 32, 2},          // llama.cpp ggml-common.h, block_q8_0: a 16-bit scale per 32
      {"q4_0", 0.5, 32, 2},        // llama.cpp ggml-common.h, block_q4_0
  };
  return table;
}

}  // namespace

std::optional<Format> format_named(std::string_view name) {
  const auto& table = formats();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Format& format) { return format.name == name; });
  return found == table.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : formats()) names.push_back(format.name);
  return names;
}

void set_weights(ModelSpec& model, const Format& format) {
  Precision& precision = model.precision;
  precision.weights = format;
  precision.experts.reset();
  precision.embeddings.reset();
  precision.head.reset();
  precision.own_inputs.reset();
  precision.attention.reset();
  precision.attention_output.reset();
  for (LayerGroup& group : model.groups) {
    group.own_attention.reset();
    group.own_dense.reset();
  }
}

void set_activations(ModelSpec& model, const Format& format) {
  model.precision.activations = format;
  model.precision.own_inputs.reset();
}

void set_embeddings(ModelSpec& model, const Format& format) {
  model.precision.embeddings = format;
  model.precision.head.reset();
}

}  // namespace llmscape::models
