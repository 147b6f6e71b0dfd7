// SPDX-License-Identifier: Apache-2.0
#include "models/kv_format.hpp"

#include <algorithm>

#include "models/format.hpp"

namespace llmscape::models {
namespace {

constexpr double kScaleBytes = 2;  // binary16, as are zero points

bool integers(const Format& format) { return format.name.starts_with("int"); }

Format kv_part(const KvFormatConfig& config, const std::string& name) {
  Format format = *format_named(name);
  if (!integers(format)) return format;
  if (config.group) {
    format.group = static_cast<int>(*config.group);
    format.scale_bytes = kScaleBytes;
  }
  if (config.zero_point) format.scale_bytes += kScaleBytes;
  return format;
}

void check_groups(const KvFormatConfig& config, const YamlNode& node, Diagnostics& diagnostics) {
  if (!config.group && !config.zero_point) return;
  const KvFormat kv = kv_format_of(config);
  if (!integers(kv.keys) && !integers(kv.values))
    diagnostics.error(node.where,
                      "'group' and 'zero_point' are of integer formats: " + kv.name() + " has its own scales",
                      "keys: int8, values: int4");
  else if (config.zero_point &&
           ((integers(kv.keys) && kv.keys.group == 0) || (integers(kv.values) && kv.values.group == 0)))
    diagnostics.error(node.find("zero_point")->where,
                      "'zero_point' needs 'group': int8 has one scale for a whole channel", "group: 64");
}

}  // namespace

const Fields<KvFormatConfig>& kv_format_fields() {
  static const Fields<KvFormatConfig> fields = [] {
    Fields<KvFormatConfig> f("kv_format", "how keys and values are stored; a bare name is the format of both");
    f.add("keys", &KvFormatConfig::keys, "number format of the keys").one_of(format_names()).required();
    f.add("values", &KvFormatConfig::values, "number format of the values; that of the keys if absent")
        .one_of(format_names());
    f.add("group", &KvFormatConfig::group,
          "elements of an integer format that share a 16-bit scale; the format's own if absent")
        .between(1, 65536);
    f.add("zero_point", &KvFormatConfig::zero_point, "integers with a 16-bit zero point beside each scale");
    f.check(check_groups);
    return f;
  }();
  return fields;
}

KvFormat kv_format_of(const KvFormatConfig& config) {
  return {kv_part(config, config.keys), kv_part(config, config.values.value_or(config.keys))};
}

std::vector<std::string> kv_format_problems(const KvFormat& kv, const ModelSpec& model) {
  const auto latent = [](const LayerGroup& group) { return std::holds_alternative<LatentAttention>(group.mixer); };
  if (kv.alike() || std::ranges::none_of(model.groups, latent)) return {};
  return {model.name + " has latent attention, whose one entry serves as key and value: name one format"};
}

}  // namespace llmscape::models
