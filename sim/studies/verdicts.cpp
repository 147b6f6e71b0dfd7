// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/functions.hpp"
#include "sim/studies/values.hpp"

namespace llmscape::studies {
namespace {

// The value at rank ceil(q n).
double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double median(const std::vector<double>& values) { return find_function("median")->of({values})->front(); }

std::string why(const Values& values, const Expression& expression) {
  const std::string said = values.why_nothing(expression);
  return said.empty() ? fmt::format("'{}' has no value", expression.text()) : said;
}

constexpr double kHoldingShare = 0.75,
                 kMissingShare = 0.25;  // shares from and up to which a condition holds and misses

struct Holding {
  std::int64_t seeds = 1;
  double share = 0;
  std::string nothing;
  [[nodiscard]] Verdict verdict() const {
    return share >= kHoldingShare ? Verdict::holds : share <= kMissingShare ? Verdict::misses : Verdict::ties;
  }
};

Holding holding(const Values& values, const Expression& condition) {
  Holding result;
  const auto all = values.all(condition);
  result.seeds = static_cast<std::int64_t>(all.size());
  std::size_t holds = 0;
  for (const auto& value : all) {
    if (value == Value(true)) ++holds;
    else if ((!value || !std::holds_alternative<bool>(*value)) && result.nothing.empty())
      result.nothing = value && std::holds_alternative<std::vector<bool>>(*value)
                           ? fmt::format("'{}' is a list of conditions: write all(...) around it", condition.text())
                           : why(values, condition);
  }
  result.share = static_cast<double>(holds) / static_cast<double>(all.size());
  return result;
}

bool is_within(const Claim& claim, double simulated) {
  if (claim.range) return simulated >= claim.range->first && simulated <= claim.range->second;
  return std::fabs(simulated - *claim.published) <= claim.tolerance.around(*claim.published);
}

void measure(const Values& values, const Expression& expression, ClaimOutcome& outcome) {
  std::vector<double> numbers;
  const auto all = values.all(expression);
  outcome.seeds = static_cast<std::int64_t>(all.size());
  for (const auto& value : all)
    if (const double* number = value ? std::get_if<double>(&*value) : nullptr) numbers.push_back(*number);
  if (numbers.size() < all.size()) {
    outcome.nothing = why(values, expression);
    return;
  }
  std::ranges::sort(numbers);
  outcome.simulated = median(numbers);
  outcome.low = quantile(numbers, 0.05);
  outcome.high = quantile(numbers, 0.95);
}

ClaimOutcome judge_claim(const Claim& claim, const Values& values) {
  ClaimOutcome outcome;
  Verdict verdict = Verdict::misses;
  if (claim.value) measure(values, *claim.value, outcome);
  if (claim.holds) {
    const Holding condition = holding(values, *claim.holds);
    outcome.seeds = condition.seeds;
    outcome.share = condition.share;
    if (outcome.nothing.empty()) outcome.nothing = condition.nothing;
    verdict = condition.verdict();
  } else if (outcome.simulated && is_within(claim, *outcome.simulated)) {
    verdict = Verdict::holds;
  }
  outcome.catalogue_verdict = verdict;
  outcome.as_claim = verdict;
  outcome.verdict = claim.calibration ? Verdict::calibration : verdict;
  return outcome;
}

bool same_bytes(const Study& study, const Results& results, std::size_t a, std::size_t b) {
  for (std::size_t point = 0; point < study.runs[a].points(); ++point)
    for (std::int64_t seed = 1; seed <= study.runs[a].seeds; ++seed) {
      const std::string &left = results.at(a, point, seed).text, &right = results.at(b, point, seed).text;
      if (left.empty() || left != right) return false;
    }
  return true;
}

using Problems = std::vector<std::string>;

// The numbers of an expression, medians over the seeds item by item; a single one without value, and a problem, where a
// seed has none. Lists have as many items with every seed: those of axes.
std::vector<std::optional<double>> numbers(const Values& values, const FigureItem& item, Problems& problems) {
  if (!item.expression) return {std::nullopt};
  const auto nothing = [&]() -> std::vector<std::optional<double>> {
    problems.push_back("figure: " + why(values, *item.expression));
    return {std::nullopt};
  };
  std::vector<std::vector<double>> items;
  for (const auto& value : values.all(*item.expression)) {
    if (!value) return nothing();
    const double* number = std::get_if<double>(&*value);
    const auto* list = std::get_if<std::vector<double>>(&*value);
    if (!number && !list) return nothing();
    const std::vector<double> one = list ? *list : std::vector{*number};
    items.resize(one.size());
    for (std::size_t i = 0; i < one.size(); ++i) items[i].push_back(one[i]);
  }
  std::vector<std::optional<double>> medians;
  for (const auto& over_seeds : items) medians.emplace_back(median(over_seeds));
  return medians;
}

DrawnFigure draw(const Figure& figure, const Values& values, Problems& problems) {
  DrawnFigure drawn{figure.title, figure.x, figure.y, {}, {}, {}};
  for (const FigureItem& label : figure.labels) {
    if (label.expression) {
      for (const auto& place : numbers(values, label, problems))
        drawn.labels.push_back(!place                         ? "?"
                               : *place == std::round(*place) ? fmt::format("{:.0f}", *place)
                                                              : fmt::format("{:.4g}", *place));
    } else {
      drawn.labels.push_back(label.text);
    }
  }
  for (const std::string& label : drawn.labels)
    if (const Value place = value_of(label); std::holds_alternative<double>(place))
      drawn.places.push_back(std::get<double>(place));
  if (drawn.places.size() != drawn.labels.size()) drawn.places.clear();
  for (const FigureSeries& series : figure.series) {
    DrawnSeries& out = drawn.series.emplace_back();
    out.name = series.name;
    for (const FigureItem& item : series.values)
      for (const auto& number : numbers(values, item, problems)) out.values.push_back(number);
    if (out.values.size() > drawn.labels.size())
      problems.push_back(fmt::format("figure: series '{}' has {} values for {} labels", out.name, out.values.size(),
                                     drawn.labels.size()));
    out.values.resize(drawn.labels.size());
  }
  return drawn;
}

// Of each point of a run the first seed that failed: others will say the same.
void collect_failures(const Study& study, const Results& results, const char* how, Problems& problems) {
  for (std::size_t run = 0; run < study.runs.size(); ++run)
    for (std::size_t point = 0; point < study.runs[run].points(); ++point)
      for (std::int64_t seed = 1; seed <= study.runs[run].seeds; ++seed)
        if (const Outcome& one = results.at(run, point, seed); one.text.empty()) {
          problems.push_back(fmt::format("run '{}'{} failed{} with seed {}: {}", study.runs[run].name,
                                         study.runs[run].axis.empty() ? "" : fmt::format("[{}]", point), how, seed,
                                         one.why));
          break;
        }
}

// Claims and negative tests without a value, misses without a reason and reasons without a miss.
void collect_unexplained(StudyOutcome& outcome) {
  const Study& study = *outcome.study;
  const auto explain = [&](const std::string& id, Verdict verdict, const std::string& miss,
                           const std::string& nothing) {
    if (!nothing.empty()) outcome.problems.push_back(fmt::format("{}: {}", id, nothing));
    const bool fails = verdict == Verdict::misses || verdict == Verdict::ties;
    if (fails && miss.empty())
      outcome.problems.push_back(fmt::format("{} {}, and 'miss' does not say why", id, name_of(verdict)));
    if (!fails && !miss.empty())
      outcome.problems.push_back(
          fmt::format("{} {}, and 'miss' says why not", id, verdict == Verdict::holds ? "holds" : "is a calibration"));
  };
  for (std::size_t i = 0; i < study.claims.size(); ++i)
    explain(study.claims[i].id, outcome.claims[i].verdict, study.claims[i].miss, outcome.claims[i].nothing);
  for (std::size_t i = 0; i < study.negative.size(); ++i)
    explain(study.negative[i].id, outcome.negative[i].holds ? Verdict::holds : Verdict::misses, study.negative[i].miss,
            outcome.negative[i].nothing);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::ties: return "ties";
    case Verdict::misses: return "misses";
    case Verdict::calibration: break;
  }
  return "calibration";
}

std::string_view name_of(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::exact: return "exact";
    case ClaimKind::close: return "close";
    case ClaimKind::range: return "range";
    case ClaimKind::direction: break;
  }
  return "direction";
}

