// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/runner.hpp"

#include "base/random.hpp"
#include "hardware/harness/samples.hpp"
#include "traces/kernel_case.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace llmscape::hardware::harness {
namespace {

using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(Backend& backend, const std::vector<traces::KernelCase>& cases, const std::vector<traces::KernelCase>& sentinels,
      const RunOptions& options)
      : backend_(backend), cases_(cases), sentinels_(sentinels), options_(options), rows_(cases.size()) {}

  RunOutcome outcome() {
    const std::vector<std::size_t> order = random_order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || i == order.size() / 2) time_sentinels();
      const traces::KernelCase& what = cases_[order[i]];
      if (out_of_time()) {
        outcome_.out_of_time.push_back(what);
        continue;
      }
      if (options_.progress) options_.progress(i, order.size(), traces::name_of(what));
      rows_[order[i]] = checked_and_timed(what);
    }
    time_sentinels();
    for (auto& row : rows_)
      if (row) outcome_.record.rows.push_back(*std::move(row));
    outcome_.record.backend = backend_.name();
    outcome_.record.context = backend_.context();
    outcome_.record.context["seed"] = std::to_string(options_.seed);
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::vector<std::size_t> random_order() const {
    std::vector<std::size_t> order(cases_.size());
    std::iota(order.begin(), order.end(), 0);
    RandomStream random = RandomStreams(options_.seed).stream("order");
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
  }

  [[nodiscard]] bool out_of_time() const {
    return options_.budget && std::chrono::duration<double>(Clock::now() - started_).count() > options_.budget->si();
  }

  std::optional<traces::MicrobenchRow> checked_and_timed(const traces::KernelCase& what) {
    const auto prepared = backend_.prepare(what, RandomStreams(options_.seed).stream("data", data_++).bits());
    if (!prepared) {
      outcome_.unsupported.push_back(what);
      return std::nullopt;
    }
    traces::MicrobenchRow row;
    row.what = what;
    row.error = prepared->error();
    if (!(row.error <= prepared->tolerance())) {
      outcome_.failed.push_back({what, row.error, prepared->tolerance()});
      return std::nullopt;
    }
    const Condition before = backend_.condition();
    row.time = summarise_samples(timed_samples(*prepared));
    const Condition after = backend_.condition();
    row.flops = prepared->flops();
    row.bytes = prepared->bytes();
    row.clock_mhz = after.clock_mhz;
    row.power_w = after.power_w;
    if (is_noisy(row.time)) row.flags.emplace_back("noisy");
    for (const Condition* condition : {&before, &after}) {
      for (const std::string& reason : condition->throttle_reasons)
        if (std::ranges::find(row.flags, reason) == row.flags.end()) row.flags.push_back(reason);
    }
    return row;
  }

  void time_sentinels() {
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
      const auto row = checked_and_timed(sentinels_[i]);
      if (!row) continue;
      auto& known = outcome_.record.sentinels;
      auto sentinel = std::ranges::find(known, sentinels_[i], &traces::Sentinel::what);
      if (sentinel == known.end()) sentinel = known.insert(known.end(), {sentinels_[i], {}});
      sentinel->medians_s.push_back(row->time.median);
    }
  }

  Backend& backend_;
  const std::vector<traces::KernelCase>& cases_;
  const std::vector<traces::KernelCase>& sentinels_;
  const RunOptions& options_;
  Clock::time_point started_ = Clock::now();
  std::uint64_t data_ = 0;  // cases that have drawn data so far
  std::vector<std::optional<traces::MicrobenchRow>> rows_;
  RunOutcome outcome_;
};

}  // namespace

RunOutcome run_cases(Backend& backend, const std::vector<traces::KernelCase>& cases,
                     const std::vector<traces::KernelCase>& sentinels, const RunOptions& options) {
  return Run(backend, cases, sentinels, options).outcome();
}

}  // namespace llmscape::hardware::harness
