// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/table.hpp"
#include "sim/metrics/names.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using explore::Effect;
using explore::ParameterEffects;
using explore::Sensitivity;
using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 12;  // bars of a picture
constexpr int kWidth = 100;
constexpr int kSide = 22;  // columns of a picture on each side of its middle

// "edge: memory_bandwidth" for "hardware.devices[edge].memory_bandwidth".
std::string short_path(std::string_view path) {
  path.remove_prefix(std::string_view("hardware.").size());
  constexpr std::string_view kDevices = "devices[";
  const std::size_t end = path.find("].");
  if (!path.starts_with(kDevices) || end == std::string_view::npos) return std::string(path);
  return fmt::format("{}: {}", path.substr(kDevices.size(), end - kDevices.size()), path.substr(end + 2));
}

std::string signed_percent(const std::optional<double>& share) {
  if (!share) return "-";
  return *share == 0 ? "0" : fmt::format("{:+.2f}", 100 * *share);
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

std::string tornado(const Sensitivity& s, std::size_t metric) {
  std::vector<const ParameterEffects*> rows;
  for (const ParameterEffects& row : s.parameters)
    if (size_of(row.effects[metric]) > 0) rows.push_back(&row);
  if (rows.empty()) return "";
  std::ranges::stable_sort(rows, std::greater(), [metric](const auto* row) { return size_of(row->effects[metric]); });
  rows.resize(std::min(rows.size(), kShown));
  const double scale = size_of(rows.front()->effects[metric]);
  std::string out = fmt::format("\n{}: {}   █ {}{}\n", s.metrics[metric]->name,
                                shown(s.base[metric], s.metrics[metric]->metric->unit), in_words(s.change, true),
                                s.change < 1 ? "   ░ " + in_words(s.change, false) : "");
  for (const ParameterEffects* row : rows) {
    const Effect& effect = row->effects[metric];
    std::string name = short_path(row->parameter.path);
    if (name.size() > 34) name = "…" + name.substr(name.size() - 33);
    out += fmt::format("{:<34} {}│{} {:>7}{:>8}\n", name, side(effect, -1, scale), side(effect, +1, scale),
                       signed_percent(effect.less), signed_percent(effect.more));
  }
  return out;
}

std::string refusal(const ParameterEffects& row) {
  std::string text;
  for (const auto& [why, more] : {std::pair(row.less, false), std::pair(row.more, true)})
    if (!why.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", more ? "more" : "less", why);
  return text;
}

}  // namespace

std::string to_text(const Sensitivity& s) {
  std::string out = fmt::format("{} figures of the hardware, each made {}{} alone{}\n\n", s.parameters.size(),
                                in_words(s.change, true), s.change < 1 ? ", and less," : "",
                                s.verdict == "valid" ? "" : "; the base is NOT VALID, " + s.verdict);
  std::vector<std::string> header = {fmt::format("effect of {} in %", in_words(s.change, true)), "value"};
  for (const metrics::Column* column : s.metrics) header.push_back(column->name);
  Table table(header);
  std::vector<std::string> bases = {"base", ""};
  for (std::size_t m = 0; m < s.metrics.size(); ++m) bases.push_back(shown(s.base[m], s.metrics[m]->metric->unit));
  table.row(bases);
  std::string without, refused;
  std::size_t silent = 0;
  for (const ParameterEffects& row : s.parameters) {
    if (const std::string why = refusal(row); !why.empty())
      refused += wrapped(fmt::format("{} refused, {}", short_path(row.parameter.path), why), kWidth) + '\n';
    if (row.largest() == 0) {
      if (row.less.empty() || row.more.empty())
        without += fmt::format("{}{}", silent++ > 0 ? ", " : "", short_path(row.parameter.path));
      continue;
    }
    std::vector<std::string> cells = {short_path(row.parameter.path), row.parameter.text};
    for (const Effect& effect : row.effects) cells.push_back(signed_percent(effect.more));
    table.row(cells);
  }
  out += table.text(kWidth);
  for (std::size_t m = 0; m < s.metrics.size(); ++m) out += tornado(s, m);
  if (silent > 0) out += '\n' + wrapped(fmt::format("no effect at all: {}", without), kWidth) + '\n';
  if (!refused.empty()) out += '\n' + refused;
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
