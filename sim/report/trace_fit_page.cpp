// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace_fit_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/line_picture.hpp"
#include "sim/report/svg.hpp"

namespace llmscape::report {
namespace {

using workloads::FitScore;
using workloads::RecordedCall;
using workloads::Recording;

// The colours are those of the report's page: what is recorded in ink, the fit in blue.
constexpr const char* kFitPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>@TITLE@ – llmscape trace fit</title>
<style>
:root { --paper: #fff; --ink: #1a1d21; --soft: #565e69; --rule: #e2e5e9; --accent: #0072b2; --bad: #b84a00; color-scheme: light; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --ink: #e9ebee; --soft: #a9b1bb; --rule: #2d333a; --accent: #5cb3e8; --bad: #ff9657; color-scheme: dark; }
}
body { margin: 0 auto; max-width: 1240px; padding: 24px 28px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 22px; } h2 { margin: 40px 0 10px; padding-top: 14px; border-top: 1px solid var(--rule); font-size: 19px; }
p, figcaption { color: var(--soft); } b.a { color: var(--ink); } b.b { color: var(--accent); }
table { border-collapse: collapse; } th, td { padding: 3px 18px 3px 0; text-align: right; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; color: var(--soft); } .no { color: var(--bad); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 22px; margin-top: 18px; }
figure { margin: 0; } figcaption { font-size: 13px; font-weight: 600; } svg { width: 100%; height: auto; }
.grid { stroke: var(--rule); fill: none; } .tick { fill: var(--soft); font-size: 12px; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .line.a { stroke: var(--ink); } .line.b { stroke: var(--accent); }
.band { fill: var(--accent); opacity: .18; stroke: none; }
</style>
</head>
<body>
)";

std::string figure_of(const LinePicture& picture) {
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escaped(picture.title), svg_of(picture));
}

// The share of values at most each of some 200 of them.
PictureLine shares_of(std::string style, std::vector<double> values) {
  std::ranges::sort(values);
  PictureLine out{std::move(style), {}, {}, true};
  const std::size_t step = std::max<std::size_t>(1, values.size() / 200);
  for (std::size_t i = 0; i < values.size(); i += step) {
    out.x.push_back(values[i]);
    out.y.push_back(static_cast<double>(i + 1) / static_cast<double>(values.size()));
  }
  if (!values.empty()) {
    out.x.push_back(values.back());
    out.y.push_back(1);
  }
  return out;
}

template <class Value>
LinePicture shares(std::string title, std::string x, bool log, const Recording& recorded, const Recording& fitted,
                   Value value) {
  const auto all = [&value](const Recording& recording) {
    std::vector<double> out;
    for (std::size_t i = 0; i < recording.calls.size(); ++i) out.push_back(value(recording, i));
    return out;
  };
  return {std::move(title),
          std::move(x),
          "share of calls",
          log,
          false,
          {shares_of("a", all(recorded)), shares_of("b", all(fitted))}};
}

// Calls in windows of `window` seconds, up to `end`.
PictureLine counts_of(std::string style, const Recording& recording, double window, double end) {
  PictureLine out{std::move(style), {}, {}, true};
  const auto windows = static_cast<std::size_t>(std::ceil(end / window));
  out.y.resize(windows);
  for (std::size_t i = 0; i < windows; ++i) out.x.push_back(static_cast<double>(i) * window);
  for (const RecordedCall& call : recording.calls)
    if (call.arrival < end) ++out.y[std::min(windows - 1, static_cast<std::size_t>(call.arrival / window))];
  return out;
}

LinePicture counts(const ShownFit& fit, double window, double end, const std::string& of) {
  return {"Calls in each " + of,
          "seconds",
          "calls",
          false,
          false,
          {counts_of("a", fit.recorded, window, end), counts_of("b", fit.score.sample, window, end)}};
}

LinePicture fanos(const FitScore& score) {
  LinePicture out{
      "Fano factor: variance over mean of the calls in windows", "seconds of a window", "Fano factor", true, true, {}};
  PictureLine recorded{"a", {}, {}}, fitted{"b", {}, {}};
  for (const auto& [window, figure] : score.fanos) {
    if (!figure.recorded) continue;
    recorded.x.push_back(window);
    recorded.y.push_back(*figure.recorded);
    fitted.x.push_back(window);
    fitted.y.push_back(figure.fitted.mean);
    out.band.x.push_back(window);
    out.band.low.push_back(std::max(figure.fitted.low, 0.01));
    out.band.high.push_back(std::max(figure.fitted.high, 0.01));
  }
  out.lines = {std::move(recorded), std::move(fitted)};
  return out;
}

std::string pictures(const ShownFit& fit) {
  const Recording& sample = fit.score.sample;
  std::string out = "<div class=\"pictures\">\n";
  out +=
      figure_of(shares("Prompt lengths", "tokens", true, fit.recorded, sample, [](const Recording& r, std::size_t i) {
        return static_cast<double>(r.calls[i].prompt_tokens);
      }));
  out +=
      figure_of(shares("Output lengths", "tokens", true, fit.recorded, sample, [](const Recording& r, std::size_t i) {
        return static_cast<double>(r.calls[i].output_tokens);
      }));
  const double duration = fit.recorded.duration;
  // At most 400 windows are drawn.
  const double minutes = std::max(1.0, std::ceil(duration / 60 / 400));
  out +=
      figure_of(counts(fit, 60 * minutes, duration, minutes == 1 ? "minute" : fmt::format("{:.0f} minutes", minutes)));
  if (fit.recorded.tick <= 1) out += figure_of(counts(fit, 1, std::min(duration, 300.0), "second, at the start"));
  out += figure_of(fanos(fit.score));
  if (fit.score.reuse.recorded) {
    const auto recorded = reuse_of(fit.recorded), fitted = reuse_of(sample);
    out +=
        figure_of(shares("Share of each prompt that was there before", "share of the prompt", false, fit.recorded,
                         sample, [&](const Recording& r, std::size_t i) {
                           const auto& reuse = &r == &sample ? fitted : recorded;
                           return static_cast<double>(reuse[i].tokens) / static_cast<double>(r.calls[i].prompt_tokens);
                         }));
  }
  return out + "</div>\n";
}

std::string table_of(const ShownFit& fit) {
  std::string out = "<table>\n<tr><th>figure</th><th>recorded</th><th>fit</th><th>may be</th><th>holds</th></tr>\n";
  for (const auto& row : workloads::rows_of(fit.score)) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += fmt::format("<td{}>{}</td>", cell == "no" ? " class=\"no\"" : "", escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string trace_fit_page(const std::string& trace, const std::vector<ShownFit>& fits, const std::string& tool) {
  std::string out = kFitPageHead;
  out.replace(out.find("@TITLE@"), 7, escaped(trace));
  out += fmt::format(
      "<h1>{}</h1>\n<p><b class=\"a\">Black</b>: recorded. <b class=\"b\">Blue</b>: the fit, one seed; "
      "means, and bands from 2.5 % to 97.5 %, are of twenty seeds. KS: the largest distance between the "
      "shares; recorded is that of the fitted part and the compared one with each other. Written by {}.</p>\n",
      escaped(trace), escaped(tool));
  for (const ShownFit& fit : fits)
    out += fmt::format("<h2>{}</h2>\n<p>{} calls in {:.0f} s</p>\n{}{}", escaped(fit.title), fit.recorded.calls.size(),
                       fit.recorded.duration, table_of(fit), pictures(fit));
  return out + "</body>\n</html>\n";
}

}  // namespace llmscape::report
