// SPDX-License-Identifier: Apache-2.0
#include "sim/report/studies_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/table.hpp"
#include "sim/report/studies_table.hpp"

namespace llmscape::report {
namespace {

using studies::Claim;
using studies::StudyOutcome;
using studies::Verdict;

constexpr const char* kHead = R"(<!-- Written by `llmscape reproduce --markdown`; do not edit. -->
# Published systems, reproduced

Each study simulates a published system with its own hardware, model and workload, and holds the result against the numbers that
were published. Everything here is what `llmscape reproduce` printed; [studies-format.md](studies-format.md) says how a study is
written.

A claim is *exact* (a count or a formula: the tolerance is for rounding), *close* (a number and a tolerance), a *range* (an interval
to land in, reported), or a *direction* (a sign or an order, no number). Simulated numbers are medians over the seeds; in brackets
the 5 % and 95 % quantiles where seeds differ. Errors and tolerances with % are shares of the published number, others amounts.

The rule of honesty: scenarios use what was published. What was not is *assumed*, once per study, with a reason, and carries all of
its claims. A claim that a parameter was set from is a *calibration* and not counted. A claim that misses stays, with its reason; no
tolerance was widened and no constant set for it. Efficiencies of devices come from the calibrated catalogue. Where times of single
kernels or prompts show that the authors' engine ran others, the study states them with their source, and every claim is computed a
second time with the catalogue's own: both results are shown.

Where a technique should lose or change nothing, a *negative test* says so, and a technique that is switched off must give the
baseline's results byte for byte.

)";

std::string in_cell(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string held(const studies::Count& count) {
  return count.counted == 0 ? "-" : fmt::format("{} of {}", count.held, count.counted);
}

std::string summary(const std::vector<StudyOutcome>& outcomes) {
  Table table({"study", "published claims", "other claims", "negative tests", "equal runs"});
  for (const StudyOutcome& outcome : outcomes)
    table.row({fmt::format("[{0}](#{0})", outcome.study->name), held(claims_count(outcome, true)),
               held(claims_count(outcome, false)), held(outcome.negative_count()),
               held({static_cast<std::size_t>(std::ranges::count(outcome.same, true)), outcome.same.size()})});
  std::string lines;
  for (const std::string& line : studies_headline(outcomes)) lines += fmt::format("- {}.\n", line);
  return fmt::format("What holds:\n\n{}\n{}", lines, table.markdown());
}

std::string kernels(const studies::Study& study) {
  if (!study.kernels) return "";
  std::string text = fmt::format("\nKernels of the authors' engine: {}\n\n", in_cell(study.kernels->source));
  for (const std::string& value : study.kernels->set) text += fmt::format("- `{}`\n", value);
  return text;
}

std::string assumptions(const studies::Study& study) {
  if (study.assumed.empty()) return "";
  Table table({"assumed", "value", "why"});
  for (const studies::Assumed& assumed : study.assumed)
    table.row({in_cell(assumed.parameter), in_cell(assumed.value), in_cell(assumed.reason)});
  return '\n' + table.markdown();
}

// "abstract", "note: table 7"
std::string evidence(const Claim& claim) {
  std::string name(name_of(claim.evidence));
  std::ranges::replace(name, '_', ' ');
  return claim.source.empty() ? name : fmt::format("{}: {}", name, in_cell(claim.source));
}

std::string claims(const StudyOutcome& outcome) {
  const studies::Study& study = *outcome.study;
  std::vector<std::string> columns{"claim", "what",      "kind",    "published", "simulated",
                                   "error", "tolerance", "verdict", "evidence"};
  if (study.kernels) columns.insert(columns.end() - 1, "with the catalogue's kernels");
  Table table(columns);
  std::string misses;
  for (std::size_t i = 0; i < study.claims.size(); ++i) {
    const Claim& claim = study.claims[i];
    const ClaimCells cells = cells_of(claim, outcome.claims[i]);
    const Verdict verdict = outcome.claims[i].verdict;
    const bool missed = verdict == Verdict::misses || verdict == Verdict::ties;
    std::vector<std::string> row{claim.id,        in_cell(claim.what), std::string(name_of(claim.kind)),
                                 cells.published, cells.simulated,     cells.error,
                                 cells.tolerance, cells.verdict,       evidence(claim)};
    if (missed) row[7] = fmt::format("**{}**", cells.verdict);
    if (study.kernels) row.insert(row.end() - 1, cells.catalogue);
    table.row(std::move(row));
    if (missed) misses += fmt::format("- {} {}: {}\n", claim.id, cells.verdict, claim.miss);
  }
  return '\n' + table.markdown() + (misses.empty() ? "" : '\n' + misses);
}

std::string tests(const StudyOutcome& outcome) {
  const studies::Study& study = *outcome.study;
  std::string text;
  for (std::size_t i = 0; i < study.negative.size(); ++i) {
    const studies::NegativeOutcome& one = outcome.negative[i];
    text += fmt::format("- {}{}: {}{}\n", one.holds ? "" : "**misses**, ", study.negative[i].id, study.negative[i].what,
                        one.seeds > 1 ? fmt::format(" ({})", share_of_seeds(one.share, one.seeds)) : "");
    if (!one.holds && !study.negative[i].miss.empty()) text += fmt::format("  {}\n", study.negative[i].miss);
  }
  if (!text.empty()) text = "\nNegative tests:\n\n" + text;
  std::string pairs;
  for (std::size_t i = 0; i < study.same.size(); ++i)
    pairs += fmt::format("{}`{}` = `{}`{}", pairs.empty() ? "" : ", ", study.runs[study.same[i].first].name,
                         study.runs[study.same[i].second].name, outcome.same[i] ? "" : " **(differ)**");
  if (!pairs.empty()) text += fmt::format("\nThe same bytes: {}.\n", pairs);
  return text;
}

}  // namespace

std::string studies_page(const std::vector<StudyOutcome>& outcomes) {
  std::string page = kHead + summary(outcomes);
  for (const StudyOutcome& outcome : outcomes) {
    const studies::Study& study = *outcome.study;
    page += fmt::format("\n## {}\n\n**{}** ({})\n\n{}", study.name, study.title, study.paper, study.about);
    if (!page.ends_with('\n')) page += '\n';
    if (outcome.figure) page += fmt::format("\n![{}](pictures/studies/{}.svg)\n", outcome.figure->title, study.name);
    page += claims(outcome) + tests(outcome) + assumptions(study) + kernels(study);
    for (const std::string& problem : outcome.problems) page += fmt::format("\n**Problem:** {}\n", in_cell(problem));
  }
  return page;
}

}  // namespace llmscape::report
