// SPDX-License-Identifier: Apache-2.0
#include "sim/report/studies_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"

namespace llmscape::report {
namespace {

using studies::Claim;
using studies::ClaimKind;
using studies::ClaimOutcome;
using studies::StudyOutcome;

std::string number(double value) {
  const bool whole = std::fabs(value) >= 1e4 && std::fabs(value) < 1e7;  // not 1.234e+04
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string simulated(const ClaimOutcome& outcome) {
  if (!outcome.simulated) return "none";
  const std::string value = number(*outcome.simulated);
  if (*outcome.low == *outcome.high) return value;
  return fmt::format("{} ({} to {})", value, number(*outcome.low), number(*outcome.high));
}

std::string error_text(const Claim& claim, const ClaimOutcome& outcome) {
  if (!outcome.simulated || (!claim.published && !claim.range)) return "";
  if (claim.range) {
    const auto [low, high] = *claim.range;
    const double value = *outcome.simulated;
    if (value >= low && value <= high) return "";
    return fmt::format("{:+.3g}", value < low ? value - low : value - high);
  }
  const double off = *outcome.simulated - *claim.published;
  if (claim.tolerance.relative && *claim.published != 0)
    return fmt::format("{:+.3g} %", 100 * off / std::fabs(*claim.published));
  return fmt::format("{:+.3g}", off);
}

}  // namespace

std::string share_of_seeds(double share, std::int64_t seeds) {
  if (seeds == 1) return share > 0 ? "yes" : "no";
  return fmt::format("{:.0f} of {} seeds", share * static_cast<double>(seeds), seeds);
}

ClaimCells cells_of(const Claim& claim, const ClaimOutcome& outcome) {
  ClaimCells cells;
  if (claim.published) cells.published = number(*claim.published);
  if (claim.range) cells.published = fmt::format("{} to {}", number(claim.range->first), number(claim.range->second));
  cells.tolerance = claim.tolerance.text.empty() ? "" : "± " + claim.tolerance.text;
  if (outcome.share) {
    cells.published = "yes";
    cells.simulated = share_of_seeds(*outcome.share, outcome.seeds);
    if (outcome.simulated) cells.simulated += ": " + simulated(outcome);
  } else {
    cells.simulated = simulated(outcome);
  }
  if (outcome.catalogue) {
    cells.catalogue = outcome.share ? share_of_seeds(*outcome.catalogue, outcome.seeds) : number(*outcome.catalogue);
    if (!claim.calibration) cells.catalogue += fmt::format(", {}", name_of(outcome.catalogue_verdict));
  }
  cells.error = error_text(claim, outcome);
  cells.verdict = name_of(outcome.verdict);
  if (claim.calibration && outcome.as_claim != studies::Verdict::holds)
    cells.verdict += fmt::format(" ({})", name_of(outcome.as_claim));
  return cells;
}

studies::Count claims_count(const StudyOutcome& outcome, bool published) {
  studies::Count count;
  for (const ClaimKind kind : studies::kClaimKinds) count += outcome.count(kind, published);
  return count;
}

std::vector<std::string> studies_headline(const std::vector<StudyOutcome>& outcomes) {
  std::vector<std::string> lines;
  const auto add_claims = [&](bool published, const char* name) {
    std::vector<std::string> parts;
    for (const ClaimKind kind : studies::kClaimKinds) {
      studies::Count all;
      for (const StudyOutcome& outcome : outcomes) all += outcome.count(kind, published);
      if (all.counted == 0) continue;
      parts.push_back(fmt::format("{} of {} {}", all.held, all.counted, name_of(kind)));
      if (all.held_with_catalogue != all.held)
        parts.back() += fmt::format(" ({} with the catalogue's kernels)", all.held_with_catalogue);
    }
    if (!parts.empty()) lines.push_back(fmt::format("{}: {}", name, fmt::join(parts, ", ")));
  };
  add_claims(true, "Published claims");
  add_claims(false, "Derived, second-hand, from memory or our own");
  studies::Count negative;
  std::size_t same = 0, pairs = 0;
  for (const StudyOutcome& outcome : outcomes) {
    negative += outcome.negative_count();
    pairs += outcome.same.size();
    same += static_cast<std::size_t>(std::ranges::count(outcome.same, true));
  }
  std::vector<std::string> parts;
  if (negative.counted > 0) parts.push_back(fmt::format("{} of {} negative tests", negative.held, negative.counted));
  if (pairs > 0) parts.push_back(fmt::format("{} of {} equal runs", same, pairs));
  if (!parts.empty()) lines.push_back(fmt::format("Tests: {}", fmt::join(parts, ", ")));
  return lines;
}

std::string studies_table(const std::vector<StudyOutcome>& outcomes, int width) {
  std::string text;
  for (const StudyOutcome& outcome : outcomes) {
    const studies::Study& study = *outcome.study;
    std::vector<std::string> columns{"claim",     "kind",  "evidence",  "published",
                                     "simulated", "error", "tolerance", "verdict"};
    if (study.kernels) columns.push_back("catalogue");
    Table table(columns);
    for (std::size_t i = 0; i < study.claims.size(); ++i) {
      const ClaimCells cells = cells_of(study.claims[i], outcome.claims[i]);
      std::vector<std::string> row{study.claims[i].id,
                                   std::string(name_of(study.claims[i].kind)),
                                   std::string(name_of(study.claims[i].evidence)),
                                   cells.published,
                                   cells.simulated,
                                   cells.error,
                                   cells.tolerance,
                                   cells.verdict};
      if (study.kernels) row.push_back(cells.catalogue);
      table.row(std::move(row));
    }
    const auto add = [&](std::string name, const char* kind, std::string simulated, bool holds) {
      std::vector<std::string> row{std::move(name),      kind, "", "yes",
                                   std::move(simulated), "",   "", holds ? "holds" : "misses"};
      row.resize(columns.size());
      table.row(std::move(row));
    };
    for (std::size_t i = 0; i < study.negative.size(); ++i)
      add(study.negative[i].id, "negative", share_of_seeds(outcome.negative[i].share, outcome.negative[i].seeds),
          outcome.negative[i].holds);
    for (std::size_t i = 0; i < study.same.size(); ++i)
      add(fmt::format("{} = {}", study.runs[study.same[i].first].name, study.runs[study.same[i].second].name),
          "same bytes", outcome.same[i] ? "yes" : "no", outcome.same[i]);
    text += fmt::format("{}: {}\n{}", study.name, study.title, table.text(width));
    for (std::size_t i = 0; i < study.claims.size(); ++i)
      if (!study.claims[i].miss.empty())
        text +=
            fmt::format("  {} {}: {}\n", study.claims[i].id, name_of(outcome.claims[i].verdict), study.claims[i].miss);
    for (const std::string& problem : outcome.problems) text += fmt::format("  problem: {}\n", problem);
    text += '\n';
  }
  return text + fmt::format("{}\n", fmt::join(studies_headline(outcomes), "\n"));
}

}  // namespace llmscape::report
