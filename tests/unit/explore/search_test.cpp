// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/search.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/process_pool.hpp"
#include "sim/explore/run_row.hpp"
#include "sim/explore/sweep.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

const scenario::Catalogs kCatalogs = {"models/catalog", "hardware/catalog", "workloads/catalog"};

// Calls of one token for a device that takes one at a time: each is one step of the same length.
std::string one_at_a_time(const std::string& arrivals, int requests) {
  return "schema: scenario/1\nmodel: qwen2.5-1.5b\nhardware: {devices: [{preset: l4, count: 1}]}\n"
         "serving: {batcher: {policy: vllm_v1, max_num_seqs: 1, async_scheduling: false, enable_prefix_caching: "
         "false}}\n"
         "workload: {arrivals: " +
         arrivals + ", requests: " + std::to_string(requests) +
         ", stream: {kind: lengths, prompt: {kind: fixed, value: 256}, output: {kind: fixed, value: 1}}}\nseed: 3\n";
}

class Bench {
 public:
  explicit Bench(const std::string& scenario) {
    Diagnostics diagnostics;
    plan_ = load_plan(scratch_.file("scenario.yaml", scenario), {}, diagnostics);
    REQUIRE_MESSAGE(plan_, diagnostics.text(false));
  }

  SearchQuery query(const std::string& path, const std::string& slo) {
    Diagnostics diagnostics;
    const auto scenario = scenario_of(*plan_, *plan_->point(0), kCatalogs, diagnostics);
    const auto number = find_numeric_path(*scenario, path, "--max", diagnostics);
    REQUIRE_MESSAGE(number, diagnostics.text(false));
    SearchQuery query;
    query.number = *number;
    query.space.start = number->own.value_or(1);
    query.space.whole = number->whole;
    query.question.limits = read_slo(slo, "--slo", {}, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
    return query;
  }

  [[nodiscard]] SearchAnswer search(const SearchQuery& query, int jobs = 1) const {
    return explore::search(*plan_, query, {jobs, kCatalogs, [](std::size_t) {}});
  }

  // Of a run with the value.
  [[nodiscard]] double metric(const SearchQuery& query, double value, const std::string& name) const {
    Point point;
    point.values = {query.number.written(value)};
    point.overrides = {query.number.path + '=' + point.values.front()};
    const auto outcome = in_child<std::string>([&] { return run_point(*plan_, point, "", kCatalogs); });
    REQUIRE_MESSAGE(outcome.answer, outcome.error);
    return row_of(nlohmann::json::parse(*outcome.answer).at("result")).metrics[place_of(name)]->value;
  }

 private:
  llmscape::test::Scratch scratch_;
  std::optional<Plan> plan_;
};

}  // namespace

TEST_CASE("D/D/1: the last of n calls waits (n - 1)(D - 1/rate), so that twice D is met up to (n - 1) / ((n - 2) D)") {
  constexpr int kCalls = 101;
  Bench bench(one_at_a_time("{kind: periodic, rate: 1 /s}", kCalls));
  SearchQuery query = bench.query("workload.arrivals.rate", "e2e.max <= 1 s");
  const double service = bench.metric(query, 0.01, "e2e.max");
  query = bench.query("workload.arrivals.rate", "e2e.max <= " + std::to_string(2e3 * service) + " ms");
  query.space.precision = 0.001;
  query.question.include_invalid = true;  // beyond 1 / D the queue grows, however short the run
  const SearchAnswer answer = bench.search(query);
  const double edge = (kCalls - 1) / ((kCalls - 2) * service);
  REQUIRE(answer.best);
  REQUIRE(answer.next);
  CHECK(answer.best->value <= edge * (1 + 1e-5));  // the limit has six digits
  CHECK(answer.next->value >= edge * (1 - 1e-5));
  CHECK(answer.next->value <= answer.best->value * 1.001);
  CHECK(answer.best->clear);  // no randomness: three seeds suffice near the limit
  for (const TriedValue& value : answer.tried) {
    CAPTURE(value.text);
    CHECK(value.runs.size() <= (value.value == answer.best->value ? query.question.repeat : 3));
  }
  CHECK(answer.best->runs.size() == query.question.repeat);  // the answer itself is seen by all seeds
}

