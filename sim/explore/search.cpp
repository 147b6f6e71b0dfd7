// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/process_pool.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/run_row.hpp"
#include "sim/explore/sweep.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {
namespace {

constexpr std::size_t kRunsOfChild = 256;
constexpr std::size_t kLookAhead = 64;  // steps of the search that are supposed, to find runs for idle jobs

class Searcher {
 public:
  Searcher(const Plan& plan, const SearchQuery& query, const SearchOptions& options)
      : plan_(plan), query_(query), options_(options) {
    table_.axes = {query.number.path};
  }

  SearchAnswer search() {
    std::size_t ended = 0;
    const std::optional<double> first = step({}).next;
    std::vector<const metrics::Column*> lacking, sums;
    ProcessPool<Task, std::string> pool(
        [this](const Task& task) {
          std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches children too; the parent ends them
          return run_point(plan_, point(task.value, task.seed), "", options_.catalogs);
        },
        {options_.jobs, std::nullopt, std::nullopt, kRunsOfChild});
    pool.run([this] { return next_task(); },
             [&](const Task& task, const TaskOutcome<std::string>& outcome) {
               keep(task, outcome);
               options_.after_each(++ended);
               if (first && task == Task{*first, 0} && outcome.answer) {
                 lacking = lacking_in(runs_[*first].at(0));
                 sums = sums_without_length(*first);
               }
               return lacking.empty() && sums.empty() && step({}).next.has_value();
             });
    if (lacking.empty() && sums.empty()) return answer();
    SearchAnswer none;
    none.lacking = std::move(lacking);
    none.incomparable = std::move(sums);
    none.tried.push_back(alone(query_.question, table_, runs_[*first].at(0)));
    none.tried.back().value = *first;
    none.tried.back().text = query_.number.written(*first);
    none.runs = 1;
    return none;
  }

 private:
  // A value with one of the seeds.
  struct Task {
    double value;
    std::size_t seed;
    bool operator==(const Task&) const = default;
    template <class Message>
    void cross(Message& m) {
      m(value, seed);
    }
  };
  using Supposed = std::map<double, Standing>;

  [[nodiscard]] Point point(double value, std::size_t seed) const {
    const std::string text = query_.number.written(value);
    Point point;
    point.values = {text};
    point.overrides = {query_.number.path + '=' + text};
    point.repeat = static_cast<std::int64_t>(seed);
    point.seed = plan_.point(0)->seed + point.repeat;
    return point;
  }

  // Why no scenario can have the value; empty if one can.
  const std::string& refusal(double value) {
    const auto known = refusals_.find(value);
    if (known != refusals_.end()) return known->second;
    Diagnostics diagnostics;
    scenario_of(plan_, point(value, 0), options_.catalogs, diagnostics);
    return refusals_[value] = diagnostics.has_errors() ? diagnostics.sorted().front().message : "";
  }

  void keep(const Task& task, const TaskOutcome<std::string>& outcome) {
    if (outcome.answer) keep_run(task, *outcome.answer);
    else failures_[task.value][task.seed] = outcome.error;
    refuse_failure();
  }

  void keep_run(const Task& task, const std::string& json) {
    const std::string text = query_.number.written(task.value);
    const auto result = nlohmann::json::parse(json).at("result");
    SearchRun run{row_of(result), ""};
    run.row.values = {text};
    run.row.repeat = static_cast<std::int64_t>(task.seed);
    const auto& reasons = result.at("verdict").at("reasons");
    if (!reasons.empty()) run.reason = reasons.front().get<std::string>();
    runs_[task.value].emplace(task.seed, std::move(run));
    judge_again(task.value);
  }

  // Metrics of the limits that no value brings: a run with completed calls has all latencies.
  [[nodiscard]] std::vector<const metrics::Column*> lacking_in(const SearchRun& run) const {
    std::vector<const metrics::Column*> lacking;
    const auto of = [&run](const metrics::Column* column) {
      return run.row.metrics[static_cast<std::size_t>(column - metrics::columns().data())];
    };
    const auto completed = of(metrics::find_column("completed"));
    if (!completed || completed->value == 0) return lacking;
    for (const Limit& limit : query_.question.limits)
      for (const Expression* side : {&limit.left, &limit.right})
        for (const Expression::Name& name : side->names())
          if (const metrics::Column* column = metrics::find_column(name.name);
              column && !of(column) && std::ranges::find(lacking, column) == lacking.end())
            lacking.push_back(column);
    return lacking;
  }

  // Sums in the limits where the scenario says neither how long the window is nor that it is the whole run.
  [[nodiscard]] std::vector<const metrics::Column*> sums_without_length(double value) {
    std::vector<const metrics::Column*> sums;
    for (const Limit& limit : query_.question.limits)
      for (const Expression* side : {&limit.left, &limit.right})
        std::ranges::copy(sums_in(*side), std::back_inserter(sums));
    if (sums.empty()) return sums;
    Diagnostics unheard;
    const auto scenario = scenario_of(plan_, point(value, 0), options_.catalogs, unheard);
    const SearchRun& run = runs_[value].at(0);
    const auto of = [&run](std::string_view name) {
      return run.row.metrics[static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data())];
    };
    // Not by the length of this run's window: one that is never steady falls back to the whole run.
    const bool stated =
        scenario && ((scenario->config.window.rule == metrics::WindowRule::between && scenario->config.window.to) ||
                     scenario->config.window.rule == metrics::WindowRule::whole);
    if (stated) sums.clear();
    std::erase_if(sums, [&](const metrics::Column* column) { return !of(column->name); });  // said to be lacking
    return sums;
  }

