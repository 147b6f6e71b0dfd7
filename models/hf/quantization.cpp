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
  config.error(key, name.empty() ? "'torch_dtype' is missing" : fmt::format("unknown data type '{}'", name),
               "known: bfloat16, float16, float32");
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
                        : floating            ? *format_named("nvfp4")
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

struct Method {
  std::string_view name;
  void (*read)(ConfigReader&, Precision&);
};
constexpr Method kMethods[] = {{"fp8", read_fp8},      {"fbgemm_fp8", read_fp8},
                               {"gptq", read_grouped}, {"awq", read_grouped},
                               {"mxfp4", read_mxfp4},  {"compressed-tensors", read_compressed_tensors}};

}  // namespace

Precision precision_of(ConfigReader& typed, ConfigReader& quantised, std::string_view unnamed_type) {
  const Format stored = data_type_of(typed, unnamed_type);
  Precision precision{stored, stored, stored, {}, {}};
  const YamlNode* quantization = quantised.find("quantization_config");
  if (!quantization) return precision;
  ConfigReader reader(*quantization, quantised.diagnostics());
  const std::string name = reader.text("quant_method").value_or("");
  const auto method =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& m) { return m.name == name; });
  if (method == std::end(kMethods)) {
    std::vector<std::string> known;
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
