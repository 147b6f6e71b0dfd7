// SPDX-License-Identifier: Apache-2.0
#include "sim/report/check_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/table.hpp"
#include "sim/explore/objective.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using explore::Check;
using explore::ConfigurationCheck;
using explore::MetricCheck;
using explore::MetricStanding;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 25;

struct Moved {
  const ConfigurationCheck* configuration;
  const MetricCheck* metric;
};

// How far it moved, for an order; what cannot be compared has moved farthest.
double distance(const MetricCheck& metric) {
  return std::abs(metric.change().value_or(std::numeric_limits<double>::infinity()));
}

// All that is not SAME: WORSE before AMBIGUOUS before BETTER, what moved most first.
std::vector<Moved> moved(const Check& check) {
  std::vector<Moved> all;
  for (const ConfigurationCheck& configuration : check.configurations)
    for (const MetricCheck& metric : configuration.metrics)
      if (metric.standing != MetricStanding::same) all.push_back({&configuration, &metric});
  std::ranges::stable_sort(all, [](const Moved& a, const Moved& b) {
    if (a.metric->standing != b.metric->standing) return a.metric->standing > b.metric->standing;
    return distance(*a.metric) > distance(*b.metric);
  });
  return all;
}

std::string change_text(const MetricCheck& metric) {
  const auto change = metric.change();
  return change ? fmt::format("{:+.3g} %", 100 * *change) : "-";
}

std::string with_label(const MetricCheck& metric, const std::string& label) {
  return metrics::short_name(*metric.metric) + (label.empty() ? "" : " of " + label);
}

std::string plural(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string counts(const Check& check) {
  std::string text;
  for (const MetricStanding standing :
       {MetricStanding::worse, MetricStanding::ambiguous, MetricStanding::better, MetricStanding::same})
    if (const std::size_t count = check.count(standing); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, explore::name_of(standing));
  return text;
}

Table moved_table(const std::vector<Moved>& all) {
  Table table({"verdict", "metric", "configuration", "baseline", "now", "change", "tolerance"});
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i) {
    const MetricCheck& metric = *all[i].metric;
    table.row({std::string(explore::name_of(metric.standing)), metrics::short_name(*metric.metric),
               all[i].configuration->label, shown_metric(*metric.metric, metric.before, metric.currency),
               shown_metric(*metric.metric, metric.now, metric.currency), change_text(metric), metric.tolerance.text});
  }
  return table;
}

std::string more_than_shown(const std::vector<Moved>& all) {
  return all.size() <= kMostRows ? "" : fmt::format("and {} more: see --format json\n", all.size() - kMostRows);
}

Json in_json(const std::optional<explore::Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", estimate->value}, {"low", estimate->low}, {"high", estimate->high}};
}

}  // namespace

std::string shown_metric(const metrics::Column& column, const std::optional<explore::Estimate>& estimate,
                         const std::string& currency) {
  if (!estimate) return "-";
  const bool money = explore::counts_money(column) && !currency.empty();
  const std::string_view unit = money ? std::string_view(currency) : column.metric->unit;
  if (unit == "s") return duration(estimate->value);
  if (unit == "share") return percent(estimate->value);
  return amount(estimate->value) + (unit.empty() ? "" : fmt::format(" {}", unit));
}

std::string check_reason(const MetricCheck& metric) {
  const std::string values = fmt::format("{} -> {}", shown_metric(*metric.metric, metric.before, metric.currency),
                                         shown_metric(*metric.metric, metric.now, metric.currency));
  if (!metric.before || !metric.now) return fmt::format("{}: {}", values, metric.reason);
  return fmt::format(
      "{}, {}, beyond {}{}{}", values, change_text(metric), metric.tolerance.text,
      metric.standing == MetricStanding::ambiguous && metric.reason.empty() ? ", but the intervals overlap" : "",
      metric.reason.empty() ? "" : "; " + metric.reason);
}

std::string check_headline(const Check& check) {
  const std::size_t worse = check.count(MetricStanding::worse), problems = check.problems();
  std::string text;
  if (check.metrics() > 0) {
    text = fmt::format("{} of {} metrics {} WORSE", worse, check.metrics(), worse == 1 ? "is" : "are");
    if (worse > 0) {
      const Moved worst = moved(check).front();
      text +=
          fmt::format(", most of all {} ({})", with_label(*worst.metric, worst.configuration->label),
                      worst.metric->before && worst.metric->now ? change_text(*worst.metric) : worst.metric->reason);
    }
  }
  if (problems > 0)
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : "; ", problems,
                        plural(check.configurations.size(), "configuration", "configurations"),
                        problems == 1 ? "fails" : "fail");
  return text;
}

std::string check_text(const Check& check) {
  std::string text = wrapped(check_headline(check), kPageColumns) + '\n';
  if (check.metrics() > 0)
    text += fmt::format("{} in {}\n", counts(check),
                        plural(check.configurations.size(), "configuration", "configurations"));
  std::size_t problems = 0;
  for (const ConfigurationCheck& configuration : check.configurations)
    if (!configuration.problem.empty() && ++problems <= kMostRows)
      text += wrapped(fmt::format("WORSE {}: {}", configuration.label, configuration.problem), kPageColumns, 6) + '\n';
  if (problems > kMostRows) text += fmt::format("and {} more: see --format json\n", problems - kMostRows);
  const std::vector<Moved> all = moved(check);
  if (!all.empty()) text += '\n' + moved_table(all).text(kPageColumns) + more_than_shown(all);
  return text;
}

std::string check_markdown(const Check& check) {
  std::string text = fmt::format("### {}: {}\n", check.passed() ? "Passed" : "Failed", check_headline(check));
  if (check.problems() > 0) {
    Table problems({"configuration", "problem"});
    for (const ConfigurationCheck& configuration : check.configurations)
      if (!configuration.problem.empty()) problems.row({configuration.label, configuration.problem});
    text += '\n' + problems.markdown();
  }
  const std::vector<Moved> all = moved(check);
  if (!all.empty()) text += '\n' + moved_table(all).markdown();
  if (all.size() > kMostRows) text += '\n' + more_than_shown(all);
  return text;
}

std::string check_json(const Check& check) {
  Json out = {{"schema", "check/1"}, {"passed", check.passed()}, {"headline", check_headline(check)}};
  for (const MetricStanding standing :
       {MetricStanding::same, MetricStanding::better, MetricStanding::ambiguous, MetricStanding::worse})
    out["counts"][std::string(explore::name_of(standing))] = check.count(standing);
  out["configurations"] = Json::array();
  for (const ConfigurationCheck& configuration : check.configurations) {
    Json metrics = Json::array();
    for (const MetricCheck& metric : configuration.metrics)
      metrics.push_back({{"metric", metric.metric->name},
                         {"verdict", explore::name_of(metric.standing)},
                         {"baseline", in_json(metric.before)},
                         {"now", in_json(metric.now)},
                         {"tolerance", metric.tolerance.text},
                         {"reason", metric.reason}});
    out["configurations"].push_back(
        {{"label", configuration.label}, {"problem", configuration.problem}, {"metrics", std::move(metrics)}});
  }
  return out.dump(2) + '\n';
}

}  // namespace llmscape::report