std::string_view name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::abstract: return "abstract";
    case Evidence::repository: return "repository";
    case Evidence::vendor: return "vendor";
    case Evidence::full_text: return "full_text";
    case Evidence::note: return "note";
    case Evidence::derived: return "derived";
    case Evidence::memory: return "memory";
    case Evidence::own: break;
  }
  return "own";
}

Count& Count::operator+=(const Count& other) {
  held += other.held;
  counted += other.counted;
  held_with_catalogue += other.held_with_catalogue;
  return *this;
}

Count StudyOutcome::count(ClaimKind kind, bool published) const {
  Count count;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = study->claims[i];
    if (claim.kind != kind || claim.calibration || is_published(claim.evidence) != published) continue;
    count += {claims[i].verdict == Verdict::holds, 1, claims[i].catalogue_verdict == Verdict::holds};
  }
  return count;
}

Count StudyOutcome::negative_count() const {
  Count count;
  for (const NegativeOutcome& one : negative) count += {one.holds, 1, one.holds};
  return count;
}

bool StudyOutcome::as_declared() const {
  return problems.empty() && std::ranges::all_of(same, [](bool is) { return is; });
}

bool StudyOutcome::all_hold() const {
  const auto fails = [](const ClaimOutcome& claim) {
    return claim.verdict == Verdict::misses || claim.verdict == Verdict::ties;
  };
  return as_declared() && std::ranges::none_of(claims, fails) && std::ranges::all_of(negative, &NegativeOutcome::holds);
}

StudyOutcome judge(const Study& study, const Results& results, const Results* catalogue) {
  const Values values(study, results);
  StudyOutcome outcome;
  outcome.study = &study;
  for (const Claim& claim : study.claims) {
    ClaimOutcome& judged = outcome.claims.emplace_back(judge_claim(claim, values));
    if (!catalogue) continue;
    const ClaimOutcome plain = judge_claim(claim, Values(study, *catalogue));
    judged.catalogue = plain.share ? plain.share : plain.simulated;
    judged.catalogue_verdict = plain.catalogue_verdict;
  }
  for (const Negative& negative : study.negative) {
    const Holding condition = holding(values, negative.holds);
    outcome.negative.push_back(
        {condition.verdict() == Verdict::holds, condition.share, condition.seeds, condition.nothing});
  }
  for (const auto& [a, b] : study.same) outcome.same.push_back(same_bytes(study, results, a, b));
  collect_failures(study, results, "", outcome.problems);
  if (catalogue) collect_failures(study, *catalogue, " on the catalogue's kernels", outcome.problems);
  collect_unexplained(outcome);
  if (study.figure) outcome.figure = draw(*study.figure, values, outcome.problems);
  return outcome;
}

Study without_kernels(Study study) {
  study.kernels.reset();
  return study;
}

}  // namespace llmscape::studies
