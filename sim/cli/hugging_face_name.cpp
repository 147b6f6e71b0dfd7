// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/hugging_face_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "sim/cli/model_formats.hpp"

namespace llmscape::cli {
namespace {

// The shortest sliding window of its layers; 0: none has one.
std::int64_t shortest_window(const models::ModelSpec& model) {
  std::int64_t shortest = 0;
  for (const models::LayerGroup& group : model.groups)
    if (const auto* attention = std::get_if<models::SoftmaxAttention>(&group.mixer); attention && attention->window > 0)
      shortest = shortest == 0 ? attention->window : std::min(shortest, attention->window);
  return shortest;
}

}  // namespace

std::string catalogue_model(const std::string& hugging_face_name, const std::vector<std::string>& catalogue) {
  std::string name = hugging_face_name.substr(hugging_face_name.rfind('/') + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("meta-")) name.erase(0, 5);
  // Other weights of the same shapes (config.json of both).
  if (name.starts_with("llama-3.3-70b")) name.replace(0, 13, "llama-3.1-70b");
  // What tells the variants of one set of shapes apart: they cost the same.
  static const std::regex ending(
      "[-_.](instruct|thinking|chat|hf|it|base|fp8|fp4|nvfp4|mxfp4|bf16|awq|gptq|marlin|int4|int8|4bit|8bit|bnb|w4a16|"
      "w8a8|"
      "w8a16|quantized|dynamic|block|kv|v0\\.[0-9]|v1\\.[0-9]|[0-9]{4})$");
  for (;;) {
    if (std::ranges::find(catalogue, name) != catalogue.end()) return name;
    const std::string shorter = std::regex_replace(name, ending, "");
    if (shorter == name) return {};
    name = shorter;
  }
}

std::string version_note(const std::string& hugging_face_name, const std::string& entry) {
  // The versions that the entries are of, and those with the same config.json (remembered, not looked up).
  static const std::set<std::pair<std::string, std::string>> kSame = {
      {"mistral-7b", "v0.1"},     {"mixtral-8x7b", "v0.1"}, {"mixtral-8x22b", "v0.1"},
      {"tinyllama-1.1b", "v1.0"}, {"deepseek-v3", "0324"},  {"deepseek-r1", "0528"}};
  std::string name = hugging_face_name.substr(hugging_face_name.rfind('/') + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static const std::regex version("[-_.](v[0-9]\\.[0-9]|[0-9]{4})(?=[-_.]|$)");
  std::smatch match;
  if (!std::regex_search(name, match, version)) return {};
  const std::string said = match[1].str();
  if (entry.find(said) != std::string::npos || kSame.contains({entry, said})) return {};
  Diagnostics unheard;  // who asks reads the model as well
  const auto model = model_of(entry, unheard);
  if (!model) return {};
  const std::int64_t window = shortest_window(*model);
  return fmt::format(
      "{} of {} is taken for the {} of the catalogue: {} tokens at most, {}; where its config.json says otherwise, "
      "name that with --model",
      said, in_quotes(hugging_face_name), entry, model->max_position,
      window > 0 ? fmt::format("a window of {}", window) : "no window");
}

NamedFormats formats_in_name(const std::string& hugging_face_name) {
  struct Ending {
    const char *written, *weights, *activations;
  };
  // As published with the checkpoints; without activations, what engines multiply such
  // weights with holds (hardware/precision.hpp).
  static constexpr Ending kEndings[] = {{"w8a8", "int8", "int8"}, {"w4a16", "int4", ""},  {"w8a16", "int8", "bf16"},
                                        {"nvfp4", "nvfp4", ""},   {"mxfp4", "mxfp4", ""}, {"fp4", "nvfp4", ""},
                                        {"fp8", "fp8", ""},       {"int8", "int8", ""},   {"8bit", "int8", "bf16"},
                                        {"awq", "int4", ""},      {"gptq", "int4", ""},   {"int4", "int4", ""},
                                        {"4bit", "int4", ""},     {"bf16", "bf16", ""}};
  const std::size_t slash = hugging_face_name.rfind('/');
  std::string name = '-' + hugging_face_name.substr(slash + 1) + '-';
  for (char& c : name) c = c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Ending& ending : kEndings)
    if (name.find(fmt::format("-{}-", ending.written)) != std::string::npos) {
      // Qwen's own FP8 checkpoints scale blocks of 128 x 128 (quantization_config of their config.json).
      const bool blocks = std::string_view(ending.written) == "fp8" && hugging_face_name.starts_with("Qwen/");
      return {blocks ? "fp8_block" : ending.weights, ending.activations};
    }
  return {};
}

}  // namespace llmscape::cli
