// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/catalog.hpp"
#include "base/yaml_lines.hpp"
#include "sim/studies/study.hpp"

namespace llmscape::studies {
namespace {

namespace fs = std::filesystem;

bool is_run_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits) && !(name.front() >= '0' && name.front() <= '9') &&
         name != "and" && name != "or" && name != "not" && name != "true" && name != "false";
}

class Reader {
 public:
  Reader(Study& study, const StudyConfig& config, const YamlNode& root, Diagnostics& diagnostics)
      : study_(study), config_(config), root_(root), diagnostics_(diagnostics) {}

  void read() {
    study_.title = config_.title;
    study_.summary = config_.summary;
    study_.paper = config_.paper;
    study_.about = config_.about;
    for (const AssumedConfig& assumed : config_.assumed) {
      const YamlNode& value = assumed.value;
      study_.assumed.push_back({assumed.parameter, value.is_scalar() ? value.text : yaml_flow(value), assumed.reason});
    }
    if (config_.kernels) study_.kernels = {config_.kernels->set, config_.kernels->source};
    read_runs();
    check_kernels();
    read_lets();
    for (std::size_t i = 0; i < config_.claims.size(); ++i)
      read_claim(config_.claims[i], root_.find("claims")->items[i].where);
    for (const NegativeConfig& negative : config_.negative) read_negative(negative);
    check_ids();
    for (const YamlNode& pair : config_.same) read_same(pair);
    if (config_.figure) read_figure(*config_.figure);
  }

 private:
  [[nodiscard]] std::vector<std::string> kernels_of(const std::string& scenario) const {
    if (!config_.kernels) return {};
    std::vector<std::string> all = config_.kernels->set;
    if (const auto more = config_.kernels->scenarios.find(scenario); more != config_.kernels->scenarios.end())
      all.insert(all.end(), more->second.set.begin(), more->second.set.end());
    return all;
  }

  void check_kernels() {
    if (!config_.kernels) return;
    for (const auto& [scenario, more] : config_.kernels->scenarios) {
      const auto of_this = [&scenario](const auto& run) { return run.second.scenario == scenario; };
      if (std::ranges::none_of(config_.runs, of_this))
        diagnostics_.error(root_.find("kernels")->find("scenarios")->find(scenario)->where,
                           "no run is of the scenario '" + scenario + "'");
    }
  }

  void read_runs() {
    for (const auto& [name, config] : config_.runs) {
      const YamlNode* node = root_.find("runs")->find(name);
      NamedRun& run = study_.runs.emplace_back();
      run.name = name;
      run.where = node->where;
      run.scenario = study_.file.parent_path() / config.scenario;
      run.set = config.set;
      if (config.kernels) run.kernels = kernels_of(config.scenario);
      run.seeds = config.seeds.value_or(config_.seeds);
      run.analytic = config.analytic;
      for (const YamlNode& value : config.values)
        run.axis.push_back({value.is_scalar() ? value.text : yaml_flow(value), *config.axis + '=' + yaml_flow(value),
                            value_of(value.text)});
      if (!is_run_name(name))
        diagnostics_.error(node->where, fmt::format("{} is no name of a run", in_quotes(name)),
                           "names are letters, digits and '_', as expressions use them");
      std::error_code unreadable;
      if (!fs::is_regular_file(run.scenario, unreadable))
        diagnostics_.error(node->find("scenario")->where,
                           fmt::format("there is no scenario '{}'", run.scenario.string()));
    }
  }

  void read_lets() {
    for (const YamlNode::Entry& entry : config_.let.entries) {
      if (!is_run_name(entry.key) || study_.find_run(entry.key))
        diagnostics_.error(entry.key_where, fmt::format("{} cannot be the name of an expression", in_quotes(entry.key)),
                           study_.find_run(entry.key) ? "there is a run of that name" : "use letters, digits and '_'");
      if (auto expression = parse(entry.value)) study_.lets.push_back({entry.key, std::move(*expression)});
      else broken_lets_.insert(entry.key);
    }
    if (config_.let.kind != YamlNode::Kind::null && !config_.let.is_mapping())
      diagnostics_.error(config_.let.where, "'let' is a mapping from names to expressions");
  }

