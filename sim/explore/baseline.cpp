// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/yaml_reader.hpp"
#include "sim/explore/objective.hpp"

namespace llmscape::explore {
namespace {

// The file as it is written.
struct ValueConfig {
  double value = 0;
  std::optional<double> low, high;
  std::vector<double> runs;
};
struct ConfigurationConfig {
  std::vector<std::string> values;
  std::int64_t runs = 1;
  std::optional<std::string> currency;
  std::optional<std::int64_t> seed;
  Extent over;
  std::map<std::string, ValueConfig> metrics;
};
struct BaselineConfig {
  std::string tool;
  YamlNode tolerance, tolerances;
  std::vector<YamlNode> metrics;
  std::vector<std::string> axes;
  std::vector<ConfigurationConfig> configurations;
};

const Fields<ValueConfig>& value_fields() {
  static const Fields<ValueConfig> fields = [] {
    Fields<ValueConfig> f("value", "a metric, in the unit that 'llmscape list metrics' states");
    f.add("value", &ValueConfig::value, "of one run, or the mean over repeats").required();
    f.add("low", &ValueConfig::low, "lower end of its 95 % interval; absent: not known");
    f.add("high", &ValueConfig::high, "upper end of its 95 % interval; absent: not known");
    f.add("runs", &ValueConfig::runs, "of each repeat, in the order of their seeds; absent: not known");
    f.check([](const ValueConfig& v, const YamlNode& node, Diagnostics& diagnostics) {
      if (v.low.has_value() != v.high.has_value() || v.low.value_or(0) > v.high.value_or(0))
        diagnostics.error(node.where, "an interval has both ends, 'low' no higher than 'high'");
    });
    return f;
  }();
  return fields;
}

const Fields<Extent>& extent_fields() {
  static const Fields<Extent> fields = [] {
    Fields<Extent> f("over", "what sums (total_joules, total_cost, co2_g) and peak_w were taken over");
    f.add("window_s", &Extent::window_s, "length of the window; absent: not known");
    f.add("simulated_s", &Extent::simulated_s, "that of the whole run; absent: not known");
    f.add("completed", &Extent::completed, "calls that were completed; absent: not known");
    f.add("peak_window_s", &Extent::peak_window_s, "length of the slices of peak_w; absent: not known");
    return f;
  }();
  return fields;
}

const Fields<ConfigurationConfig>& configuration_fields() {
  static const Fields<ConfigurationConfig> fields = [] {
    Fields<ConfigurationConfig> f("configuration", "points of a sweep that differ in nothing but their seed");
    f.add("values", &ConfigurationConfig::values, "one for each axis, as results.csv has them").required();
    f.add("runs", &ConfigurationConfig::runs, "repeats that the metrics are taken over").at_least(1);
    f.add("seed", &ConfigurationConfig::seed, "of the first repeat; the others count up from it");
    f.add("currency", &ConfigurationConfig::currency, "of its costs; absent: it has none, or it is not known");
    f.add_group("over", &ConfigurationConfig::over, extent_fields(),
                "what its sums were taken over; absent: not known");
    f.add_group("metrics", &ConfigurationConfig::metrics, value_fields(), "by the names that results.csv has")
        .required();
    return f;
  }();
  return fields;
}

const Fields<BaselineConfig>& baseline_fields() {
  static const Fields<BaselineConfig> fields = [] {
    Fields<BaselineConfig> f("baseline", "results that later ones are held against");
    f.add("tool", &BaselineConfig::tool, "that made it; nothing depends on it");
    f.add("tolerance", &BaselineConfig::tolerance, "how far a metric may move from its value here: 1%");
    f.add("tolerances", &BaselineConfig::tolerances,
          "the same of single metrics, a share or an amount: {ttft.p99: 2 ms, itl: 5%}");
    f.add("metrics", &BaselineConfig::metrics,
          "what is compared: [ttft.p99, goodput_rps]; absent: every metric of which more or less is better, without "
          "sums over the window (total_joules, total_cost, co2_g)");
    f.add("axes", &BaselineConfig::axes, "of the sweep").required();
    f.add_group("configurations", &BaselineConfig::configurations, configuration_fields(), "in the order of the plan")
        .required();
    return f;
  }();
  return fields;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const metrics::Column& column : metrics::columns()) names.push_back(metrics::short_name(column));
  for (const metrics::Metric& metric : metrics::metrics()) names.emplace_back(metric.key);
  return names;
}

MetricColumns named(const std::string& name, const SourceRange& where, Diagnostics& diagnostics) {
  MetricColumns columns = metrics::find_columns(name);
  if (columns.empty())
    diagnostics.error(where, fmt::format("unknown metric {}", in_quotes(name)), did_you_mean(name, known_names()));
  return columns;
}

// An amount needs a metric, whose unit it has.
std::optional<Tolerance> read_tolerance(const YamlNode& node, const metrics::Metric* metric, Diagnostics& diagnostics) {
  std::string text = node.text;
  const bool relative = text.ends_with('%');
  if (relative) text.erase(text.find_last_not_of(" %") + 1);
  QuantityError problem{"is a share: 1%", ""};
  if (node.is_scalar() && (relative || metric)) {
    const auto unit = metric ? unit_of(*metric) : std::nullopt;
    const auto read = parse_quantity(text, relative || !unit ? Dimension::number : unit->dimension);
    const double* amount = std::get_if<double>(&read);
    if (amount && *amount >= 0) return Tolerance{relative ? *amount / 100 : *amount, relative, node.text};
    problem = amount ? QuantityError{"is not negative", ""} : std::get<QuantityError>(read);
  }
  diagnostics.error(node.where, fmt::format("a tolerance {}; got {}", problem.message, in_quotes(node.text)),
                    problem.suggestion);
  return std::nullopt;
}

void read_rules(const YamlNode& tolerances, Baseline& baseline, Diagnostics& diagnostics) {
  if (!tolerances.is_mapping() && tolerances.kind != YamlNode::Kind::null)
    diagnostics.error(tolerances.where, "'tolerances' is a mapping from metrics to tolerances");
  for (const YamlNode::Entry& entry : tolerances.entries) {
    MetricColumns columns = named(entry.key, entry.key_where, diagnostics);
    if (columns.empty()) continue;
    auto tolerance = read_tolerance(entry.value, columns.front()->metric, diagnostics);
    if (tolerance) baseline.rules.push_back({entry.key, std::move(columns), std::move(*tolerance)});
  }
}

// Configurations, whose places are those of `nodes`.
void read_configurations(std::vector<ConfigurationConfig> configs, const YamlNode& nodes, Baseline& baseline,
                         Diagnostics& diagnostics) {
  std::set<std::vector<std::string>> seen;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const YamlNode& node = nodes.items[i];
    ConfigurationConfig& config = configs[i];
    if (config.values.size() != baseline.axes.size())
      diagnostics.error(node.find("values")->where,
                        fmt::format("{} values of {} axes", config.values.size(), baseline.axes.size()));
    else if (!seen.insert(config.values).second)
      diagnostics.error(node.find("values")->where, "this configuration stands twice");
    Baseline::Configuration& out = baseline.configurations.emplace_back();
    for (const YamlNode::Entry& entry : node.find("metrics")->entries) {
      const ValueConfig& v = config.metrics.at(entry.key);
      const MetricColumns columns = named(entry.key, entry.key_where, diagnostics);
      if (!v.runs.empty() && static_cast<std::int64_t>(v.runs.size()) != config.runs)
        diagnostics.error(entry.value.where, fmt::format("{} values of {} runs", v.runs.size(), config.runs));
      if (columns.size() == 1) {
        out.metrics[columns.front()->name] = {v.value, v.low.value_or(v.value), v.high.value_or(v.value)};
        if (!v.runs.empty()) out.by_seed[columns.front()->name] = v.runs;
      } else if (!columns.empty())
        diagnostics.error(entry.key_where, fmt::format("which statistic of {}?", in_quotes(entry.key)));
    }
    out.values = std::move(config.values);
    out.runs = config.runs;
    out.currency = config.currency.value_or("");
    out.seed = config.seed;
    out.over = config.over;
  }
}

