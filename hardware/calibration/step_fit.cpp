// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/step_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "hardware/steps/step_correction.hpp"

namespace llmscape::hardware {
namespace {

constexpr double kCell = 0.25;  // doublings
constexpr double kReach = 1;
constexpr std::array kSmoothings = {0.1, 0.25, 0.5, 1.0, 2.0, 4.0};
constexpr std::uint64_t kFifths = 5;

using Cell = std::array<std::int64_t, 4>;
Cell cell_of(const StepPosition& at, double width) {
  Cell cell{};
  for (std::size_t i = 0; i < at.size(); ++i) cell[i] = std::llround(at[i] / width);
  return cell;
}

struct Row {
  const MeasuredStep* step;
  StepPosition at;
  double price, log_ratio;
  std::uint64_t fifth;
};

// A number from 0 to 4 that all steps of one composition share.
std::uint64_t fifth_of(const StepComposition& step) {
  std::string name;
  for (const std::int64_t part : {step.prompts, step.prompt_tokens, step.cached_tokens, step.decodes, step.context})
    name += std::to_string(part) + ' ';
  return hash64(name) % kFifths;
}

// Of each cell of this width the step whose ratio is the median of its cell.
std::vector<std::pair<const Row*, std::int64_t>> medians(std::span<const Row* const> rows, double width) {
  std::map<Cell, std::vector<const Row*>> cells;
  for (const Row* row : rows) cells[cell_of(row->at, width)].push_back(row);
  std::vector<std::pair<const Row*, std::int64_t>> all;
  for (auto& [cell, members] : cells) {
    const auto middle = members.begin() + static_cast<std::ptrdiff_t>((members.size() - 1) / 2);
    std::ranges::stable_sort(members, {}, &Row::log_ratio);
    all.emplace_back(*middle, static_cast<std::int64_t>(members.size()));
  }
  return all;
}

std::vector<std::pair<const Row*, std::int64_t>> few(std::span<const Row* const> rows) {
  auto kept = medians(rows, kCell);
  for (double width = 2 * kCell; kept.size() > kMostSteps; width *= 2) kept = medians(rows, width);
  return kept;
}

StepCorrection correction(std::span<const Row* const> rows, double smoothing) {
  std::vector<CorrectedStep> steps;
  for (const auto& [row, count] : few(rows)) steps.push_back({row->at, row->log_ratio, step_weight(count)});
  return {std::move(steps), smoothing, kReach};
}

// Rows of the fifths that `keeps` names.
std::vector<const Row*> part(std::span<const Row> rows, const auto& keeps) {
  std::vector<const Row*> kept;
  for (const Row& row : rows)
    if (keeps(row.fifth)) kept.push_back(&row);
  return kept;
}

// The width that predicts each fifth but the first from those that are neither it nor the first.
double best_smoothing(std::span<const Row> rows) {
  double best = kSmoothings.front(), least = std::numeric_limits<double>::infinity();
  for (const double smoothing : kSmoothings) {
    double sum = 0;
    for (std::uint64_t fifth = 1; fifth < kFifths; ++fifth) {
      const auto seen = part(rows, [&](std::uint64_t of) { return of != 0 && of != fifth; });
      if (seen.empty()) continue;
      const StepCorrection by = correction(seen, smoothing);
      for (const Row* row : part(rows, [&](std::uint64_t of) { return of == fifth; }))
        sum += std::abs(row->log_ratio - std::log(by.at(row->at).value));
    }
    if (sum < least) {
      least = sum;
      best = smoothing;
    }
  }
  return best;
}

double median_ratio(std::span<const Row> rows) {
  std::vector<double> logs;
  for (const Row& row : rows) logs.push_back(row.log_ratio);
  const auto middle = logs.begin() + static_cast<std::ptrdiff_t>((logs.size() - 1) / 2);
  std::ranges::nth_element(logs, middle);
  return std::exp(*middle);
}

void score(std::span<const Row> rows, StepFit& fit) {
  const auto unseen = part(rows, [](std::uint64_t of) { return of == 0; });
  const auto seen = part(rows, [](std::uint64_t of) { return of != 0; });
  if (unseen.empty() || seen.empty()) throw std::invalid_argument("all measured steps are alike: none can be held out");
  const StepCorrection by = correction(seen, fit.smoothing);
  for (const Row* row : unseen) {
    const StepCorrection::Factor factor = by.at(row->at);
    fit.held_out.push_back({row->step->time.si(), row->price, row->price * factor.value, factor.trust});
  }
}

}  // namespace

StepFit fit_steps(std::span<const MeasuredStep> measured, StepModel& priced, std::span<const std::int64_t> laws) {
  if (measured.size() < kFewestSteps)
    throw std::invalid_argument("a step table needs " + std::to_string(kFewestSteps) +
                                " measured steps, and there are " + std::to_string(measured.size()));
  std::vector<Row> rows;
  for (const MeasuredStep& step : measured) {
    const StepPosition at = position_of(step);
    const double price = priced.step(ComposedBatch(step, laws).batch()).device.si();
    rows.push_back({&step, at, price, std::log(step.time.si() / price), fifth_of(step)});
  }
  StepFit fit;
  fit.ratio = median_ratio(rows);
  fit.smoothing = best_smoothing(rows);
  score(rows, fit);
  for (const auto& [row, count] : few(part(rows, [](std::uint64_t) { return true; }))) {
    fit.steps.push_back(*row->step);
    fit.steps.back().count = count;
  }
  return fit;
}

}  // namespace llmscape::hardware
