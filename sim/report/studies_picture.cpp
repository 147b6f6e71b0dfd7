// SPDX-License-Identifier: Apache-2.0
#include "sim/report/studies_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/report/studies_table.hpp"
#include "sim/report/svg.hpp"

namespace llmscape::report {
namespace {

constexpr double kWidth = 640, kLeft = 130, kRight = 540, kTop = 74, kRow = 24;
constexpr double kEdge = 2;  // factor at either end of the axis

double place(double ratio) {
  const double clamped = std::clamp(ratio, 1 / kEdge, kEdge);
  return (kLeft + kRight) / 2 + (kRight - kLeft) / 2 * std::log(clamped) / std::log(kEdge);
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return svg_text(x, y, anchor, "tick", text);
}

std::string dot(double x, double y, bool holds) {
  return fmt::format("<circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill-opacity=\"0.65\"/>\n",
                     holds ? "s0" : "s1", x, y);
}

std::string row(const studies::StudyOutcome& outcome, double y) {
  std::string out = text_at(kLeft - 12, y + 4, "end", outcome.study->name);
  for (std::size_t i = 0; i < outcome.claims.size(); ++i) {
    const studies::Claim& claim = outcome.study->claims[i];
    if (claim.calibration || !studies::is_published(claim.evidence)) continue;
    if (const auto ratio = ratio_to_published(claim, outcome.claims[i]))
      out += dot(place(*ratio), y, outcome.claims[i].verdict == studies::Verdict::holds);
  }
  const studies::Count count = claims_count(outcome, true);
  return out + text_at(kRight + 12, y + 4, "start",
                       count.counted == 0 ? "none" : fmt::format("{} of {}", count.held, count.counted));
}

}  // namespace

std::optional<double> ratio_to_published(const studies::Claim& claim, const studies::ClaimOutcome& outcome) {
  if (!outcome.simulated) return std::nullopt;
  std::optional<double> published = claim.published;
  if (claim.range) published = std::clamp(*outcome.simulated, claim.range->first, claim.range->second);
  return published && *published != 0 ? std::optional(*outcome.simulated / *published) : std::nullopt;
}

std::string studies_picture(const std::vector<studies::StudyOutcome>& outcomes) {
  const double bottom = kTop + kRow * static_cast<double>(outcomes.size());
  std::string inside = dot(20, 42, true) + text_at(30, 46, "start", "holds") + dot(90, 42, false) +
                       text_at(100, 46, "start", "misses or ties; beyond a factor of two at the edge") +
                       text_at(kRight + 12, kTop - 12, "start", "held");
  for (const double tick : {0.5, 0.7, 0.8, 0.9, 1., 1.1, 1.25, 1.5, 2.}) {
    inside += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", tick == 1 ? "zero" : "grid",
                          place(tick), kTop, bottom);
    inside += text_at(place(tick), bottom + 18, "middle", fmt::format("{:g}", tick));
  }
  double y = kTop + kRow / 2;
  for (const studies::StudyOutcome& outcome : outcomes) {
    inside += row(outcome, y);
    y += kRow;
  }
  return svg_document(kWidth, bottom + 30, "Simulated over published, all published claims", inside);
}

}  // namespace llmscape::report
