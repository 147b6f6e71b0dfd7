// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/table.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using explore::Effect;
using explore::ParameterEffects;
using explore::Sensitivity;
using Json = nlohmann::ordered_json;

constexpr std::size_t kShownBars = 12;  // bars of a picture
constexpr int kSide = 22;               // columns of a picture on each side of its middle
constexpr std::size_t kName = 36, kMetric = 14;

// "edge: memory_bandwidth" for "hardware.devices[edge].memory_bandwidth"; without the group where there is only one.
class Names {
 public:
  explicit Names(const Sensitivity& s) {
    for (const ParameterEffects& row : s.parameters) groups_.insert(std::string(split(row.parameter.path).first));
  }
  [[nodiscard]] std::string of(const explore::Parameter& parameter) const {
    const auto [group, rest] = split(parameter.path);
    return group.empty() || groups_.size() == 1 ? std::string(rest) : fmt::format("{}: {}", group, rest);
  }

 private:
  static std::pair<std::string_view, std::string_view> split(std::string_view path) {
    path.remove_prefix(std::string_view("hardware.").size());
    constexpr std::string_view kDevices = "devices[";
    const std::size_t end = path.find("].");
    if (!path.starts_with(kDevices) || end == std::string_view::npos) return {"", path};
    return {path.substr(kDevices.size(), end - kDevices.size()), path.substr(end + 2)};
  }
  std::set<std::string> groups_;
};

// At most so wide: names of figures keep their end, those of metrics their beginning.
std::string end_of(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : "…" + name.substr(name.size() - width + 1);
}
std::string beginning_of(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 1) + "…";
}

// "gemm.* (5), tdp": figures of one part together.
std::string together(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::size_t>> parts;
  for (const std::string& name : names) {
    const std::string part = name.substr(0, name.find('.'));
    if (!parts.empty() && parts.back().first == part) ++parts.back().second;
    else parts.emplace_back(part, 1);
  }
  std::string text;
  std::size_t done = 0;
  for (const auto& [part, count] : parts) {
    text += text.empty() ? "" : ", ";
    text += count > 1 ? fmt::format("{}.* ({})", part, count) : names[done];
    done += count;
  }
  return text;
}

std::string effect_percent(const std::optional<double>& share) {
  if (!share) return "-";
  return *share == 0 ? "0" : fmt::format("{:.2f}", 100 * *share);
}

std::string in_words(double change, bool more) {
  return fmt::format("{:g} % {}", 100 * change, more ? "more" : "less");
}

std::string shown(const std::optional<double>& value, std::string_view unit) {
  if (!value) return "-";
  if (unit == "s") return duration(*value);
  return unit == "share" ? percent(*value) : amount(*value);
}

double size_of(const Effect& effect) {
  return std::max(std::abs(effect.less.value_or(0)), std::abs(effect.more.value_or(0)));
}

// One side of a bar, from the middle outwards: what more of the figure does is solid, what less does is hatched.
std::string side(const Effect& effect, double sign, double scale) {
  const auto cells = [&](const std::optional<double>& share) {
    return share && *share * sign > 0 ? static_cast<int>(std::lround(kSide * std::abs(*share) / scale)) : 0;
  };
  const int more = cells(effect.more), less = cells(effect.less);
  std::vector<std::string_view> bar;
  for (int i = 0; i < kSide; ++i) bar.push_back(i < more ? "█" : i < less ? "░" : " ");
  if (sign < 0) std::ranges::reverse(bar);
  return fmt::format("{}", fmt::join(bar, ""));
}

std::string tornado(const Sensitivity& s, const Names& names, std::size_t metric) {
  std::vector<const ParameterEffects*> rows;
  for (const ParameterEffects& row : s.parameters)
    if (size_of(row.effects[metric]) > 0) rows.push_back(&row);
  if (rows.empty()) return "";
  std::ranges::stable_sort(rows, std::greater(), [metric](const auto* row) { return size_of(row->effects[metric]); });
  rows.resize(std::min(rows.size(), kShownBars));
  const double scale = size_of(rows.front()->effects[metric]);
  std::string out = fmt::format("\n{}: {}   █ {}{}\n", s.metrics[metric]->name,
                                shown(s.base[metric], s.metrics[metric]->metric->unit), in_words(s.change, true),
                                s.change < 1 ? "   ░ " + in_words(s.change, false) : "");
  for (const ParameterEffects* row : rows) {
    const Effect& effect = row->effects[metric];
    const std::string name = end_of(names.of(row->parameter), kName);
    out += fmt::format("{:<{}} {}│{} {:>8}{:>8}\n", name, kName, side(effect, -1, scale), side(effect, +1, scale),
                       effect_percent(effect.less), effect_percent(effect.more));
  }
  return out;
}

