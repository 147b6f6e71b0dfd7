// SPDX-License-Identifier: Apache-2.0
#include "hardware/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hardware/device.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

namespace llmscape::hardware {
namespace {

using models::Format;

constexpr double kSixteenBits = 2;  // bytes

enum class Units { none, int8, fp8, fp4 };

// What engines multiply weights of a format with, where the device has the units; 16-bit inputs elsewhere, the weights
// being widened on the way (W8A16, W4A16).
struct Rule {
  std::string_view weights;
  Units units;
  std::string_view inputs;  // empty: 16 bits always
};
constexpr std::array kRules = {
    // vLLM's fp8 and compressed-tensors, SGLang, TensorRT-LLM: W8A8 with dynamic scales from compute capability 8.9
    // (Ada, Hopper) on, Marlin W8A16 on Ampere (docs.vllm.ai, quantization/fp8).
    Rule{"fp8", Units::fp8, "fp8"},
    Rule{"fp8_block", Units::fp8, "fp8"},
    Rule{"mxfp8", Units::fp4, "mxfp8"},  // the block-scaled units came with those of fp4 (Blackwell)
    // NVFP4: W4A4 on Blackwell, Marlin W4A16 before (vLLM, modelopt).
    Rule{"nvfp4", Units::fp4, "nvfp4"},
    Rule{"fp4", Units::fp4, "nvfp4"},
    // One scale per channel, as SmoothQuant stores them, means W8A8; GPTQ's 8 bits are W8A16, and a checkpoint says so.
    Rule{"int8", Units::int8, "int8"},
    // GPT-OSS: vLLM's default is W4A16 on Blackwell too (its W4A8 is asked for: `activations: mxfp8`).
    Rule{"mxfp4", Units::none, ""},
    Rule{"int4", Units::none, ""},  // AWQ, GPTQ
    Rule{"q8_0", Units::none, ""},  // llama.cpp
    Rule{"q4_0", Units::none, ""},
};

// Weights that engines' kernels widen on GPUs of compute capability 8.0 on: Marlin (int4, int8, fp8, nvfp4, mxfp4 in
// vLLM), llama.cpp.
constexpr std::array<std::string_view, 10> kWidened = {"int8", "int4",  "fp8",   "fp8_block", "mxfp8",
                                                       "fp4",  "nvfp4", "mxfp4", "q8_0",      "q4_0"};

bool narrow(const Format& format) { return format.bytes < kSixteenBits; }
bool four_bit_float(const Format& format) {
  return format.name == "fp4" || format.name == "nvfp4" || format.name == "mxfp4";
}
bool integers(const Format& format) { return format.name.starts_with("int"); }

Units units_of(const Format& inputs) {
  if (!narrow(inputs)) return Units::none;
  if (integers(inputs)) return Units::int8;
  return four_bit_float(inputs) || inputs.name.starts_with("mx") ? Units::fp4 : Units::fp8;
}

bool has(const Arithmetic& arithmetic, Units units) {
  switch (units) {
    case Units::int8: return arithmetic.int8;
    case Units::fp8: return arithmetic.fp8;
    case Units::fp4: return arithmetic.fp4;
    default: return true;
  }
}

bool widens(const Arithmetic& arithmetic, const Format& weights) {
  if (!arithmetic.widens.empty()) return std::ranges::find(arithmetic.widens, weights.name) != arithmetic.widens.end();
  return std::ranges::find(kWidened, weights.name) != kWidened.end();
}

// Integers with floating point of eight bits: no unit takes one of each. Four bits are widened to either.
bool unlike(const Format& weights, const Format& inputs) {
  return weights.bytes >= 1 && narrow(weights) && integers(weights) != integers(inputs);
}

// The narrow weights of GEMMs, dense, of attention and of experts, each once.
std::vector<Format> narrow_weights(const models::Precision& precision) {
  std::vector<Format> all;
  for (const Format& weights :
       {precision.weights, precision.attention_weights(), precision.output_weights(), precision.expert_weights()})
    if (narrow(weights) && std::ranges::find(all, weights.name, &Format::name) == all.end()) all.push_back(weights);
  return all;
}

Format by_rule(const Arithmetic& arithmetic, const Format& weights) {
  const auto rule = std::ranges::find(kRules, weights.name, &Rule::weights);
  if (rule == kRules.end() || rule->inputs.empty() || !has(arithmetic, rule->units)) return {};
  return *models::format_named(rule->inputs);
}

// Whether the format was made to be multiplied with narrow inputs.
bool meant_for_narrow_inputs(const Format& weights) {
  const auto rule = std::ranges::find(kRules, weights.name, &Rule::weights);
  return rule != kRules.end() && !rule->inputs.empty();
}

class Served {
 public:
  Served(const Device& device, const Arithmetic& arithmetic, const models::Precision& asked, ActivationsBy by)
      : device_(device), arithmetic_(arithmetic), weights_(narrow_weights(asked)) {
    served_.precision = asked;
    if (by == ActivationsBy::user) take_users();
    else if (by == ActivationsBy::engine) take_engines();
    else take_checkpoints();
    check_weights(by);
    check_kv();
  }
  ServedPrecision take() { return std::move(served_); }

