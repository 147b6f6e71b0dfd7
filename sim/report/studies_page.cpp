// SPDX-License-Identifier: Apache-2.0
#include "sim/report/studies_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/table.hpp"
#include "sim/report/studies_picture.hpp"
#include "sim/report/studies_table.hpp"

namespace llmscape::report {
namespace {

using studies::Claim;
using studies::StudyOutcome;
using studies::Verdict;

constexpr const char* kStudiesHead = R"(<!-- Written by `llmscape reproduce --markdown`; do not edit. -->
# Published systems, reproduced

Each study simulates a published system with its own hardware, model and workload, and holds the result against what was published.
All here is what `llmscape reproduce` printed. [How to read it](#how-to-read-it) stands below the overview.

)";

constexpr const char* kHowToRead = R"(
## How to read it

A claim is *exact* (a count or a formula: the tolerance is for rounding), *close* (a number and a tolerance), a *range* (an interval
to land in), or a *direction* (a sign or an order, no number). Simulated numbers are medians over the seeds; in brackets the 5 % and
95 % quantiles where seeds differ. Errors and tolerances with % are shares of the published number, others amounts. A direction holds
when at least three seeds of four say so; between that and one of four it is a tie, which does not count as held.

*Evidence* says where the number was found. Published are abstract and full text of the paper, the authors' repository (code, tables,
figures, pages) and publications of vendors. A note is someone else's summary, derived what is computed from other numbers, memory
unverified, own an analysis of this project: these stand in a line of their own.

Scenarios use what was published. What was not is *assumed*, once per study, with a reason, and carries all of its claims. A claim that
a parameter was set from, or that cannot fail, is a *calibration* and not counted; one outside its tolerance says that it misses.
A claim that misses stays, with its reason; no
tolerance was widened and no constant set for it. Efficiencies of devices come from the calibrated catalogue. Where times of single
kernels or prompts show that the authors' engine ran others, the study states them with their source, and every claim is computed a
second time with the catalogue's own: both results are shown.

Where a technique should lose or change nothing, a *negative test* says so, and a technique that is switched off must give the
baseline's results byte for byte. [studies-format.md](studies-format.md) says how a study is written.
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
  return fmt::format("{}\n{}\n![Simulated over published, all published claims](pictures/studies/{}.svg)\n", lines,
                     table.markdown(), kStudiesPicture);
}

// "Reproduced: 3 of 4 published claims (not x); 2 of 2 others."
std::string reproduced(const StudyOutcome& outcome) {
  std::vector<std::string> parts;
  for (const bool published : {true, false}) {
    const studies::Count count = claims_count(outcome, published);
    if (count.counted == 0) continue;
    std::vector<std::string> failing;
    for (std::size_t i = 0; i < outcome.claims.size(); ++i) {
      const Claim& claim = outcome.study->claims[i];
      const Verdict verdict = outcome.claims[i].verdict;
      if (studies::is_published(claim.evidence) != published) continue;
      if (verdict == Verdict::misses) failing.push_back(claim.id);
      if (verdict == Verdict::ties) failing.push_back(claim.id + ", a tie");
    }
    parts.push_back(fmt::format("{} of {} {}{}", count.held, count.counted, published ? "published claims" : "others",
                                failing.empty() ? "" : fmt::format(" (not {})", fmt::join(failing, ", "))));
  }
  return fmt::format("Reproduced: {}.",
                     parts.empty() ? "nothing that counts" : fmt::format("{}", fmt::join(parts, "; ")));
}

// What is folded away until it is asked for.
std::string folded(std::string_view name, std::string_view inside) {
  return fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", name, inside);
}

std::string kernels(const studies::Study& study) {
  if (!study.kernels) return "";
  std::string text = in_cell(study.kernels->source) + "\n\n";
  for (const std::string& value : study.kernels->set) text += fmt::format("- `{}`\n", value);
  return folded("Kernels of the authors' engine", text);
}

std::string assumptions(const studies::Study& study) {
  if (study.assumed.empty()) return "";
  Table table({"assumed", "value", "why"});
  for (const studies::Assumed& assumed : study.assumed)
    table.row({in_cell(assumed.parameter), in_cell(assumed.value), in_cell(assumed.reason)});
  return folded("What is assumed, and why", table.markdown());
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

std::string studies_page(const std::vector<StudyOutcome>& outcomes, const std::string& missing) {
  std::string page = kStudiesHead + summary(outcomes) + (missing.empty() ? "" : '\n' + missing) + kHowToRead;
  for (const StudyOutcome& outcome : outcomes) {
    const studies::Study& study = *outcome.study;
    page += fmt::format("\n## {}\n\n{} **{}**\n", study.name, in_cell(study.summary), reproduced(outcome));
    page += claims(outcome) + tests(outcome);
    if (outcome.figure) page += fmt::format("\n![{}](pictures/studies/{}.svg)\n", outcome.figure->title, study.name);
    page += fmt::format("\n**{}** ({})\n\n{}", study.title, study.paper, study.about);
    if (!page.ends_with('\n')) page += '\n';
    page += assumptions(study) + kernels(study);
    for (const std::string& problem : outcome.problems) page += fmt::format("\n**Problem:** {}\n", in_cell(problem));
  }
  return page;
}

}  // namespace llmscape::report