  std::optional<Expression> parse(const YamlNode& node) {
    if (!node.is_scalar()) {
      diagnostics_.error(node.where, "an expression is a text: \"a.ttft.p99 / b.ttft.p99\"");
      return std::nullopt;
    }
    SourceRange where = node.where;
    if (node.quoted) ++where.column;
    auto expression = Expression::parse(node.text, where, diagnostics_);
    if (expression)
      for (const Expression::Name& name : expression->names())
        if (!name.may_be_text || is_place(name.name)) check_name(name);
    return expression;
  }

  // "a.kv.hit_rate", where there is a run 'a': no text that something is compared with.
  [[nodiscard]] bool is_place(std::string_view name) const {
    const RunName parts = split_run_name(name);
    return study_.find_run(parts.run) && (parts.indexed || !parts.path.empty());
  }

  void check_name(const Expression::Name& name) {
    if (study_.find_let(name.name) || broken_lets_.contains(name.name)) return;
    const RunName parts = split_run_name(name.name);
    const auto run = study_.find_run(parts.run);
    if (!run) {
      std::vector<std::string> known;
      for (const NamedRun& each : study_.runs) known.push_back(each.name);
      for (const Let& let : study_.lets) known.push_back(let.name);
      diagnostics_.error(name.where, fmt::format("there is no run {}", in_quotes(parts.run)),
                         did_you_mean(parts.run, known));
      return;
    }
    const NamedRun& named = study_.runs[*run];
    if (parts.path.empty()) {
      diagnostics_.error(name.where, fmt::format("{} is a run: say which of its metrics", in_quotes(name.name)),
                         "see 'llmscape list metrics'");
    } else if (parts.indexed == named.axis.empty()) {
      diagnostics_.error(name.where, named.axis.empty()
                                         ? fmt::format("'{}' is one run and has no items", named.name)
                                         : fmt::format("'{0}' is a list of {1} runs: write {0}[0] or {0}[]", named.name,
                                                       named.points()));
    } else if (!parts.item.empty()) {
      if (const auto item = item_number(parts.item); !item || *item >= named.points())
        diagnostics_.error(name.where, fmt::format("'{}' has no item '{}': they count from 0 to {}", named.name,
                                                   parts.item, named.points() - 1));
    }
  }

  // The number that the node is: "0.764", "76.4%", "200 ms".
  std::optional<double> number(const YamlNode& node, std::string_view key) {
    const Value value = node.is_scalar() ? value_of(node.text) : Value("");
    if (const double* is = std::get_if<double>(&value)) return *is;
    diagnostics_.error(node.where, fmt::format("'{}' must be a number", key), "write it like 0.5, 50% or 20 ms");
    return std::nullopt;
  }

  void read_claim(const ClaimConfig& config, const SourceRange& where) {
    Claim claim;
    claim.id = config.id;
    claim.what = config.what;
    claim.kind = config.kind;
    claim.evidence = config.evidence;
    claim.source = config.source.value_or("");
    claim.miss = config.miss.value_or("");
    claim.calibration = config.calibration;
    const bool direction = claim.kind == ClaimKind::direction;
    const auto need = [&](const YamlNode& node, const char* key, bool needed) {
      const bool is = node.kind != YamlNode::Kind::null;
      if (needed && !is) diagnostics_.error(where, fmt::format("claim '{}' needs '{}'", claim.id, key));
      return is;
    };
    if (need(config.value, "value", !direction)) claim.value = parse(config.value);
    if (need(config.holds, "holds", direction)) claim.holds = parse(config.holds);
    if (!direction && claim.holds)
      diagnostics_.error(config.holds.where, "'holds' is of directions; other claims have 'value' and 'published'");
    if (need(config.published, "published", !direction)) read_published(config.published, claim);
    const bool within = claim.kind == ClaimKind::exact || claim.kind == ClaimKind::close;
    if (need(config.tolerance, "tolerance", within)) {
      if (!within) diagnostics_.error(config.tolerance.where, "'tolerance' is of exact and close claims");
      const auto amount = number(config.tolerance, "tolerance");
      claim.tolerance = {amount.value_or(0), config.tolerance.text.ends_with('%'), config.tolerance.text};
      if (amount && *amount < 0) diagnostics_.error(config.tolerance.where, "a tolerance is not negative");
    }
    study_.claims.push_back(std::move(claim));
  }

