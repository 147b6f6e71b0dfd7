// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/table.hpp"
#include "workloads/fit/fit_arrivals.hpp"
#include "workloads/fit/fit_lengths.hpp"
#include "workloads/fit/sessions.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kReusePoints = 0.03;

std::vector<double> prompts_of(const Recording& recording) {
  std::vector<double> out;
  for (const RecordedCall& call : recording.calls) out.push_back(static_cast<double>(call.prompt_tokens));
  return out;
}
std::vector<double> outputs_of(const Recording& recording) {
  std::vector<double> out;
  for (const RecordedCall& call : recording.calls) out.push_back(static_cast<double>(call.output_tokens));
  return out;
}

// Calls of each session.
std::vector<double> session_calls(const Recording& recording) {
  std::map<std::string, double> calls;
  for (const RecordedCall& call : recording.calls)
    if (!call.session.empty()) ++calls[call.session];
  std::vector<double> out;
  for (const auto& [session, count] : calls) out.push_back(count);
  return out;
}

// Where programs are sessions: a recording goes on until the last one ends; one that was cut out of longer traffic
// begins with sessions under way.
Starting starting_beside(const WorkloadConfig& fitted, const Recording& recorded) {
  constexpr double kMostBefore = 10;  // recordings
  const std::vector<Session> sessions = sessions_of(recorded);
  if (sessions.empty() || streams().write(*fitted.stream).find("kind")->text != "agents") return {};
  Starting out{0, sessions.back().front()->arrival};
  if (ends_of(sessions, recorded.duration).begins_cut)
    out.before = std::min(longest_program(fitted), kMostBefore * recorded.duration);
  return out;
}

// Nothing where the recording knows no content.
std::optional<double> reuse_share(const Recording& recording) {
  double tokens = 0, reused = 0;
  bool known = false;
  for (const RecordedCall& call : recording.calls) {
    tokens += static_cast<double>(call.prompt_tokens);
    known = known || !call.prompt.empty();
  }
  for (const Reuse& head : reuse_of(recording)) reused += static_cast<double>(head.tokens);
  return known && tokens > 0 ? std::optional(reused / tokens) : std::nullopt;
}

// Of contents wherever they stood, as far as they were there.
std::optional<double> known_share(const Recording& recording) {
  double tokens = 0, known = 0;
  std::unordered_map<ContentId, std::int64_t> seen;  // up to which token
  for (const RecordedCall& call : recording.calls) {
    tokens += static_cast<double>(call.prompt_tokens);
    for (const Segment& segment : call.prompt)
      if (const auto at = seen.find(segment.id); at != seen.end())
        known += static_cast<double>(std::clamp<std::int64_t>(at->second - segment.offset, 0, segment.tokens));
    for (const Segment& segment : call.prompt)
      seen[segment.id] = std::max(seen[segment.id], segment.offset + segment.tokens);
  }
  return seen.empty() || tokens == 0 ? std::nullopt : std::optional(known / tokens);
}

// Nothing in windows that the recording's clock does not tell apart.
std::optional<double> fano_in(const Recording& recording, double window) {
  if (window < recording.tick) return std::nullopt;
  std::vector<double> arrivals;
  for (const RecordedCall& call : recording.calls) arrivals.push_back(call.arrival);
  return fano_of(arrivals, recording.duration, window);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, values.size()));
}

// Its ends `widened` times as far from the mean, as ratios: no figure is below 0.
SeedBand band_of(std::vector<double> values, double widened) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const double mean = mean_of(values);
  if (mean <= 0) return {mean, mean, mean};
  const auto end = [&](double share) { return mean * std::pow(quantile_of(values, share) / mean, widened); };
  return {end(0.025), mean, end(0.975)};
}

// Of Fano factors of as many calls: it may be off by one call more or less in two windows, as a recording begins and
// ends somewhere. Of counts that are all alike, the variance is then that of two in as many.
SeedBand fano_band(const std::vector<double>& values, double widened, const Recording& recorded) {
  SeedBand band = band_of(values, widened);
  const double ends = 2 / static_cast<double>(std::max<std::size_t>(1, recorded.calls.size()));
  return {std::max(0.0, band.low - ends), band.mean, band.high + ends};
}

std::string number(double value) { return fmt::format("{:.3g}", value); }

using Rows = std::vector<std::vector<std::string>>;

void add_row(Rows& rows, const char* name, const FitFigure& figure, bool holds) {
  if (!figure.recorded) return;
  rows.push_back({name, number(*figure.recorded), number(figure.fitted.mean),
                  fmt::format("{} to {}", number(figure.fitted.low), number(figure.fitted.high)),
                  holds ? "yes" : "no"});
}

void add_row(Rows& rows, const char* name, const LengthScore& length) {
  rows.push_back({name, number(length.recordings), number(length.fit),
                  fmt::format("to {}", number(length.recordings + 0.02)), length.holds() ? "yes" : "no"});
}

// A mean of lengths may be off by a twentieth where many calls make the band narrow.
bool near(const FitFigure& figure) {
  return figure.in_band() || std::abs(figure.fitted.mean / figure.recorded.value_or(0) - 1) <= 0.05;
}

