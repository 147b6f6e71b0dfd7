// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/table.hpp"
#include "workloads/fit/fit_arrivals.hpp"
#include "workloads/fit/fit_lengths.hpp"

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

// Nothing in windows that the recording's clock does not tell apart.
std::optional<double> fano_in(const Recording& recording, double window) {
  if (window < recording.tick) return std::nullopt;
  std::vector<double> arrivals;
  for (const RecordedCall& call : recording.calls) arrivals.push_back(call.arrival);
  return fano_of(arrivals, recording.duration, window);
}

SeedBand band_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {quantile_of(values, 0.025), sum / static_cast<double>(values.size()), quantile_of(values, 0.975)};
}

std::string number(double value) { return fmt::format("{:.3g}", value); }

void add_row(Table& table, const char* name, const FitFigure& figure, bool holds) {
  if (!figure.recorded) return;
  table.row({name, number(*figure.recorded), number(figure.fitted.mean),
             fmt::format("{} to {}", number(figure.fitted.low), number(figure.fitted.high)), holds ? "yes" : "no"});
}

void add_row(Table& table, const char* name, const LengthScore& length) {
  table.row({name, number(length.recordings), number(length.fit),
             fmt::format("to {}", number(length.recordings + 0.02)), length.holds() ? "yes" : "no"});
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

FitScore score(const WorkloadConfig& fitted, const Recording& fitted_to, const Recording& recorded, int seeds) {
  std::vector<double> prompts, outputs, rates, fanos_1, fanos_60, reuses;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Recording run = emitted(fitted, recorded.duration, static_cast<std::uint64_t>(seed));
    const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
      to.insert(to.end(), more.begin(), more.end());
    };
    add(prompts, prompts_of(run));
    add(outputs, outputs_of(run));
    rates.push_back(static_cast<double>(run.calls.size()) / run.duration);
    if (const auto fano = fano_in(run, 1)) fanos_1.push_back(*fano);
    if (const auto fano = fano_in(run, 60)) fanos_60.push_back(*fano);
    reuses.push_back(reuse_share(run).value_or(0));
  }
  FitScore out;
  out.prompt = {ks_distance(prompts, prompts_of(recorded)), ks_distance(prompts_of(fitted_to), prompts_of(recorded))};
  out.output = {ks_distance(outputs, outputs_of(recorded)), ks_distance(outputs_of(fitted_to), outputs_of(recorded))};
  out.rate = {static_cast<double>(recorded.calls.size()) / recorded.duration, band_of(rates)};
  out.fano_1_s = {fano_in(recorded, 1), band_of(fanos_1)};
  out.fano_60_s = {fano_in(recorded, 60), band_of(fanos_60)};
  out.reuse = {reuse_share(recorded), band_of(reuses)};
  return out;
}

std::string text_of(const FitScore& score) {
  Table table({"figure", "recorded", "fit", "may be", "holds"});
  add_row(table, "prompt lengths, KS", score.prompt);
  add_row(table, "output lengths, KS", score.output);
  add_row(table, "calls /s", score.rate, score.rate.in_band());
  add_row(table, "Fano 1 s", score.fano_1_s, score.fano_1_s.in_band());
  add_row(table, "Fano 60 s", score.fano_60_s, score.fano_60_s.in_band());
  add_row(table, "prefix reuse", score.reuse, score.reuse_holds());
  return table.text();
}

}  // namespace llmscape::workloads
