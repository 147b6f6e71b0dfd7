// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_table_format.hpp"

#include <fmt/format.h>

namespace llmscape::traces {

std::optional<Seconds> read_time(const CsvTable& table, std::size_t column, double unit) {
  const auto value = table.positive(column);
  if (!value) return std::nullopt;
  return Seconds(*value * unit);
}

std::string half_format(const CsvTable& table, std::size_t column) {
  return table.has(column) && table.text(column) == "BF16" ? "bf16" : "fp16";
}

void add_name(std::string& names, std::string_view name) {
  if (name.empty() || fmt::format(", {}, ", names).find(fmt::format(", {}, ", name)) != std::string::npos) return;
  if (!names.empty()) names += ", ";
  names += name;
}

bool same_clock(const CsvTable& table, std::size_t column, KernelTables& into) {
  const std::string_view clock = table.text(column);
  if (into.clock.empty()) into.clock = clock;
  if (clock == into.clock) return true;
  table.error(column, fmt::format("times by the clock {} cannot be mixed with those by '{}': one spans gaps between "
                                  "launches and one does not",
                                  in_quotes(clock), into.clock));
  return false;
}

}  // namespace llmscape::traces
