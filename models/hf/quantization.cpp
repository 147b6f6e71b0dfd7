// SPDX-License-Identifier: Apache-2.0
#include "models/hf/quantization.hpp"

#include "models/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace llmscape::models::hf {
namespace {

struct DataType {
  std::string_view torch, format;
};
constexpr DataType kDataTypes[] = {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"}};

Format data_type_of(ConfigReader& config, std::string_view unnamed_type) {
  const std::string_view key = config.has("dtype") ? "dtype" : "torch_dtype";
  const std::string name = config.has(key) ? config.text(key).value_or("") : std::string(unnamed_type);
  const auto found = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                  [&](const DataType& type) { return type.torch == name; });
  if (found != std::end(kDataTypes)) return *format_named(found->format);
  if (!config.has(key)) {
    config.diagnostics().warning(config.node().where, "no 'dtype' or 'torch_dtype': bfloat16 is taken");
    return *format_named("bf16");
  }
  config.error(key, fmt::format("unknown data type '{}'", name), "known: bfloat16, float16, float32");
  return {};
}

// Integers of `bits` with a 16-bit scale and a zero point as wide as a weight for each group; one group per column (0
// here) is too long for its scales to count.
Format grouped_integers(std::int64_t bits, std::int64_t group, bool zero_points) {
  Format format;
  format.name = fmt::format("int{}", bits);
  format.bytes = static_cast<double>(bits) / 8;
  format.group = static_cast<int>(group);
  format.scale_bytes = group > 0 ? 2 + (zero_points ? format.bytes : 0) : 0;
  return format;
}

std::int64_t bits_of(ConfigReader& config, std::string_view key) {
  const std::int64_t bits = config.integer(key);
  if (bits > 8) config.error(key, fmt::format("'{}' must be at most 8, not {}", key, bits));
  return bits;
}

// -1 means one group per column.
std::int64_t group_of(ConfigReader& config) {
  const YamlNode* value = config.find("group_size");
  return !value || value->text == "-1" ? 0 : config.integer("group_size");
}

constexpr std::int64_t kLargestBlock = 1 << 30;  // from here on scales do not count

// Weights, and inputs of the GEMMs where they are quantised too.
void read_fp8(ConfigReader& config, Precision& precision) {
  precision.weights = *format_named("fp8");
  if (config.has("weight_block_size")) {
    precision.weights = *format_named("fp8_block");
    std::int64_t elements = 1;
    for (const std::int64_t side : config.integers("weight_block_size"))
      elements = std::min(elements * side, kLargestBlock);
    precision.weights.group = static_cast<int>(elements);
  }
  precision.activations = *format_named("fp8");
}

void read_grouped(ConfigReader& config, Precision& precision) {
  precision.weights = grouped_integers(bits_of(config, "bits"), group_of(config), true);
}

void read_mxfp4(ConfigReader&, Precision& precision) { precision.experts = *format_named("mxfp4"); }

// Whether the list of modules that are left as they are names the attention: then only routed experts are quantised.
bool leaves_attention(ConfigReader& config) {
  const YamlNode* ignored = config.find("ignore");
  return ignored && std::any_of(ignored->items.begin(), ignored->items.end(), [](const YamlNode& module) {
           return module.text.find("self_attn") != std::string::npos;
         });
}

// config_groups.<first>.weights and .input_activations of the compressed-tensors library.
void read_compressed_tensors(ConfigReader& config, Precision& precision) {
  const YamlNode* groups = config.find("config_groups");
  const YamlNode* weights =
      groups && !groups->entries.empty() ? groups->entries.front().value.find("weights") : nullptr;
  if (!weights || !weights->is_mapping())
    return config.error("config_groups", "'config_groups' must name the weights' format");
  ConfigReader reader(*weights, config.diagnostics());
  const std::int64_t bits = bits_of(reader, "num_bits");
  const bool floating = reader.text("type") == "float";
  const Format stored = floating && bits == 8 ? *format_named("fp8")
                        : floating            ? *format_named(group_of(reader) == 32 ? "mxfp4" : "nvfp4")
                                   : grouped_integers(bits, group_of(reader), !reader.flag("symmetric", true));
  if (leaves_attention(config)) {
    precision.experts = stored;
  } else {
    precision.weights = stored;
  }
  const YamlNode* inputs = groups->entries.front().value.find("input_activations");
  if (inputs && inputs->is_mapping()) {
    ConfigReader input_reader(*inputs, config.diagnostics());
    const bool eight_bits = bits_of(input_reader, "num_bits") == 8;
    precision.activations =
        *format_named(input_reader.text("type") == "float" ? (eight_bits ? "fp8" : "nvfp4") : "int8");
  }
}

// A module of this list names all of the attention of some layer, or its output projection.
bool leaves_whole_attention(const YamlNode* modules) {
  constexpr std::string_view kWhole[] = {"self_attn*", "self_attn.o_proj", "linear_attn*", "linear_attn.out_proj"};
  return modules && std::ranges::any_of(modules->items, [&](const YamlNode& module) {
           return std::ranges::any_of(
               kWhole, [&](std::string_view part) { return module.text.find(part) != std::string::npos; });
         });
}

// NVIDIA's Model Optimizer: one algorithm for all linear layers but those that are left out, or one for each layer.
// Weights are told apart as routed experts and the rest: where a mixture's attention stays wide, so does the rest, of
// which shared experts and first dense layers may be narrower.
struct ModelOpt {
  static Format format_of(std::string_view algorithm) {
    return *format_named(algorithm == "FP8" ? "fp8" : algorithm == "FP8_PB_WO" ? "fp8_block" : "nvfp4");
  }
  static bool known(std::string_view algorithm) {
    return algorithm == "FP8" || algorithm == "FP8_PB_WO" || algorithm == "NVFP4" || algorithm == "W4A16_NVFP4";
  }
  static void read(ConfigReader& config, bool routed, Precision& precision) {
    const std::string algorithm = config.text("quant_algo").value_or("");
    if (algorithm == "MIXED_PRECISION") {
      read_layers(config, precision);
    } else if (known(algorithm)) {
      const YamlNode* left = config.find(config.has("ignore") ? "ignore" : "exclude_modules");
      const Format format = format_of(algorithm);
      const bool wide_attention = leaves_whole_attention(left);
      if (routed && wide_attention) precision.experts = format;
      else precision.weights = format;
      if (wide_attention && !routed)
        config.diagnostics().warning(
            left->where, "attention that stays wider than the feed-forward is not modelled: its weights are taken as " +
                             format.name + " too, which makes them too small");
      if (algorithm != "W4A16_NVFP4") precision.activations = format;
    } else {
      config.error("quant_algo", fmt::format("unknown algorithm '{}'", algorithm),
                   "known: FP8, NVFP4, W4A16_NVFP4, FP8_PB_WO, MIXED_PRECISION");
    }
    const YamlNode* scheme = config.find("kv_cache_scheme");
    if (config.text("kv_cache_quant_algo") == "FP8" || (scheme && (scheme->is_mapping() || scheme->text == "FP8")))
      precision.kv = *format_named("fp8");
  }

