// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "base/sobol.hpp"
#include "base/yaml_lines.hpp"
#include "sim/explore/overlaid.hpp"
#include "sim/explore/plan_checks.hpp"
#include "sim/explore/results.hpp"

namespace llmscape::explore {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000;

// Each axis is cut into as many parts as there are points, and each part is hit once.
std::vector<double> latin_hypercube(std::size_t points, RandomStream random) {
  std::vector<double> places(points);
  std::iota(places.begin(), places.end(), 0.);
  for (std::size_t i = points; i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
  for (double& place : places) place = (place + random.uniform()) / static_cast<double>(points);
  return places;
}

std::vector<std::vector<double>> places_of(const SampleConfig& sample, std::size_t axes) {
  const auto points = static_cast<std::size_t>(sample.points);
  const RandomStreams streams(static_cast<std::uint64_t>(sample.seed));
  std::vector<std::vector<double>> places(axes, std::vector<double>(points));
  Sobol sobol(static_cast<std::uint64_t>(sample.seed));
  for (std::size_t i = 0; sample.method == SampleMethod::sobol && i < points; ++i) {
    const Sobol::Point point = sobol.next();
    for (std::size_t axis = 0; axis < axes; ++axis) places[axis][i] = point[axis];
  }
  for (std::size_t axis = 0; sample.method != SampleMethod::sobol && axis < axes; ++axis) {
    RandomStream random = streams.stream("sample", axis);
    if (sample.method == SampleMethod::latin_hypercube) places[axis] = latin_hypercube(points, random);
    else std::ranges::generate(places[axis], [&random] { return random.uniform(); });
  }
  return places;
}

// What exclusions may name: columns of the plan, whole or by their short name.
class Names {
 public:
  explicit Names(const std::vector<std::string>& columns) : columns_(columns), short_(short_names(columns)) {}
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    for (const auto* names : {&columns_, &short_}) {
      const auto found = std::ranges::find(*names, name);
      if (found != names->end()) return static_cast<std::size_t>(found - names->begin());
    }
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> names = short_;
    names.insert(names.end(), columns_.begin(), columns_.end());
    return names;
  }

 private:
  const std::vector<std::string>& columns_;
  std::vector<std::string> short_;
};

// The configurations of a sample that are drawn once more: lists, whole numbers and the digits that values are written
// with make one of several draws. The same run under another number is no further evidence.
std::vector<bool> drawn_before(const std::vector<Axis>& axes, const std::vector<std::vector<double>>& places,
                               std::uint64_t points) {
  std::vector<bool> again;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < points; ++i) {
    std::string values;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      for (const std::string& value : axes[axis].at(places[axis][i]).values) values += value + '\n';
    again.push_back(!seen.insert(std::move(values)).second);
  }
  return again;
}

std::vector<std::string> columns_of(const std::vector<Axis>& axes) {
  std::vector<std::string> columns;
  for (const Axis& axis : axes) columns.insert(columns.end(), axis.columns.begin(), axis.columns.end());
  return columns;
}

// Those that the plan names, whatever is wrong with their values.
std::vector<std::string> declared_columns(const PlanConfig& config) {
  std::vector<std::string> columns;
  const auto add = [&columns](const YamlNode& of) {
    for (const YamlNode::Entry& entry : of.entries) columns.push_back(entry.key);
  };
  add(config.variants);
  if (config.zip.is_sequence()) std::ranges::for_each(config.zip.items, add);
  else add(config.zip);
  add(config.axes);
  return columns;
}

// The values that a column of the plan has.
std::vector<std::string> values_of(const std::vector<Axis>& axes, std::size_t column) {
  std::vector<std::string> values;
  for (const Axis& axis : axes) {
    if (column >= axis.columns.size()) {
      column -= axis.columns.size();
      continue;
    }
    if (axis.interval) return axis.at(0).values;
    for (const Choice& choice : axis.choices) values.push_back(choice.values[column]);
    break;
  }
  return values;
}

std::vector<Expression> read_exclusions(const PlanConfig& config, const std::vector<Axis>& axes,
                                        Diagnostics& diagnostics) {
  const std::vector<std::string> columns = columns_of(axes);
  const Names names(columns);
  const std::vector<std::string> all_columns = declared_columns(config);
  const Names declared(all_columns);
  const auto unit_of = [&](std::string_view name) -> std::optional<NameUnit> {
    const auto column = names.find(name);
    return column ? unit_of_values(values_of(axes, *column)) : std::nullopt;
  };
  std::vector<Expression> all;
  for (const YamlNode& node : config.exclude) {
    SourceRange where = node.where;
    if (node.quoted) ++where.column;
    auto expression = Expression::parse(node.text, where, diagnostics);
    if (!expression) continue;
    for (std::size_t i = 0; i < expression->names().size(); ++i) {
      const Expression::Name& name = expression->names()[i];
      if (names.find(name.name) || declared.find(name.name)) continue;
      if (!name.may_be_text) {
        diagnostics.error(name.where, fmt::format("'{}' is not varied in this plan", name.name),
                          did_you_mean(name.name, declared.all()));
        continue;
      }
      const std::string& of = expression->names()[i - 1].name;  // it stands behind a name
      const auto column = names.find(of);
      const auto values = column ? values_of(axes, *column) : std::vector<std::string>();
      if (column && std::ranges::find(values, name.name) == values.end())
        diagnostics.error(name.where, fmt::format("'{}' never is {}", of, in_quotes(name.name)),
                          did_you_mean(name.name, values));
    }
    expression->check_units(unit_of, diagnostics);
    all.push_back(std::move(*expression));
  }
  return all;
}

