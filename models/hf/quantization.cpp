// SPDX-License-Identifier: Apache-2.0
#include "models/hf/quantization.hpp"

#include "models/format.hpp"
#include "models/hf/left_out.hpp"
#include "models/hf/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
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

// The modules that the configuration leaves as they were; nullptr: it has no such list.
const YamlNode* left_out(ConfigReader& config) {
  for (const std::string_view key : {"ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers"})
    if (const YamlNode* list = config.find(key)) return list;
  return nullptr;
}

// One scale per tensor or channel, or per block of the sides that the key lists.
Format eight_bit_floats(ConfigReader& config, std::string_view block_sides) {
  if (!config.has(block_sides)) return *format_named("fp8");
  Format blocks = *format_named("fp8_block");
  std::int64_t elements = 1;
  for (const std::int64_t side : config.integers(block_sides)) elements = std::min(elements * side, kLargestBlock);
  blocks.group = static_cast<int>(elements);
  return blocks;
}

// Weights, and inputs of the GEMMs where they are quantised too.
void read_fp8(ConfigReader& config, ModelSpec& model) {
  store(left_out(config), eight_bit_floats(config, "weight_block_size"), model, config.diagnostics());
  model.precision.activations = *format_named("fp8");
}

void read_grouped(ConfigReader& config, ModelSpec& model) {
  store(left_out(config), grouped_integers(bits_of(config, "bits"), group_of(config), true), model,
        config.diagnostics());
}

void store_kv(std::string_view algorithm, const char* key, ConfigReader& config, Precision& precision) {
  if (algorithm.empty() || algorithm == "None") return;
  if (algorithm != "FP8" && algorithm != "INT8" && algorithm != "NVFP4")
    return config.error(key, fmt::format("unknown algorithm '{}'", algorithm), "known: FP8, INT8, NVFP4");
  precision.kv = *format_named(algorithm == "FP8" ? "fp8" : algorithm == "INT8" ? "int8" : "nvfp4");
}

// Bits and type of KV entries, or an algorithm's name.
void read_kv_scheme(ConfigReader& config, Precision& precision) {
  const YamlNode* scheme = config.find("kv_cache_scheme");
  if (!scheme) return;
  if (!scheme->is_mapping()) return store_kv(scheme->text, "kv_cache_scheme", config, precision);
  ConfigReader reader(*scheme, config.diagnostics());
  const std::int64_t bits = bits_of(reader, "num_bits");
  const bool floating = reader.text("type").value_or("float") == "float";
  if (bits != 8 && !(floating && bits == 4))
    return config.error("kv_cache_scheme", fmt::format("unknown format of KV entries: {} bits", bits),
                        "known: 8 bits, floats of 4");
  precision.kv = *format_named(bits == 4 ? "nvfp4" : floating ? "fp8" : "int8");
}

void read_mxfp4(ConfigReader&, ModelSpec& model) { model.precision.experts = *format_named("mxfp4"); }

// One entry of config_groups of the compressed-tensors library.
std::optional<Scheme> scheme_of(const YamlNode& group, Diagnostics& diagnostics) {
  const YamlNode* weights = group.find("weights");
  if (!weights || !weights->is_mapping()) return std::nullopt;
  ConfigReader reader(*weights, diagnostics);
  const std::int64_t bits = bits_of(reader, "num_bits");
  const bool floating = reader.text("type") == "float";
  Scheme scheme;
  scheme.weights = floating && bits == 8 ? eight_bit_floats(reader, "block_structure")
                   : floating            ? *format_named(group_of(reader) == 32 ? "mxfp4" : "nvfp4")
                                         : grouped_integers(bits, group_of(reader), !reader.flag("symmetric", true));
  const YamlNode* inputs = group.find("input_activations");
  if (inputs && inputs->is_mapping()) {
    ConfigReader input_reader(*inputs, diagnostics);
    const bool eight_bits = bits_of(input_reader, "num_bits") == 8;
    scheme.inputs = format_named(input_reader.text("type") == "float" ? (eight_bits ? "fp8" : "nvfp4") : "int8");
  }
  if (const YamlNode* targets = group.find("targets"); targets && targets->is_sequence())
    for (const YamlNode& target : targets->items) scheme.targets.push_back(target.text);
  return scheme;
}

void read_compressed_tensors(ConfigReader& config, ModelSpec& model) {
  read_kv_scheme(config, model.precision);
  const YamlNode* groups = config.find("config_groups");
  std::vector<Scheme> schemes;
  if (groups)
    for (const YamlNode::Entry& group : groups->entries)
      if (auto scheme = scheme_of(group.value, config.diagnostics())) schemes.push_back(std::move(*scheme));
  if (!groups || schemes.empty() || schemes.size() < groups->entries.size())
    return config.error("config_groups", "'config_groups' must name the weights' format");
  if (schemes.size() == 1 && schemes.front().of_all()) {
    store(left_out(config), schemes.front().weights, model, config.diagnostics());
    if (schemes.front().inputs) model.precision.activations = *schemes.front().inputs;
    return;
  }
  std::vector<std::string> ignored;
  if (const YamlNode* list = left_out(config))
    for (const YamlNode& item : list->items) ignored.push_back(item.text);
  store(schemes, ignored, model, groups->where, config.diagnostics());
}