 private:
  // What the first expert and the first projection of an attention or of a state have stands for all.
  static void read_layers(ConfigReader& config, Precision& precision) {
    const YamlNode* layers = config.find("quantized_layers");
    if (!layers || !layers->is_mapping())
      return config.error("quantized_layers", "'quantized_layers' must name the layers' algorithms");
    for (const YamlNode::Entry& layer : layers->entries) {
      const YamlNode* algorithm = layer.value.find("quant_algo");
      if (!algorithm || !known(algorithm->text)) continue;
      const Format format = format_of(algorithm->text);
      const bool expert = layer.key.find(".experts") != std::string::npos;
      const bool attention =
          layer.key.find("attn") != std::string::npos || layer.key.find("mixer") != std::string::npos;
      if (expert && !precision.experts) precision.experts = format;
      if (!attention || precision.weights.bytes < 2) continue;
      precision.weights = format;
      if (algorithm->text != "W4A16_NVFP4") precision.activations = format;
    }
  }
};

struct Method {
  std::string_view name;
  void (*read)(ConfigReader&, Precision&);
};
constexpr Method kMethods[] = {{"fp8", read_fp8},      {"fbgemm_fp8", read_fp8},
                               {"gptq", read_grouped}, {"awq", read_grouped},
                               {"mxfp4", read_mxfp4},  {"compressed-tensors", read_compressed_tensors}};

}  // namespace

Precision precision_of(ConfigReader& typed, ConfigReader& quantised, const YamlNode* beside, bool routed,
                       std::string_view unnamed_type) {
  const Format stored = data_type_of(typed, unnamed_type);
  Precision precision{stored, stored, stored, {}, {}};
  const YamlNode* own = quantised.find("quantization_config");
  const YamlNode* quantization = beside ? beside : own;
  if (!quantization) return precision;
  ConfigReader reader(*quantization, quantised.diagnostics());
  const std::string name = reader.text("quant_method").value_or(reader.has("quant_algo") ? "modelopt" : "");
  if (name == "modelopt") {
    ModelOpt::read(reader, routed, precision);
    precision.embeddings = stored;
    return precision;
  }
  const auto method =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& m) { return m.name == name; });
  if (method == std::end(kMethods)) {
    std::vector<std::string> known = {"modelopt"};
    for (const Method& m : kMethods) known.emplace_back(m.name);
    reader.error("quant_method",
                 fmt::format("unknown quantisation method '{}'; known: {}", name, fmt::join(known, ", ")),
                 did_you_mean(name, known));
    return precision;
  }
  method->read(reader, precision);
  precision.embeddings = stored;
  return precision;
}

}  // namespace llmscape::models::hf
