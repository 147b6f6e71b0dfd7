// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/csv_table.hpp"
#include "traces/engine_kernels.hpp"
#include "traces/kernel_table_format.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the readers of AIConfigurator's tables share.
namespace llmscape::traces::aiconfigurator {

inline constexpr double kMilliseconds = 1e-3;

// Columns that every table has.
enum Common : int { kFramework, kVersion, kDevice, kOperator, kKernel, kLatency, kPower, kPowerLimit, kCommonColumns };

// A table whose rows are read into `into`; the first row names device and software. Tables with watts hold kernels of
// another version of the engine than those of times alone: their rows are readings of power and no more.
class Table : public CsvTable {
 public:
  Table(const std::string& path, const std::vector<CsvColumn>& own, KernelTables& into, Diagnostics& diagnostics)
      : CsvTable(path, with_common(own), diagnostics), into_(into) {}

  // The next row of a kernel that its engine runs by itself. Rows that are passed over are told with the reason.
  bool next(const std::function<void(std::string_view why)>& passed = {}) {
    for (;;) {
      if (!CsvTable::next()) return false;
      if (first_) {
        add_name(into_.device, text(kDevice));
        if (!has(kPower)) add_name(into_.software, software());
      }
      first_ = false;
      const auto why = passed_over(engine(), text(kDevice), text(kOperator), text(kKernel), has(kPower));
      if (why.empty()) return true;
      if (passed) passed(why);
    }
  }
  [[nodiscard]] std::string engine() const { return engine_of_framework(text(kFramework)); }
  [[nodiscard]] std::string software() const { return fmt::format("{} {}", text(kFramework), text(kVersion)); }
  [[nodiscard]] std::optional<Seconds> time() const { return read_time(*this, kLatency, kMilliseconds); }
  // Adds the row to its list, or to the readings of power.
  template <class Case>
  void keep(std::vector<Timed<Case>>& list, Case what, Seconds time) {
    if (!has(kPower)) {
      list.push_back({std::move(what), time, engine()});
      return;
    }
    const auto power = positive(kPower), limit = positive(kPowerLimit);
    if (power && limit)
      into_.power.push_back({std::move(what), time, Watts(*power), Watts(*limit), engine(), software()});
  }
  void keep_module(LatentAttentionCase what, std::string projections, Seconds time) {
    const auto power = positive(kPower), limit = positive(kPowerLimit);
    if (power && limit)
      into_.latent_power.push_back({std::move(what), std::move(projections), time, Watts(*power), Watts(*limit)});
  }
  // Reports and returns false unless the row is one of `operation`.
  [[nodiscard]] bool is_of(std::string_view operation) const {
    if (text(kOperator) == operation) return true;
    error(kOperator, fmt::format("'op_name' must be '{}'; got {}", operation, in_quotes(text(kOperator))));
    return false;
  }

 private:
  static std::vector<CsvColumn> with_common(const std::vector<CsvColumn>& own) {
    std::vector<CsvColumn> columns = {{"framework"},     {"version"}, {"device"},       {"op_name"},
                                      {"kernel_source"}, {"latency"}, {"power", false}, {"power_limit", false}};
    columns.insert(columns.end(), own.begin(), own.end());
    return columns;
  }

  KernelTables& into_;
  bool first_ = true;
};

}  // namespace llmscape::traces::aiconfigurator