// Windows of 1 s and longer, of which the recording has at least four.
std::vector<double> windows_of(const Recording& recording) {
  std::vector<double> out;
  for (const double window :
       {1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1'800.0, 3'600.0, 10'800.0, 43'200.0, 86'400.0})
    if (window <= std::max(1.0, recording.duration / 4)) out.push_back(window);
  return out;
}

}  // namespace

double ks_distance(std::vector<double> one, std::vector<double> other) {
  if (one.empty() || other.empty()) return 1;
  std::ranges::sort(one);
  std::ranges::sort(other);
  double largest = 0;
  for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    const double at = std::min(one[i], other[j]);
    while (i < one.size() && one[i] == at) ++i;
    while (j < other.size() && other[j] == at) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(one.size()) -
                                         static_cast<double>(j) / static_cast<double>(other.size())));
  }
  return largest;
}

bool FitScore::reuse_holds() const {
  return !reuse.recorded || std::abs(*reuse.recorded - reuse.fitted.mean) <= kReusePoints;
}

bool FitScore::anywhere_holds() const {
  return !anywhere.recorded || std::abs(*anywhere.recorded - anywhere.fitted.mean) <= kReusePoints;
}

FitScore score(const WorkloadConfig& fitted, const Recording& fitted_to, const Recording& recorded, int seeds) {
  std::vector<double> prompts, outputs, prompt_means, output_means, rates, fanos_1, fanos_60, reuses, known, calls;
  FitScore out;
  // The errors of two parts add up as squares.
  const double widened = &fitted_to == &recorded ? 1 : std::sqrt(1 + recorded.duration / fitted_to.duration);
  const std::vector<double> windows = windows_of(recorded);
  const Starting starting = starting_beside(fitted, recorded);
  std::vector<std::vector<double>> fanos(windows.size());
  for (int seed = 1; seed <= seeds; ++seed) {
    Recording run = emitted(fitted, recorded.duration, static_cast<std::uint64_t>(seed), starting);
    const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    add(prompts, prompts_of(run));
    add(outputs, outputs_of(run));
    add(calls, session_calls(run));
    prompt_means.push_back(mean_of(prompts_of(run)));
    output_means.push_back(mean_of(outputs_of(run)));
    rates.push_back(static_cast<double>(run.calls.size()) / run.duration);
    if (const auto fano = fano_in(run, 1)) fanos_1.push_back(*fano);
    if (const auto fano = fano_in(run, 60)) fanos_60.push_back(*fano);
    reuses.push_back(reuse_share(run).value_or(0));
    known.push_back(known_share(run).value_or(0));
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (const auto fano = fano_in(run, windows[i])) fanos[i].push_back(*fano);
    if (seed == 1) out.sample = std::move(run);
  }
  out.prompt = {ks_distance(prompts, prompts_of(recorded)), ks_distance(prompts_of(fitted_to), prompts_of(recorded))};
  out.output = {ks_distance(outputs, outputs_of(recorded)), ks_distance(outputs_of(fitted_to), outputs_of(recorded))};
  if (!calls.empty())
    out.session_calls = {ks_distance(calls, session_calls(recorded)),
                         ks_distance(session_calls(fitted_to), session_calls(recorded))};
  out.prompt_mean = {mean_of(prompts_of(recorded)), band_of(prompt_means, widened)};
  out.output_mean = {mean_of(outputs_of(recorded)), band_of(output_means, widened)};
  out.rate = {static_cast<double>(recorded.calls.size()) / recorded.duration, band_of(rates, widened)};
  out.fano_1_s = {fano_in(recorded, 1), fano_band(fanos_1, widened, recorded)};
  out.fano_60_s = {fano_in(recorded, 60), fano_band(fanos_60, widened, recorded)};
  out.reuse = {reuse_share(recorded), band_of(reuses, widened)};
  out.anywhere = {known_share(recorded), band_of(known, widened)};
  for (std::size_t i = 0; i < windows.size(); ++i)
    out.fanos.push_back({windows[i], {fano_in(recorded, windows[i]), fano_band(fanos[i], widened, recorded)}});
  return out;
}

Rows rows_of(const FitScore& score) {
  Rows rows;
  add_row(rows, "prompt lengths, KS", score.prompt);
  add_row(rows, "output lengths, KS", score.output);
  add_row(rows, "prompt lengths, mean", score.prompt_mean, near(score.prompt_mean));
  add_row(rows, "output lengths, mean", score.output_mean, near(score.output_mean));
  if (score.session_calls) add_row(rows, "calls of a session, KS", *score.session_calls);
  add_row(rows, "calls /s", score.rate, score.rate.in_band());
  add_row(rows, "Fano 1 s", score.fano_1_s, score.fano_1_s.in_band());
  add_row(rows, "Fano 60 s", score.fano_60_s, score.fano_60_s.in_band());
  add_row(rows, "prefix reuse", score.reuse, score.reuse_holds());
  // Said where it is another figure.
  if (score.anywhere.recorded && score.reuse.recorded && *score.anywhere.recorded > *score.reuse.recorded + 0.01)
    add_row(rows, "reuse anywhere", score.anywhere, score.anywhere_holds());
  return rows;
}

std::string text_of(const FitScore& score) {
  Table table({"figure", "recorded", "fit", "may be", "holds"});
  for (auto& row : rows_of(score)) table.row(std::move(row));
  return table.text();
}

}  // namespace llmscape::workloads
