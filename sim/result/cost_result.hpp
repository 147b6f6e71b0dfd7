// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::result {

// By the user's own prices and intensities; none is shipped.
struct CostResult {
  std::string currency;
  std::vector<std::pair<std::string, double>> by_kind;  // money: "rent", "write_off", "electricity", as far as priced
  std::optional<double> total, per_million_output_tokens;
  std::optional<double>
      capital;  // of all devices; like the total absent where some have no price beside others with one
  std::optional<double> co2_g, co2_g_per_million_output_tokens;
  std::vector<std::string> unpriced;           // groups of devices without a price beside others with one
  std::vector<std::string> not_written_off{};  // groups with a capital and no lifetime, beside other money
  std::optional<double> per_million_answered_tokens{}, co2_g_per_million_answered_tokens{};
};

struct AreaResult {
  double die_area_mm2 = 0;  // of all devices
  double output_tokens_per_s_per_mm2 = 0;
};

}  // namespace llmscape::result