 private:
  void take_users() {
    const Format& inputs = served_.precision.activations;
    if (!narrow(inputs)) return;
    if (weights_.empty())
      served_.problems.push_back(
          fmt::format("'activations: {}' has no effect: no engine quantises the inputs of {} "
                      "weights",
                      inputs.name, served_.precision.weights.name));
    else if (!has(arithmetic_, units_of(inputs)))
      served_.problems.push_back(
          fmt::format("'{}' does not multiply {} inputs: leave 'activations' out, and {} weights "
                      "are widened to 16 bits",
                      device_.name, inputs.name, weights_.front().name));
    else if (std::ranges::any_of(weights_, [&](const Format& weights) { return unlike(weights, inputs); }))
      served_.problems.push_back(
          fmt::format("nothing multiplies {} weights with {} inputs: one is of integers, the "
                      "other of floating point",
                      weights_.front().name, inputs.name));
  }

  void take_engines() {
    if (weights_.empty()) {
      if (narrow(served_.precision.activations)) served_.precision.activations = {};
      return;
    }
    const Format inputs = by_rule(arithmetic_, weights_.front());
    const bool alike = std::ranges::all_of(
        weights_, [&](const Format& weights) { return by_rule(arithmetic_, weights).name == inputs.name; });
    if (!alike)
      served_.emulated.push_back(
          fmt::format("weights in {} and in {} are multiplied with unlike inputs by engines; "
                      "here all with 16 bits, unless 'activations' says more",
                      weights_.front().name, weights_.back().name));
    if (alike && narrow(inputs)) served_.precision.activations = inputs;
    else if (narrow(served_.precision.activations)) served_.precision.activations = {};
  }

  void take_checkpoints() {
    take_inputs(served_.precision.activations);
    if (served_.precision.own_inputs) take_inputs(served_.precision.own_inputs->inputs);
  }

  void take_inputs(Format& inputs) {
    if (!narrow(inputs) || has(arithmetic_, units_of(inputs))) return;
    served_.emulated.push_back(
        fmt::format("the checkpoint's {} inputs are taken at 16 bits: '{}' does not multiply "
                    "{}",
                    inputs.name, device_.name, inputs.name));
    inputs = {};
  }

  void check_weights(ActivationsBy by) {
    for (const Format& weights : weights_) {
      if (narrow(models::inputs_of(served_.precision, weights))) continue;
      if (!widens(arithmetic_, weights))
        served_.problems.push_back(fmt::format(
            "'{}' has no kernels for {} weights: it neither multiplies nor widens them", device_.name, weights.name));
      else if (by == ActivationsBy::engine && meant_for_narrow_inputs(weights))
        served_.emulated.push_back(
            fmt::format("'{}' does not multiply {}: weights are widened to 16 bits on the way "
                        "to the GEMM (W{:.0f}A16): their bytes, but bf16's arithmetic",
                        device_.name, weights.name, 8 * weights.bytes));
    }
  }

  void check_kv() {
    const models::KvFormat& both = served_.precision.kv;
    check_kv(both.keys);
    if (both.values.name != both.keys.name) check_kv(both.values);
  }

  void check_kv(const Format& kv) {
    if (four_bit_float(kv) && !arithmetic_.fp4)
      served_.problems.push_back(
          fmt::format("'{}' has no kernels for KV in {}: that needs units for fp4", device_.name, kv.name));
    else if (narrow(kv) && !integers(kv) && !kv.name.starts_with("q") && !arithmetic_.fp8)
      served_.emulated.push_back(
          fmt::format("KV entries in {} are widened to 16 bits by '{}' as they are read", kv.name, device_.name));
  }

  const Device& device_;
  const Arithmetic& arithmetic_;
  std::vector<Format> weights_;
  ServedPrecision served_;
};

}  // namespace

ServedPrecision served_precision(const Device& device, const models::Precision& asked, ActivationsBy by) {
  const auto arithmetic = device.arithmetic();
  if (arithmetic) return Served(device, *arithmetic, asked, by).take();
  ServedPrecision served{asked, {}, {}};
  if (by == ActivationsBy::engine && narrow_weights(asked).empty() && narrow(asked.activations))
    served.precision.activations = {};
  const Format& inputs = served.precision.activations;
  if (narrow(inputs) && device.computes_as_wider(inputs))
    served.emulated.push_back(
        fmt::format("'{}' states no rate for GEMMs of {} inputs: they have their bytes, but "
                    "bf16's arithmetic",
                    device.name, inputs.name));
  if (by != ActivationsBy::engine || narrow(inputs)) return served;
  for (const Format& weights : narrow_weights(asked)) {
    const auto rule = std::ranges::find(kRules, weights.name, &Rule::weights);
    if (rule == kRules.end() || rule->inputs.empty() || !device.has_rate_for(*models::format_named(rule->inputs)))
      continue;
    served.emulated.push_back(fmt::format(
        "'{}' takes {} weights as asked for: widened to bf16 (W{:.0f}A16); its rate for {} inputs is used with "
        "'activations: {}', which GPUs do by themselves",
        device.name, weights.name, 8 * weights.bytes, rule->inputs, rule->inputs));
  }
  return served;
}

std::string in_words(const models::Precision& p) {
  std::string out = "weights " + p.weights.name;
  if (p.attention_weights().name != p.weights.name) out += ", attention " + p.attention_weights().name;
  if (p.output_weights().name != p.attention_weights().name) out += " (its output " + p.output_weights().name + ")";
  if (p.expert_weights().name != p.weights.name) out += ", experts " + p.expert_weights().name;
  if (p.embedding_weights().name != p.weights.name) out += ", embeddings " + p.embedding_weights().name;
  if (p.head_weights().name != p.embedding_weights().name) out += ", head " + p.head_weights().name;
  out += ", activations " + p.activations.name;
  if (p.own_inputs)
    out += fmt::format(" ({} beside {} weights)", p.own_inputs->inputs.name, p.own_inputs->weights.name);
  return fmt::format("{}, KV {}", out, p.kv.name());
}

}  // namespace llmscape::hardware
