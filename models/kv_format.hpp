// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// The format of a KV cache as it is written: `fp8`, or {keys: int8, values: int2, group: 64, zero_point: true}.
struct KvFormatConfig {
  std::string keys = "bf16";
  std::optional<std::string> values;  // as the keys
  // Of integer formats: elements with one 16-bit scale, and beside each scale a 16-bit zero point (KIVI, arXiv
  // 2402.02750: asymmetric, scale and minimum of each group).
  std::optional<std::int64_t> group;
  bool zero_point = false;
};
const Fields<KvFormatConfig>& kv_format_fields();
// Of a description that was read without a mistake.
KvFormat kv_format_of(const KvFormatConfig& config);
// Why the model cannot store its cache so; one sentence each.
std::vector<std::string> kv_format_problems(const KvFormat& kv, const ModelSpec& model);

}  // namespace llmscape::models
