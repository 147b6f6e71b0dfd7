// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/runner.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hardware/harness/samples.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::hardware::harness {
namespace {

// A kernel that takes a microsecond for each row and errs by what it is told.
class FakeCase final : public PreparedCase {
 public:
  FakeCase(double rows, double error) : rows_(rows), error_(error) {}
  double error() override { return error_; }
  [[nodiscard]] double tolerance() const override { return 1e-5; }
  Seconds sample() override { return Seconds(rows_ * 1e-6); }
  [[nodiscard]] double flops() const override { return 2 * rows_; }
  [[nodiscard]] double bytes() const override { return 4 * rows_; }

 private:
  double rows_, error_;
};

// Knows products only; those of `broken` rows err.
class FakeBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::map<std::string, std::string> context() const override { return {{"device", "a fake"}}; }
  std::unique_ptr<PreparedCase> prepare(const traces::KernelCase& what, std::uint64_t seed) override {
    seeds.insert(seed);
    const auto* gemm = std::get_if<traces::GemmCase>(&what);
    if (!gemm) return nullptr;
    order.push_back(gemm->m);
    return std::make_unique<FakeCase>(static_cast<double>(gemm->m), gemm->m == broken ? 1e-3 : 1e-6);
  }
  Condition condition() override { return {2600, 100, {}, {"throttled"}}; }

  std::int64_t broken = 0;
  std::vector<std::int64_t> order;
  std::set<std::uint64_t> seeds;
};

std::vector<traces::KernelCase> products(std::int64_t count) {
  std::vector<traces::KernelCase> cases;
  for (std::int64_t m = 1; m <= count; ++m) cases.emplace_back(traces::GemmCase{m, 64, 64, "fp32"});
  return cases;
}

TEST_CASE("rows come in the order of the cases, timed in a random order that the seed decides") {
  FakeBackend first, again, other;
  const RunOutcome outcome = run_cases(first, products(20), {}, {});
  REQUIRE(outcome.record.rows.size() == 20);
  for (std::int64_t m = 1; m <= 20; ++m) {
    const traces::MicrobenchRow& row = outcome.record.rows[static_cast<std::size_t>(m - 1)];
    CHECK(row.time.median == approx(static_cast<double>(m) * 1e-6));
    CHECK(row.flops == 2.0 * static_cast<double>(m));
    CHECK(row.clock_mhz == 2600);
    CHECK(row.flags == std::vector<std::string>{"throttled"});
  }
  CHECK(first.seeds.size() == 20);
  run_cases(again, products(20), {}, {});
  run_cases(other, products(20), {}, {.seed = 2, .budget = {}, .progress = {}});
  CHECK(first.order == again.order);
  CHECK(first.order != other.order);
  CHECK(outcome.record.context.at("device") == "a fake");
  CHECK(outcome.record.context.at("seed") == "1");
}

TEST_CASE("a kernel that fails its check is named and not timed, one without code is told") {
  FakeBackend backend;
  backend.broken = 3;
  auto cases = products(4);
  cases.emplace_back(traces::CopyCase{"device", 1024, 0});
  const RunOutcome outcome = run_cases(backend, cases, {}, {});
  CHECK(outcome.record.rows.size() == 3);
  REQUIRE(outcome.failed.size() == 1);
  CHECK(outcome.failed[0].what == cases[2]);
  CHECK(outcome.failed[0].error == 1e-3);
  REQUIRE(outcome.unsupported.size() == 1);
  CHECK(outcome.unsupported[0] == cases[4]);
}

TEST_CASE("sentinels are timed at the start, half-way and at the end") {
  FakeBackend backend;
  const RunOutcome outcome = run_cases(backend, products(10), {traces::GemmCase{100, 64, 64, "fp32"}}, {});
  REQUIRE(outcome.record.sentinels.size() == 1);
  CHECK(outcome.record.sentinels[0].medians_s.size() == 3);
  REQUIRE(backend.order.size() == 13);
  for (const std::size_t at : {0, 6, 12}) CHECK(backend.order[at] == 100);
}

TEST_CASE("once the budget is spent no case begins, and those left are named") {
  FakeBackend backend;
  const RunOutcome outcome = run_cases(backend, products(10), {}, {.seed = 1, .budget = Seconds(0), .progress = {}});
  CHECK(outcome.record.rows.empty());
  CHECK(outcome.out_of_time.size() == 10);
}

TEST_CASE("quantiles of samples go by nearest rank") {
  const traces::SampleSummary s = summarise_samples({5, 1, 4, 2, 3, 6, 7, 8, 10, 9});
  CHECK(s.samples == 10);
  CHECK(s.min == 1);
  CHECK(s.p10 == 1);
  CHECK(s.median == 5);
  CHECK(s.p90 == 9);
  CHECK(s.iqr == 8 - 3);
  CHECK(is_noisy(s));
  CHECK_FALSE(is_noisy(summarise_samples(std::vector<double>(20, 1.0))));
}

TEST_CASE("samples: twenty at least and 30 ms, or five where a kernel is slow") {
  FakeCase quick(1, 0), slow(50'000, 0), middle(2'000, 0);
  CHECK(timed_samples(slow).size() == 5);
  CHECK(timed_samples(quick).size() == 1000);  // more than that say nothing new
  CHECK(timed_samples(middle).size() == 20);
}

}  // namespace
}  // namespace llmscape::hardware::harness