// NVIDIA's Model Optimizer: one algorithm for all linear layers but those that are left out, or one for each layer.
struct ModelOpt {
  static Format format_of(std::string_view algorithm) {
    return *format_named(algorithm == "FP8" ? "fp8" : algorithm == "FP8_PB_WO" ? "fp8_block" : "nvfp4");
  }
  static bool known(std::string_view algorithm) {
    return algorithm == "FP8" || algorithm == "FP8_PB_WO" || algorithm == "NVFP4" || algorithm == "W4A16_NVFP4";
  }
  static void read(ConfigReader& config, ModelSpec& model) {
    const std::string algorithm = config.text("quant_algo").value_or("");
    if (algorithm == "MIXED_PRECISION") {
      read_layers(config, model);
    } else if (known(algorithm)) {
      store(left_out(config), format_of(algorithm), model, config.diagnostics());
      if (algorithm != "W4A16_NVFP4") model.precision.activations = format_of(algorithm);
    } else {
      config.error("quant_algo", fmt::format("unknown algorithm '{}'", algorithm),
                   "known: FP8, NVFP4, W4A16_NVFP4, FP8_PB_WO, MIXED_PRECISION");
    }
    if (const auto name = config.text("kv_cache_quant_algo"); name && !name->empty())
      store_kv(*name, "kv_cache_quant_algo", config, model.precision);
    else read_kv_scheme(config, model.precision);
  }

 private:
  // What the first expert, the first projection of an attention or of a state, and the first of a feed-forward have
  // stands for all, and so does the head; what is not named stays as it was.
  static void read_layers(ConfigReader& config, ModelSpec& model) {
    const YamlNode* layers = config.find("quantized_layers");
    if (!layers || !layers->is_mapping())
      return config.error("quantized_layers", "'quantized_layers' must name the layers' algorithms");
    std::optional<Scheme> attention, dense, experts, head;
    for (const YamlNode::Entry& layer : layers->entries) {
      const YamlNode* algorithm = layer.value.find("quant_algo");
      if (!algorithm || !known(algorithm->text)) continue;
      const auto names = [&](std::string_view part) { return layer.key.find(part) != std::string::npos; };
      std::optional<Scheme>* part = names(".experts")                                       ? &experts
                                    : names("mlp") || names("feed_forward") || names("ffn") ? &dense
                                    : names("attn") || names("mixer")                       ? &attention
                                    : names("lm_head")                                      ? &head
                                                                                            : nullptr;
      if (!part || *part) continue;
      part->emplace(Scheme{{}, format_of(algorithm->text), {}});
      if (algorithm->text != "W4A16_NVFP4") (*part)->inputs = (*part)->weights;
    }
    Precision& precision = model.precision;
    const Format wide = precision.weights;
    const auto format = [&](const std::optional<Scheme>& scheme) { return scheme ? scheme->weights : wide; };
    precision.weights = format(dense);
    if (format(attention) != precision.weights) precision.attention = format(attention);
    if (format(experts) != precision.weights) precision.experts = format(experts);
    if (head && !model.tied_embeddings) precision.head = head->weights;
    const auto of = [](const std::optional<Scheme>& scheme) { return scheme ? &*scheme : nullptr; };
    settle_inputs({of(attention), of(dense), of(experts)}, model, layers->where, config.diagnostics());
  }
};

struct Method {
  std::string_view name;
  void (*read)(ConfigReader&, ModelSpec&);
};
constexpr Method kMethods[] = {{"fp8", read_fp8},      {"fbgemm_fp8", read_fp8},
                               {"gptq", read_grouped}, {"awq", read_grouped},
                               {"mxfp4", read_mxfp4},  {"compressed-tensors", read_compressed_tensors}};

}  // namespace

void read_precision(ConfigReader& typed, ConfigReader& quantised, const YamlNode* beside, std::string_view unnamed_type,
                    ModelSpec& model) {
  const Format stored = data_type_of(typed, unnamed_type);
  model.precision = {stored, stored, stored, {}, {}};
  const YamlNode* own = quantised.find("quantization_config");
  const YamlNode* quantization = beside ? beside : own;
  if (!quantization) return;
  ConfigReader reader(*quantization, quantised.diagnostics());
  const std::string name = reader.text("quant_method").value_or(reader.has("quant_algo") ? "modelopt" : "");
  if (name == "modelopt") {
    ModelOpt::read(reader, model);
    model.precision.embeddings = stored;
    return;
  }
  const auto method =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& m) { return m.name == name; });
  if (method == std::end(kMethods)) {
    std::vector<std::string> known = {"modelopt"};
    for (const Method& m : kMethods) known.emplace_back(m.name);
    reader.error("quant_method",
                 fmt::format("unknown quantisation method '{}'; known: {}", name, fmt::join(known, ", ")),
                 did_you_mean(name, known));
    return;
  }
  method->read(reader, model);
  model.precision.embeddings = stored;
}

}  // namespace llmscape::models::hf