  void read_published(const YamlNode& node, Claim& claim) {
    if (claim.kind == ClaimKind::direction) {
      diagnostics_.error(node.where, "a direction has no published number", "use kind: range or kind: close");
    } else if (claim.kind != ClaimKind::range) {
      claim.published = number(node, "published");
    } else if (node.items.size() != 2) {
      diagnostics_.error(node.where, "a range has two ends: [1.2, 1.5]");
    } else {
      const auto low = number(node.items[0], "published"), high = number(node.items[1], "published");
      if (low && high && *low > *high) diagnostics_.error(node.where, "the first end of a range is the lower one");
      if (low && high) claim.range = {*low, *high};
    }
  }

  void read_negative(const NegativeConfig& config) {
    if (auto holds = parse(config.holds))
      study_.negative.push_back({config.id, config.what, config.miss.value_or(""), std::move(*holds)});
  }

  void check_ids() {
    std::set<std::string> ids;
    const auto check = [&](const char* list) {
      const YamlNode* node = root_.find(list);
      if (!node) return;
      for (const YamlNode& item : node->items)
        if (const YamlNode* id = item.find("id"); id && !ids.insert(id->text).second)
          diagnostics_.error(id->where, fmt::format("{} is the id of another one", in_quotes(id->text)));
    };
    check("claims");
    check("negative");
  }

  void read_same(const YamlNode& pair) {
    std::vector<std::size_t> both;
    for (const YamlNode& name : pair.items) {
      std::vector<std::string> known;
      for (const NamedRun& each : study_.runs) known.push_back(each.name);
      if (const auto run = study_.find_run(name.text)) both.push_back(*run);
      else
        diagnostics_.error(name.where, fmt::format("there is no run {}", in_quotes(name.text)),
                           did_you_mean(name.text, known));
    }
    if (pair.items.size() != 2) {
      diagnostics_.error(pair.where, "'same' is a list of pairs of runs: [[baseline, technique_off]]");
    } else if (both.size() == 2) {
      const NamedRun &a = study_.runs[both[0]], &b = study_.runs[both[1]];
      if (both[0] == both[1]) diagnostics_.error(pair.where, fmt::format("'{}' is compared with itself", a.name));
      else if (a.points() != b.points() || a.seeds != b.seeds)
        diagnostics_.error(pair.where, fmt::format("'{}' and '{}' have not as many runs", a.name, b.name));
      else study_.same.emplace_back(both[0], both[1]);
    }
  }

  FigureItem item(const YamlNode& node, bool text) {
    if (node.kind == YamlNode::Kind::null) return {};
    if (text) return {node.text, std::nullopt};
    return {node.text, parse(node)};
  }

  void read_figure(const FigureConfig& config) {
    Figure figure{config.title, config.y, config.x.value_or(""), {}, {}};
    const std::string first = config.labels.empty() ? "" : config.labels.front().text;
    const bool list = config.labels.size() == 1 && (first.find("[]") != std::string::npos || study_.find_let(first));
    for (const YamlNode& label : config.labels) figure.labels.push_back(item(label, !list));
    for (const SeriesConfig& series : config.series) {
      FigureSeries& out = figure.series.emplace_back();
      out.name = series.name;
      for (const YamlNode& value : series.values) out.values.push_back(item(value, false));
      const bool one_list = series.values.size() == 1 && !series.values.front().text.empty();
      if (!list && !one_list && series.values.size() != config.labels.size())
        diagnostics_.error(series.values.empty() ? root_.find("figure")->where : series.values.front().where,
                           fmt::format("series '{}' has {} values for {} labels", series.name, series.values.size(),
                                       config.labels.size()));
    }
    study_.figure = std::move(figure);
  }

  Study& study_;
  const StudyConfig& config_;
  const YamlNode& root_;
  Diagnostics& diagnostics_;
  std::set<std::string, std::less<>> broken_lets_;  // reported: what uses them is not
};

}  // namespace

std::optional<Study> read_study(const fs::path& file, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.errors();
  const auto root = description_file(file, "study", diagnostics);
  if (!root) return std::nullopt;
  StudyConfig config;
  if (!study_fields().read(config, *root, diagnostics)) return std::nullopt;
  Study study;
  study.file = file;
  study.name = fs::weakly_canonical(file).parent_path().filename().string();
  Reader(study, config, *root, diagnostics).read();
  return diagnostics.errors() == errors_before ? std::optional(std::move(study)) : std::nullopt;
}

}  // namespace llmscape::studies