// The base as a tree and the folder that its paths start from; an invalid tree after reporting.
std::pair<YamlNode, std::filesystem::path> read_base(const PlanConfig& config, const std::filesystem::path& folder,
                                                     Diagnostics& diagnostics) {
  if (config.base.kind == YamlNode::Kind::null) return {};
  if (config.base.is_mapping()) return {config.base, config.folder ? folder / *config.folder : folder};
  const std::filesystem::path file = folder / config.base.text;
  if (!config.base.is_scalar() || !std::filesystem::is_regular_file(file)) {
    diagnostics.error(config.base.where, fmt::format("there is no scenario '{}'", file.string()));
    return {};
  }
  return {read_yaml_file(file, diagnostics), config.folder ? folder / *config.folder : file.parent_path()};
}

void lay(YamlNode& base, const PlanConfig& config, const std::vector<std::string>& set, Diagnostics& diagnostics) {
  scenario::spell_out_scenario(base);
  for (const YamlNode::Entry& entry : config.set.entries) {
    apply_override(base, entry.key + '=' + yaml_flow(entry.value), diagnostics);
    scenario::spell_out_scenario(base);
  }
  scenario::report_overridden(set, std::nullopt, diagnostics);
  for (const std::string& assignment : set) {
    apply_override(base, assignment, diagnostics);
    scenario::spell_out_scenario(base);
  }
}

// A scenario is the plan of one point.
YamlNode plan_of_scenario(const std::filesystem::path& file) {
  YamlNode root = YamlNode::mapping({});
  root.set("schema", YamlNode::scalar("sweep/1"));
  root.set("base", YamlNode::scalar(file.filename().string()));
  return root;
}

// "path=1,2,3" becomes an axis of the plan. `typed`: the paths of those before it.
void add_axis(YamlNode& root, const std::string& assignment, std::set<std::string>& typed, Diagnostics& diagnostics) {
  const std::size_t equals = assignment.find('=');
  const auto source = std::make_shared<const SourceText>(SourceText{"--axis " + assignment, assignment});
  if (equals == 0 || equals == std::string::npos) {
    diagnostics.error({source, 1, 1, 1}, "an axis is written PATH=VALUE,VALUE,...",
                      "for example --axis workload.arrivals.rate='1 /s,2 /s'");
    return;
  }
  const std::string path = assignment.substr(0, equals);
  if (!typed.insert(path).second)
    diagnostics.error({source, 1, 1, static_cast<int>(equals)}, fmt::format("'{}' is varied by two --axis", path),
                      "one has all its values");
  std::string values = assignment.substr(equals + 1);
  if (!values.starts_with('[') && !values.starts_with('{')) values = '[' + values + ']';
  YamlNode node = read_yaml(std::make_shared<const SourceText>(SourceText{source->name, values}), diagnostics);
  if (!root.find("axes")) root.set("axes", YamlNode::mapping({}));
  root.find("axes")->set(path, std::move(node));
}

std::optional<PlanConfig> read_config(YamlNode root, Diagnostics& diagnostics) {
  PlanConfig config;
  const YamlNode* schema = root.find("schema");
  if (!schema || schema->text != "sweep/1") {
    diagnostics.error(schema ? schema->where : root.where, "this is no plan of a sweep, and no scenario",
                      "begin with 'schema: sweep/1'");
    return std::nullopt;
  }
  root.erase("schema");
  plan_fields().read(config, root, diagnostics);  // axes are read all the same: all mistakes at once
  if (config.sample && config.sample->points > kMostSamples)
    diagnostics.error(root.find("sample")->where, fmt::format("at most {} points are drawn", kMostSamples));
  if (config.set.kind != YamlNode::Kind::null && !config.set.is_mapping())
    diagnostics.error(config.set.where, "'set' is a mapping from paths to values");
  return config;
}

}  // namespace