TEST_CASE("M/D/1: a mean time in the system of two services is met up to two thirds of the capacity, within 3 %") {
  Bench bench(one_at_a_time("{kind: poisson, rate: 1 /s}", 30'000));
  SearchQuery query = bench.query("workload.arrivals.rate", "e2e.mean <= 1 s");
  const double service = bench.metric(query, 0.01, "e2e.p50");
  query = bench.query("workload.arrivals.rate", "e2e.mean <= " + std::to_string(2e3 * service) + " ms");
  query.question.include_invalid = true;
  query.space.start = 0.5 / service;
  const SearchAnswer answer = bench.search(query, 2);
  REQUIRE(answer.best);
  CHECK(answer.best->value * service == approx(2. / 3).epsilon(0.03));
}

TEST_CASE("the fewest devices are those that trying all numbers finds, and any number of jobs finds the same") {
  Bench bench(one_at_a_time("{kind: periodic, rate: 100 /s}", 60));
  SearchQuery query = bench.query("hardware.devices[0].count", "e2e.max <= 1 s");
  const double service = bench.metric(query, 60, "e2e.max");
  query = bench.query("hardware.devices[0].count", "e2e.max <= " + std::to_string(1.5e3 * service) + " ms");
  query.space.largest = false;
  query.question.include_invalid = true;
  const SearchAnswer answer = bench.search(query);
  REQUIRE(answer.best);
  double fewest = 1;
  while (bench.metric(query, fewest, "e2e.max") > 1.5 * service) ++fewest;
  CHECK(answer.best->value == fewest);
  CHECK(fewest > 1);
  const SearchAnswer with_two = bench.search(query, 2);
  CHECK(with_two.best->text == answer.best->text);
  CHECK(with_two.next->text == answer.next->text);
  CHECK(with_two.runs == answer.runs);
  REQUIRE(with_two.tried.size() == answer.tried.size());
  for (std::size_t i = 0; i < answer.tried.size(); ++i) {
    CHECK(with_two.tried[i].text == answer.tried[i].text);
    REQUIRE(with_two.tried[i].runs.size() == answer.tried[i].runs.size());
    CHECK(with_two.tried[i].runs[0].row.metrics == answer.tried[i].runs[0].row.metrics);
  }
}

TEST_CASE("a number that no scenario can have is an end of the search, with the reason") {
  Bench bench(one_at_a_time("{kind: periodic, rate: 0.1 /s}", 10));
  SearchQuery query = bench.query("serving.gpu_memory_utilization", "e2e.max <= 100 s");
  query.space.precision = 0.01;
  query.question.include_invalid = true;  // ten requests are too few for a verdict
  const SearchAnswer answer = bench.search(query);
  REQUIRE(answer.best);
  REQUIRE(answer.next);
  CHECK(answer.best->value <= 1);
  CHECK(answer.best->value > 0.98);
  CHECK(answer.next->standing == Standing::refused);
  CHECK_FALSE(answer.next->why.empty());
}

TEST_CASE("a path that leads nowhere is reported with what stands there; so is one that leads to no number") {
  const llmscape::test::Scratch scratch;
  Diagnostics none;
  const auto scenario = scenario::load_scenario(
      scratch.file("s.yaml", one_at_a_time("{kind: poisson, rate: 2 /s}", 10)), {}, std::nullopt, kCatalogs, none);
  REQUIRE(scenario);
  const auto said = [&](const std::string& path) {
    Diagnostics diagnostics;
    CHECK_FALSE(find_numeric_path(*scenario, path, "--max", diagnostics));
    return diagnostics.text(false);
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(holds(said("workload.arrivals.rat"), "did you mean 'rate'?"));
  CHECK(holds(said("workload.arivals.rate"), "did you mean 'arrivals'?"));
  CHECK(holds(said("hardware.devices.count"), "say which of them"));
  CHECK(holds(said("hardware.devices[7].count"), "has no item '7'"));
  CHECK(holds(said("hardware.devices[0].preset"), "unknown key"));
  CHECK(holds(said("workload.arrivals"), "group of settings"));
  CHECK(holds(said("serving.cuda_graphs"), "is no number"));
  CHECK(holds(said(""), "group of settings"));

  Diagnostics diagnostics;
  auto rate = find_numeric_path(*scenario, "workload.arrivals.rate", "--max", diagnostics);
  REQUIRE(rate);
  CHECK(rate->written(*rate->own) == "2 /s");
  CHECK(read_ends(*rate, "1 /s,64 /s", "--between", diagnostics)->high == 64);
  CHECK_FALSE(diagnostics.has_errors());
  for (const char* wrong : {"1 /s", "1,64", "1 /s,64 ms", "64 /s,1 /s", "0 /s,1 /s", "x,y"}) {
    Diagnostics of_ends;
    CHECK_FALSE(read_ends(*rate, wrong, "--between", of_ends));
    CHECK(of_ends.errors() == 1);
    const std::string suggestion = of_ends.sorted().front().suggestion;
    if (wrong == std::string("64 /s,1 /s")) CHECK(suggestion == "did you mean '1 /s,64 /s'?");
    if (wrong == std::string("0 /s,1 /s")) CHECK(suggestion == "like 12 /s,24 /s");
  }
}