std::string in_json(const std::string& text) { return nlohmann::json(text).dump(); }

std::string in_json(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + in_json(text);
  return '[' + out + ']';
}

std::string in_json(const Estimate& e, const std::vector<double>& runs) {
  std::string text = fmt::format(R"({{"value": {})", e.value);
  if (e.low < e.high) text += fmt::format(R"(, "low": {}, "high": {})", e.low, e.high);
  if (!runs.empty()) text += fmt::format(R"(, "runs": [{}])", fmt::join(runs, ", "));
  return text + '}';
}

std::string in_json(const Extent& over) {
  std::string text;
  const auto add = [&text](const char* name, const std::optional<double>& value) {
    if (value) text += fmt::format(R"({}"{}": {})", text.empty() ? "" : ", ", name, *value);
  };
  add("window_s", over.window_s);
  add("simulated_s", over.simulated_s);
  add("completed", over.completed);
  add("peak_window_s", over.peak_window_s);
  return text.empty() ? "" : fmt::format(", \"over\": {{{}}}", text);
}

std::string in_json(const Baseline::Configuration& configuration) {
  std::string metrics;
  for (const metrics::Column& column : metrics::columns())
    if (const auto found = configuration.metrics.find(column.name); found != configuration.metrics.end()) {
      const auto runs = configuration.by_seed.find(column.name);
      metrics += fmt::format(
          "{}\n      {}: {}", metrics.empty() ? "" : ",", in_json(column.name),
          in_json(found->second, runs == configuration.by_seed.end() ? std::vector<double>() : runs->second));
    }
  std::string more = configuration.seed ? fmt::format(", \"seed\": {}", *configuration.seed) : "";
  if (!configuration.currency.empty()) more += ", \"currency\": " + in_json(configuration.currency);
  more += in_json(configuration.over);
  return fmt::format("    {{\"values\": {}, \"runs\": {}{}, \"metrics\": {{{}}}}}", in_json(configuration.values),
                     configuration.runs, more, metrics);
}

}  // namespace