  // A run that failed is of no account until the search asks for it.
  void refuse_failure() {
    const SearchStep wanted = step({});
    if (!wanted.next || !failures_.contains(*wanted.next)) return;
    std::size_t seed = 0;
    while (runs_[*wanted.next].contains(seed)) ++seed;
    const auto& failures = failures_.at(*wanted.next);
    if (const auto failure = failures.find(seed); failure != failures.end())
      throw std::runtime_error(fmt::format("the run at {} = {} failed: {}", query_.number.path,
                                           query_.number.written(*wanted.next), failure->second));
  }

  // The runs without a gap from the first seed on decide: what runs beside them changes nothing.
  void judge_again(double value) {
    std::vector<SearchRun> in_turn;
    for (const auto& [seed, run] : runs_[value]) {
      if (seed != in_turn.size()) break;
      in_turn.push_back(run);
    }
    keep_judged(judged_, value, judge(query_.question, table_, in_turn));
    keep_judged(confirmed_, value, judge(query_.question, table_, in_turn, query_.question.repeat));
  }

  void keep_judged(std::map<double, TriedValue>& all, double value, std::optional<TriedValue> judged) const {
    if (!judged) return;
    judged->value = value;
    judged->text = query_.number.written(value);
    all.insert_or_assign(value, std::move(*judged));
  }

  // Values that would be the answer are judged by all seeds: where runs scatter widely, the one that lies far enough
  // from a limit to decide by itself is a lucky one.
  using Candidates = std::set<double>;
  [[nodiscard]] const TriedValue* known_of(double value, const Candidates& candidates) const {
    const auto& all = candidates.contains(value) ? confirmed_ : judged_;
    const auto known = all.find(value);
    return known == all.end() ? nullptr : &known->second;
  }

  // Where a search over what `standing` (value, candidates) knows has come to, its answer confirmed.
  template <class StandingOf>
  SearchStep confirmed_step(Candidates& candidates, const StandingOf& standing) const {
    for (;;) {
      const SearchStep found =
          next_step(query_.space, [&](double value) { return standing(value, std::as_const(candidates)); });
      if (found.next || !found.met || !candidates.insert(*found.met).second) return found;
    }
  }

  SearchStep step(const Supposed& supposed) {
    Candidates candidates;
    return confirmed_step(candidates, [&](double value, const Candidates& asked) -> std::optional<Standing> {
      if (!refusal(value).empty()) return Standing::refused;
      if (const TriedValue* known = known_of(value, asked)) return known->standing;
      const auto maybe = supposed.find(value);
      return maybe == supposed.end() ? std::nullopt : std::optional(maybe->second);
    });
  }

  // The run that the search needs next, or one that it may need after those that are under way.
  std::optional<Task> next_task() {
    std::deque<Supposed> ahead = {{}};
    for (std::size_t looked_at = 0; !ahead.empty() && looked_at < kLookAhead; ++looked_at) {
      Supposed supposed = std::move(ahead.front());
      ahead.pop_front();
      const SearchStep wanted = step(supposed);
      if (!wanted.next) continue;
      if (const auto task = new_run_of(*wanted.next)) {
        tasks_.push_back(*task);
        return task;
      }
      for (const Standing standing : {Standing::met, Standing::failed}) {
        supposed[*wanted.next] = standing;
        ahead.push_back(supposed);
      }
    }
    return std::nullopt;
  }

  // The first seed, and after its run has not decided the others.
  std::optional<Task> new_run_of(double value) {
    const std::size_t seeds = runs_[value].empty() ? 1 : query_.question.repeat;
    for (std::size_t seed = 0; seed < seeds; ++seed)
      if (const Task task{value, seed}; std::ranges::find(tasks_, task) == tasks_.end()) return task;
    return std::nullopt;
  }

  // Goes through the search once more, over what is known.
  SearchAnswer answer() {
    SearchAnswer answer;
    Candidates candidates;
    const SearchStep end =
        confirmed_step(candidates, [&](double value, const Candidates& asked) -> std::optional<Standing> {
          if (!refusal(value).empty()) return Standing::refused;
          const TriedValue& judged = *known_of(value, asked);
          const auto before = std::ranges::find(answer.tried, value, &TriedValue::value);
          if (before == answer.tried.end()) answer.tried.push_back(judged);
          else *before = judged;
          return judged.standing;
        });
    for (const TriedValue& value : answer.tried) answer.runs += value.runs.size();
    if (end.met) answer.best = value_at(*end.met, candidates);
    if (end.failed) answer.next = value_at(*end.failed, candidates);
    return answer;
  }

  TriedValue value_at(double value, const Candidates& candidates) {
    TriedValue tried;
    if (const TriedValue* known = known_of(value, candidates)) tried = *known;
    tried.value = value;
    tried.text = query_.number.written(value);
    if (const std::string& why = refusal(value); !why.empty()) {
      tried.standing = Standing::refused;
      tried.why = why;
    }
    return tried;
  }

  const Plan& plan_;
  const SearchQuery& query_;
  const SearchOptions& options_;
  ResultsTable table_;  // without rows: what limits may name
  std::vector<Task> tasks_;
  std::map<double, std::map<std::size_t, SearchRun>> runs_;        // by value, then seed
  std::map<double, std::map<std::size_t, std::string>> failures_;  // why runs failed
  std::map<double, TriedValue> judged_;                            // by as many runs as decide
  std::map<double, TriedValue> confirmed_;                         // by those of all seeds
  std::map<double, std::string> refusals_;
};

}  // namespace

SearchAnswer search(const Plan& plan, const SearchQuery& query, const SearchOptions& options) {
  return Searcher(plan, query, options).search();
}

}  // namespace llmscape::explore