Plan::Plan(YamlNode tree, PlanConfig config, YamlNode base, std::filesystem::path folder, std::vector<Axis> axes,
           std::vector<Expression> exclude)
    : tree_(std::move(tree)), config_(std::move(config)), base_(std::move(base)), folder_(std::move(folder)),
      axes_(std::move(axes)), exclude_(std::move(exclude)), columns_(columns_of(axes_)),
      short_columns_(short_names(columns_)) {
  Diagnostics reported;  // when the plan was read
  seed_ = first_seed(base_, config_.repeat, reported);
  if (config_.sample) {
    sample_ = places_of(*config_.sample, axes_.size());
    configurations_ = static_cast<std::uint64_t>(config_.sample->points);
    drawn_before_ = drawn_before(axes_, sample_, configurations_);
  } else {
    for (const Axis& axis : axes_) configurations_ *= axis.choices.size();
  }
}

std::optional<Point> Plan::point(std::uint64_t index) const {
  const std::uint64_t configuration = index / static_cast<std::uint64_t>(config_.repeat);
  if (configuration < drawn_before_.size() && drawn_before_[configuration]) return std::nullopt;
  std::uint64_t rest = configuration;
  std::vector<Choice> chosen(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    if (config_.sample) {
      chosen[i] = axes_[i].at(sample_[i][configuration]);
      continue;
    }
    const std::vector<Choice>& choices = axes_[i].choices;
    chosen[i] = choices[rest % choices.size()];
    rest /= choices.size();
  }
  return point_of(std::move(chosen), index);
}

std::optional<Point> Plan::point_of(std::vector<Choice> chosen, std::uint64_t index) const {
  Point point;
  point.index = index;
  point.repeat = static_cast<std::int64_t>(index % static_cast<std::uint64_t>(config_.repeat));
  point.seed = seed_ + point.repeat;
  for (Choice& choice : chosen) {
    std::ranges::move(choice.values, std::back_inserter(point.values));
    std::ranges::move(choice.overrides, std::back_inserter(point.overrides));
  }
  if (excluded(point)) return std::nullopt;
  return point;
}

bool Plan::excluded(const Point& point) const {
  if (exclude_.empty()) return false;
  const Names names(columns_);
  const auto lookup = [&](std::string_view name) -> std::optional<Value> {
    const auto column = names.find(name);
    return column ? std::optional(value_of(point.values[*column])) : std::nullopt;
  };
  return std::ranges::any_of(exclude_, [&](const Expression& e) { return e.holds(lookup); });
}

std::string Plan::label(const Point& point) const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", short_columns_[i], point.values[i]);
  if (config_.repeat > 1) text += fmt::format("{}seed={}", text.empty() ? "" : " ", point.seed);
  return text.empty() ? "the scenario itself" : text;
}

std::optional<Plan> load_plan(const std::filesystem::path& file, const PlanChanges& changes, Diagnostics& diagnostics) {
  YamlNode root = read_yaml_file(file, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (const YamlNode* schema = root.find("schema"); schema && schema->text == "scenario/1")
    root = plan_of_scenario(file);
  std::set<std::string> typed;
  for (const std::string& assignment : changes.axes) add_axis(root, assignment, typed, diagnostics);
  if (changes.repeat) root.set("repeat", YamlNode::scalar(std::to_string(*changes.repeat)));
  if (changes.intervals) root.set("intervals", YamlNode::scalar("true"));
  auto config = read_config(root, diagnostics);
  if (!config) return std::nullopt;
  auto [base, folder] = read_base(*config, file.parent_path(), diagnostics);
  if (!diagnostics.has_errors()) lay(base, *config, changes.set, diagnostics);
  std::vector<Axis> all = read_axes(*config, !changes.is_space, diagnostics);
  if (config->sample && config->sample->method == SampleMethod::sobol && all.size() > Sobol::kDimensions)
    diagnostics.error(config->axes.where,
                      fmt::format("a Sobol sequence spreads over {} axes at most", Sobol::kDimensions),
                      "use method: latin_hypercube");
  check_overlaid(*config, changes.set, all, base, diagnostics);
  auto exclude = read_exclusions(*config, all, diagnostics);
  const bool points_known = !diagnostics.has_errors();
  check_judgement(root, declared_columns(*config), diagnostics);
  check_limits(*config, root, diagnostics);
  first_seed(base, config->repeat, diagnostics);
  if (diagnostics.has_errors() && !(changes.all_mistakes && points_known)) return std::nullopt;
  return Plan(std::move(root), std::move(*config), std::move(base), std::move(folder), std::move(all),
              std::move(exclude));
}

std::optional<PlanNames> names_in_plan(const std::filesystem::path& file) {
  Diagnostics unheard;  // load_plan() has said it
  PlanNames names{read_yaml_file(file, unheard), {}};
  if (unheard.has_errors()) return std::nullopt;
  const auto config = read_config(names.tree, unheard);
  if (!config || unheard.has_errors()) return std::nullopt;
  names.columns = declared_columns(*config);
  return names;
}

std::optional<scenario::Scenario> scenario_of(const Plan& plan, const Point& point, const scenario::Catalogs& catalogs,
                                              Diagnostics& diagnostics) {
  return scenario::read_scenario(plan.base(), plan.folder(), point.overrides, point.seed, catalogs, diagnostics);
}

}  // namespace llmscape::explore