Estimate of_runs(const Estimate& estimate, std::int64_t runs) {
  return runs > 1 ? estimate : Estimate{estimate.value, estimate.value, estimate.value};
}

double Tolerance::around(double value) const { return relative ? amount * std::abs(value) : amount; }

const Tolerance& Baseline::tolerance_of(const metrics::Column& column) const {
  const Rule* best = nullptr;
  for (const Rule& rule : rules)
    if (std::ranges::find(rule.columns, &column) != rule.columns.end() &&
        (!best || rule.columns.size() < best->columns.size()))
      best = &rule;
  return best ? best->tolerance : tolerance;
}

MetricColumns Baseline::columns() const {
  MetricColumns chosen;
  for (const std::string& name : metrics) std::ranges::copy(metrics::find_columns(name), std::back_inserter(chosen));
  MetricColumns all;
  for (const metrics::Column& column : metrics::columns())
    if (metrics.empty() ? column.metric->better != metrics::Better::neither && !is_sum(*column.metric)
                        : std::ranges::find(chosen, &column) != chosen.end())
      all.push_back(&column);
  return all;
}

std::optional<Baseline> read_baseline(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.errors();
  YamlNode root = read_yaml_file(file, diagnostics);
  if (diagnostics.errors() != errors_before) return std::nullopt;
  if (const YamlNode* schema = root.find("schema"); !schema || schema->text != "baseline/1") {
    diagnostics.error(schema ? schema->where : root.where,
                      "this is not a baseline: it must begin with \"schema\": \"baseline/1\"");
    return std::nullopt;
  }
  root.erase("schema");
  BaselineConfig config;
  if (!baseline_fields().read(config, root, diagnostics)) return std::nullopt;
  Baseline baseline;
  baseline.tool = config.tool;
  baseline.axes = config.axes;
  if (config.tolerance.kind != YamlNode::Kind::null)
    if (const auto tolerance = read_tolerance(config.tolerance, nullptr, diagnostics)) baseline.tolerance = *tolerance;
  read_rules(config.tolerances, baseline, diagnostics);
  for (const YamlNode& name : config.metrics)
    if (!named(name.text, name.where, diagnostics).empty()) baseline.metrics.push_back(name.text);
  read_configurations(std::move(config.configurations), *root.find("configurations"), baseline, diagnostics);
  return diagnostics.errors() == errors_before ? std::optional(std::move(baseline)) : std::nullopt;
}

