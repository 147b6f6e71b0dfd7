// SPDX-License-Identifier: Apache-2.0
// Searches on hosts against closed forms.
#include <doctest/doctest.h>

#include <cmath>

#include "base/random.hpp"
#include "sim/serving/gateway/program_runner.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using workloads::Program;
using workloads::Stage;

namespace {

constexpr double kAlone = 0.010;  // seconds of a query that has its host for itself
constexpr double kBytes = 10e6;   // that it streams: 1 GB/s

// An index that is streamed in 10 ms by a core; no other cost.
struct OneScan final : hardware::SearchIndex {
  [[nodiscard]] Bytes memory() const override { return Bytes(kBytes); }
  [[nodiscard]] hardware::QueryWork search() const override {
    hardware::QueryWork work;
    work.bytes = Bytes(kBytes);
    return work;
  }
};

hardware::Retrieval hosts(std::int64_t count, std::int64_t cores, double bandwidth) {
  hardware::Retrieval retrieval;
  retrieval.count = count;
  retrieval.index = std::make_shared<OneScan>();
  hardware::RetrievalHost& host = retrieval.host;
  host.cores = cores;
  host.memory_efficiency.value = 1;
  host.memory_bandwidth.value = BytesPerSecond(bandwidth);
  host.core_bandwidth.value = BytesPerSecond(kBytes / kAlone);
  host.vector_peak.value = FlopsPerSecond(1);
  host.compute_efficiency.value = 1;
  host.look_up_rate.value = PerSecond(1);
  return retrieval;
}

Program search_at(double start) {
  Program program;
  program.start = Seconds(start);
  program.stages.resize(1);
  program.stages[0].kind = Stage::Kind::retrieval;
  program.stages[0].query_tokens = 1;
  return program;
}

struct Ends : ProgramHost {
  void on_call(std::size_t, int, Seconds) override {}
  void on_program_end(const Program& program, const TaskRun&, Outcome, Seconds now) override {
    ended.emplace_back(program.start.si(), now.si());
    times.push_back((now - program.start).si());
  }
  std::vector<std::pair<double, double>> ended;
  std::vector<double> times;
};

// Runs the searches, which start in order.
struct Run : Ends {
  Run(const hardware::Retrieval& retrieval, const std::vector<double>& starts) : programs(0, &retrieval, false, *this) {
    for (const double start : starts) {
      run_until(Seconds(start));
      programs.start(search_at(start));
    }
    run_until(kNever);
  }
  void run_until(Seconds end) {
    while (programs.next_event() < end) programs.run(programs.next_event());
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double time : times) sum += time;
    return sum / static_cast<double>(times.size());
  }
  ProgramRunner programs;
};

std::vector<double> poisson(double rate, int count) {
  RandomStream stream(7);
  std::vector<double> starts;
  for (double at = 0; count > 0; --count) starts.push_back(at += stream.exponential(1 / rate));
  return starts;
}

}  // namespace

TEST_CASE("one query at a time takes the closed form") {
  const Run run(hosts(1, 8, 4e9), {0, 1, 2, 3});
  for (const double time : run.times) CHECK(time == approx(kAlone).epsilon(1e-12));
  CHECK(run.programs.search_hosts()->busy(Seconds(10)).si() == approx(4 * kAlone).epsilon(1e-12));
}

TEST_CASE("queries on a host share its bandwidth: n at once take n / 4 times as long where it feeds four") {
  CHECK(Run(hosts(1, 8, 4e9), std::vector<double>(4, 0.0)).times.back() == approx(kAlone).epsilon(1e-12));
  CHECK(Run(hosts(1, 8, 4e9), std::vector<double>(8, 0.0)).times.back() == approx(2 * kAlone).epsilon(1e-12));
}

TEST_CASE("a query that comes later slows down those that run, from then on") {
  // The bandwidth feeds one. 5 ms alone, then both at half speed: the first ends at 5 + 10 ms, the second then has 5 ms
  // left, alone.
  const Run run(hosts(1, 2, 1e9), {0, 0.005});
  CHECK(run.ended[0].second == approx(0.015).epsilon(1e-12));
  CHECK(run.ended[1].second == approx(0.020).epsilon(1e-12));
}

TEST_CASE("queries beyond the cores wait, first come first served") {
  const Run run(hosts(1, 2, 4e9), {0, 0, 0.001, 0.002, 0.003});
  const std::vector<double> ends = {0.01, 0.01, 0.02, 0.02, 0.03};
  for (std::size_t i = 0; i < ends.size(); ++i) CHECK(run.ended[i].second == approx(ends[i]).epsilon(1e-12));
  CHECK(run.programs.search_hosts()->waited().si() == approx(0.009 + 0.008 + 0.017).epsilon(1e-12));
}

TEST_CASE("one core is an M/D/1 queue") {
  constexpr double kLoad = 0.7;
  const Run run(hosts(1, 1, 4e9), poisson(kLoad / kAlone, 200'000));
  // Pollaczek and Khinchine: waiting = load / (2 (1 - load)) service times. Batch means of such runs spread by some 1
  // %.
  CHECK(run.mean() == approx(kAlone * (1 + kLoad / (2 * (1 - kLoad)))).epsilon(0.03));
  const double end = run.ended.back().second;
  CHECK(run.programs.search_hosts()->busy(Seconds(end)).si() / end == approx(kLoad).epsilon(0.02));
}

TEST_CASE("bandwidth for one and cores for all is processor sharing: mean time = service / (1 - load)") {
  constexpr double kLoad = 0.7;
  const Run run(hosts(1, 10'000, 1e9), poisson(kLoad / kAlone, 200'000));
  CHECK(run.mean() == approx(kAlone / (1 - kLoad)).epsilon(0.03));
}

TEST_CASE("more hosts are never slower in the mean") {
  const std::vector<double> starts = poisson(350, 20'000);
  double before = Run(hosts(1, 4, 4e9), starts).mean();
  for (const std::int64_t count : {2, 3, 4, 8}) {
    const double mean = Run(hosts(count, 4, 4e9), starts).mean();
    CHECK(mean <= before * (1 + 1e-9));  // but for rounding: the clock runs on for a minute
    before = mean;
  }
  CHECK(before == approx(kAlone).epsilon(1e-6));
}

TEST_CASE("a station is busy for the services that it was asked for, no longer than the clock ran") {
  Station station(2);
  station.serve(Seconds(0), Seconds(4));
  station.serve(Seconds(1), Seconds(2));
  station.serve(Seconds(2), Seconds(3));  // from 3 to 6
  CHECK(station.busy(Seconds(10)) == Seconds(9));
  CHECK(station.busy(Seconds(4)) == Seconds(4 + 2 + 1));
  CHECK(station.served() == 3);
  CHECK(station.waited() == Seconds(1));
}