// Figures that were refused, those with one reason together.
std::string refusals(const Sensitivity& s, const Names& names) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const ParameterEffects& row : s.parameters)
    for (const auto& [why, more] : {std::pair(row.less, false), std::pair(row.more, true)}) {
      if (why.empty()) continue;
      const std::string reason = fmt::format("refused with {}: {}", in_words(s.change, more), why);
      auto same = std::ranges::find(by_reason, reason, &decltype(by_reason)::value_type::first);
      if (same == by_reason.end()) same = by_reason.insert(same, {reason, {}});
      same->second.push_back(names.of(row.parameter));
    }
  std::string out;
  for (const auto& [reason, figures] : by_reason)
    out += wrapped(fmt::format("{} ({})", reason, together(figures)), kPageColumns) + '\n';
  return out;
}

}  // namespace

std::string to_text(const Sensitivity& s) {
  const Names names(s);
  std::string out = fmt::format("{} figures of the hardware, each made {}{} alone{}\n\n", s.parameters.size(),
                                in_words(s.change, true), s.change < 1 ? ", and less," : "",
                                s.verdict == "valid" ? "" : "; the base is NOT VALID, " + s.verdict);
  std::vector<std::string> header = {"effect in %", fmt::format("{:g} % more than", 100 * s.change)};
  for (const metrics::Column* column : s.metrics) header.push_back(beginning_of(column->name, kMetric));
  Table table(header);
  std::vector<std::string> silent, unused;
  for (const ParameterEffects& row : s.parameters) {
    if (row.unused) {
      unused.push_back(names.of(row.parameter));
      continue;
    }
    if (row.largest() == 0) {
      if (row.less.empty() || row.more.empty()) silent.push_back(names.of(row.parameter));
      continue;
    }
    std::vector<std::string> cells = {end_of(names.of(row.parameter), kName), row.parameter.text};
    for (const Effect& effect : row.effects) cells.push_back(effect_percent(effect.more));
    table.row(cells);
  }
  out += table.text(kPageColumns);
  for (std::size_t m = 0; m < s.metrics.size(); ++m) out += tornado(s, names, m);
  if (!silent.empty())
    out += '\n' + wrapped(fmt::format("no effect at all: {}", together(silent)), kPageColumns) + '\n';
  if (!unused.empty())
    out += '\n' + wrapped(fmt::format("unused, no price of the run reads them: {}", together(unused)), kPageColumns) +
           '\n';
  if (const std::string refused = refusals(s, names); !refused.empty()) out += '\n' + refused;
  return out;
}

std::string to_json(const Sensitivity& s) {
  const auto value = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  Json json = {{"schema", "sensitivity/1"}, {"change", s.change}, {"verdict", s.verdict}};
  for (std::size_t m = 0; m < s.metrics.size(); ++m) json["base"][s.metrics[m]->name] = value(s.base[m]);
  json["parameters"] = Json::array();
  for (const ParameterEffects& row : s.parameters) {
    Json& entry = json["parameters"].emplace_back(Json{{"path", row.parameter.path}, {"value", row.parameter.text}});
    for (std::size_t m = 0; m < s.metrics.size(); ++m) {
      Json& effect = entry["effects"][s.metrics[m]->name];
      if (s.change < 1) effect["less"] = value(row.effects[m].less);
      effect["more"] = value(row.effects[m].more);
    }
    if (row.unused) entry["unused"] = true;
    if (!row.less.empty()) entry["refused"]["less"] = row.less;
    if (!row.more.empty()) entry["refused"]["more"] = row.more;
  }
  return json.dump(2) + '\n';
}

std::string to_csv(const Sensitivity& s) {
  const auto value = [](const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; };
  std::string out = "parameter,value,metric,base,less,more\n";
  for (const ParameterEffects& row : s.parameters)
    for (std::size_t m = 0; m < s.metrics.size(); ++m)
      out += fmt::format("{},{},{},{},{},{}\n", row.parameter.path, row.parameter.text, s.metrics[m]->name,
                         value(s.base[m]), value(row.effects[m].less), value(row.effects[m].more));
  return out;
}

}  // namespace llmscape::report