std::string baseline_json(const Baseline& baseline) {
  std::string rules, configurations;
  for (const Baseline::Rule& rule : baseline.rules)
    rules += fmt::format("{}{}: {}", rules.empty() ? "" : ", ", in_json(rule.name), in_json(rule.tolerance.text));
  for (const Baseline::Configuration& configuration : baseline.configurations)
    configurations += (configurations.empty() ? "\n" : ",\n") + in_json(configuration);
  std::string text = fmt::format("{{\n  \"schema\": \"baseline/1\",\n  \"tool\": {},\n  \"tolerance\": {},\n",
                                 in_json(baseline.tool), in_json(baseline.tolerance.text));
  text += fmt::format("  \"tolerances\": {{{}}},\n", rules);
  if (!baseline.metrics.empty()) text += fmt::format("  \"metrics\": {},\n", in_json(baseline.metrics));
  text += fmt::format("  \"axes\": {},\n  \"configurations\": [{}\n  ]\n}}\n", in_json(baseline.axes), configurations);
  return text;
}

Baseline baseline_of(const ResultsTable& table, const Baseline& before, Diagnostics& diagnostics) {
  Baseline baseline = before;
  baseline.axes = table.axes;
  baseline.configurations.clear();
  const MetricColumns columns = before.columns();
  for (const Configuration& configuration : configurations(table)) {
    if (configuration.verdict != "valid")
      diagnostics.error(
          {}, fmt::format("{} is {}: a baseline holds valid results only", configuration.label, configuration.verdict));
    Baseline::Configuration& out = baseline.configurations.emplace_back();
    out.values = configuration.values;
    out.runs = static_cast<std::int64_t>(configuration.rows.size());
    if (out.runs > 1) out.seed = table.rows[configuration.rows.front()].seed;
    for (const metrics::Column* column : columns) {
      const auto place = static_cast<std::size_t>(column - metrics::columns().data());
      const auto held = over_repeats(table, configuration, place);
      if (!held) continue;
      out.metrics[column->name] = *held;
      if (counts_money(*column)) out.currency = configuration.currency;
      if (!instead_of(*column->metric).empty()) out.over = extent_of(configuration);
      for (const std::size_t row : configuration.rows)
        if (out.runs > 1) out.by_seed[column->name].push_back(table.rows[row].metrics[place]->value);
    }
  }
  for (const std::string& name : before.metrics) {
    const auto known = [&](const Baseline::Configuration& configuration) {
      return std::ranges::any_of(metrics::find_columns(name), [&](const metrics::Column* column) {
        return configuration.metrics.contains(column->name);
      });
    };
    if (std::ranges::none_of(baseline.configurations, known))
      diagnostics.warning({}, fmt::format("no result has {}: nothing can be held against it", in_quotes(name)));
  }
  return baseline;
}

const StructInfo& baseline_info() { return baseline_fields().info(); }

}  // namespace llmscape::explore
