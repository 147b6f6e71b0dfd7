// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "workloads/fit/fit_arrivals.hpp"
#include "workloads/fit/fit_lengths.hpp"
#include "workloads/fit/score.hpp"

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

// Records from memory.
class Records : public traces::TraceReader {
 public:
  explicit Records(std::vector<traces::TraceRecord> records) : records_(std::move(records)) {}
  std::optional<traces::TraceRecord> next(Diagnostics&) override {
    return at_ < records_.size() ? std::optional(records_[at_++]) : std::nullopt;
  }
  [[nodiscard]] std::string_view format() const override { return "memory"; }

 private:
  std::vector<traces::TraceRecord> records_;
  std::size_t at_ = 0;
};

Recording recorded(std::vector<traces::TraceRecord> records) {
  Records reader(std::move(records));
  Diagnostics diagnostics;
  return record(reader, diagnostics);
}

traces::TraceRecord call(double arrival, Prompt prompt, std::int64_t output = 1) {
  const std::int64_t tokens = tokens_of(prompt);
  return {Seconds(arrival), std::move(prompt), tokens, output, "", true};
}

}  // namespace

TEST_CASE("a Fano factor is variance over mean of the counts in whole windows") {
  // Windows of 10 s of 35 s hold 2, 0 and 1 calls: mean 1, variance 2/3. The call at 31 s is in no whole window.
  CHECK(*fano_of({1, 9, 25, 31}, 35, 10) == approx(2.0 / 3));
  CHECK_FALSE(fano_of({1, 9}, 19, 10).has_value());
  CHECK_FALSE(fano_of({31}, 35, 10).has_value());
}

TEST_CASE("the distance of two samples is the largest between their shares") {
  // Up to 3: all of the one, and two of the other's four.
  CHECK(ks_distance({1, 2, 3}, {2, 3, 4, 5}) == 0.5);
  CHECK(ks_distance({1, 1, 7}, {1, 1, 7, 1, 1, 7}) == 0);
  CHECK(ks_distance({}, {1}) == 1);
}

TEST_CASE("what is reused of each prompt, and since when") {
  const auto reuse = reuse_of(recorded({call(0, {{1, 100}}), call(3, {{1, 60}, {2, 40}}), call(7, {{3, 50}}),
                                        call(8, {{1, 80}}), call(9, {{1, 60}, {2, 40}, {4, 10}})}));
  REQUIRE(reuse.size() == 5);
  CHECK(reuse[0].tokens == 0);
  CHECK((reuse[1].tokens == 60 && reuse[1].age == 3));
  CHECK(reuse[2].tokens == 0);
  CHECK((reuse[3].tokens == 80 && reuse[3].age == 8));   // the tokens from 60 to 80 came with the first alone
  CHECK((reuse[4].tokens == 100 && reuse[4].age == 6));  // those of 2 at 3 s
}

TEST_CASE("halves are of the same time, and the second counts from its start") {
  const auto [first, second] =
      halves(recorded({call(0, {{1, 1}}), call(1, {{2, 1}}), call(7, {{3, 1}}), call(8, {{4, 1}})}));
  CHECK((first.calls.size() == 2 && first.duration == 4));
  REQUIRE(second.calls.size() == 2);
  CHECK((second.calls[0].arrival == 3 && second.calls[1].arrival == 4 && second.duration == 4));
}

TEST_CASE("lengths far apart keep their mean, in many calls and in a few") {
  for (const std::size_t count : {std::size_t{30}, std::size_t{20'000}}) {
    CAPTURE(count);
    RandomStream draws(5);
    std::vector<traces::TraceRecord> records;
    double prompts = 0, outputs = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto length = [&] { return std::llround(1000 * std::exp(std::sqrt(std::log(2)) * draws.normal())) + 1; };
      const std::int64_t prompt = length(), output = length();
      records.push_back(call(static_cast<double>(i), {{i + 1, prompt}}, output));
      prompts += static_cast<double>(prompt);
      outputs += static_cast<double>(output);
    }
    const JointLengths law = fit_lengths(recorded(std::move(records)));
    const auto mean = [&law](const std::vector<double>& values) {
      double sum = 0;
      for (std::size_t i = 1; i < values.size(); ++i)
        sum += (law.shares[i] - law.shares[i - 1]) * (values[i] + values[i - 1]) / 2;
      return sum;
    };
    CHECK(mean(law.prompt) == approx(prompts / static_cast<double>(count)).epsilon(0.01));
    double answers = 0;
    for (const LengthPart& part : law.parts) answers += mean(part.output) / static_cast<double>(law.parts.size());
    CHECK(answers == approx(outputs / static_cast<double>(count)).epsilon(0.015));
  }
}

TEST_CASE("calls of a rounded clock are spread over its tick, those of another stay") {
  // 400 calls by chance, 3 a tick of 3 s in the mean.
  std::vector<traces::TraceRecord> records;
  RandomStream stream(1);
  double at = 0;
  for (int i = 0; i < 400; ++i, at += stream.exponential(1)) records.push_back(call(3 * std::floor(at / 3), {{1, 1}}));
  const Recording spread = recorded(records);
  CHECK(spread.tick == 3);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double arrival = spread.calls[i].arrival, clock = records[i].arrival.si();
    CHECK((arrival >= clock && arrival < clock + 3));
    CHECK(arrival - spread.calls[i].spread == approx(clock));
    if (i > 0) CHECK(arrival >= spread.calls[i - 1].arrival);
  }
  records.back().arrival = Seconds(records.back().arrival.si() + 0.01 * 3 * 3);
  CHECK(recorded(records).tick == 0);
  CHECK(recorded({call(0, {{1, 1}}), call(3, {{1, 1}})}).tick == 0);  // none at once
}

TEST_CASE("a clock of 0.1 s is a rounded one") {
  // 0.3 - 0.2 is 0.09999999999999998: the least gap of such a clock lies a little below it.
  std::vector<traces::TraceRecord> records;
  RandomStream stream(4);
  double at = 0;
  for (int i = 0; i < 2'000; ++i, at += stream.exponential(0.1))
    records.push_back(call(std::floor(10 * at) / 10, {{1, 1}}));
  CHECK(recorded(records).tick == 0.1);
}

TEST_CASE("a fit of equal gaps holds, though the last window has a call less") {
  // One call every 0.5 s: 2 a second, and one in the last of 2,000 windows: a Fano factor of 0.0005 / 2 for 0.
  std::vector<traces::TraceRecord> records;
  for (int i = 0; i < 4'001; ++i) records.push_back(call(0.5 * i, {{1, 1}}));
  const Recording periodic = recorded(records);
  Diagnostics diagnostics;
  const auto fitted = fit_workload(periodic, "trace", diagnostics);
  REQUIRE(fitted);
  const FitScore score = workloads::score(*fitted, periodic, periodic);
  CHECK(score.fano_1_s.recorded == 0);
  CHECK(score.fano_1_s.in_band());
  CHECK(score.fano_60_s.in_band());
  CHECK(score.fano_1_s.fitted.high < 0.001);
}

TEST_CASE("batches of a timer are not taken for a rounded clock") {
  const auto batches = [](const auto& size_of) {
    std::vector<traces::TraceRecord> records;
    for (int batch = 0; batch < 100; ++batch)
      for (int i = 0; i < size_of(batch); ++i) records.push_back(call(60 * batch, {{1, 1}}));
    return recorded(std::move(records)).tick;
  };
  CHECK(batches([](int) { return 8; }) == 0);  // all alike: by chance they would differ with a variance of 8
  // One to three calls, 2 in the mean: by chance 1.59 (x 100 ticks) would leave a fifth of the ticks empty.
  CHECK(batches([](int batch) { return 1 + batch * 7 % 3; }) == 0);
  CHECK(batches([](int) { return 1; }) == 0);
}

TEST_CASE("the fit of drifting arrivals finds their rate, and Fano factors of one that was made with known drifts") {
  const auto law = std::dynamic_pointer_cast<const DriftingArrivals>(
      read(arrivals(), "{kind: drifting, rate: 20 /s, drifts: [{cv: 0.6, time: 3 s}, {cv: 0.4, time: 100 s}]}"));
  const auto clock = law->clock(RandomStream(5));
  std::vector<double> starts;
  while (starts.empty() || starts.back() <= 40'000) starts.push_back(clock->next().si());
  starts.pop_back();
  const DriftingArrivals fitted = fit_drifts(starts, 40'000);
  CHECK(fitted.rate.si() == approx(20).epsilon(0.05));
  CHECK(fitted.drifts.size() == 2);
  for (const double window : {1.0, 10.0, 60.0, 600.0}) {
    CAPTURE(window);
    CHECK(fano(fitted, Seconds(window)) == approx(fano(*law, Seconds(window))).epsilon(0.2));
  }
}

TEST_CASE("no drift is found in poisson arrivals") {
  for (std::uint64_t key = 1; key <= 10; ++key) {
    RandomStream stream(key);
    std::vector<double> starts;
    for (double at = stream.exponential(0.2); at < 2'000; at += stream.exponential(0.2)) starts.push_back(at);
    CHECK(fit_drifts(starts, 2'000).drifts.empty());
  }
}

TEST_CASE("gaps that are more regular than chance are kept so, and those of a Poisson process are not taken for it") {
  std::vector<double> regular, poisson;
  RandomStream stream(3);
  for (double at = 0, chance = 0; regular.size() < 1'000;) {
    regular.push_back(at += stream.gamma(4, 0.5));  // mean 2 s, cv 1 / 2
    poisson.push_back(chance += stream.exponential(2));
  }
  const auto law = fit_arrivals(regular, regular.back());
  CHECK(law->mean_rate()->si() == approx(0.5).epsilon(0.07));
  const YamlNode written = arrivals().write(*law, 2);
  REQUIRE(written.find("kind"));
  CHECK(written.find("kind")->text == "gamma");
  CHECK(std::stod(written.find("cv")->text) == approx(0.5).epsilon(0.07));
  CHECK(arrivals().write(*fit_arrivals(poisson, poisson.back()), 2).find("kind")->text == "drifting");
}

TEST_CASE("regular gaps are told from chance where they are few, and their rate is that of the gaps") {
  // Ten gaps of 9 and 11 s: cv 0.1. One Poisson process in 741 has a cv below 0.366.
  std::vector<double> times = {5};
  for (int i = 0; i < 10; ++i) times.push_back(times.back() + (i % 2 == 0 ? 9 : 11));
  const auto fitted = fit_arrivals(times, times.back());
  const YamlNode law = arrivals().write(*fitted, 4);
  CHECK(law.find("kind")->text == "gamma");
  CHECK(law.find("cv")->text == "0.1");
  CHECK(fitted->mean_rate()->si() == approx(0.1));  // ten gaps in 100 s, not eleven calls in 105 s
  // By chance: of 3,000 processes of ten gaps some four.
  RandomStream stream(7);
  int regular = 0;
  for (int process = 0; process < 3000; ++process) {
    std::vector<double> chance = {0};
    for (int i = 0; i < 10; ++i) chance.push_back(chance.back() + stream.exponential(10));
    regular += arrivals().write(*fit_arrivals(chance, chance.back()), 2).find("kind")->text == "gamma" ? 1 : 0;
  }
  CHECK(regular <= 4 + 4 * 2);
}

TEST_CASE(
    "equal gaps are kept equal, up to the last decimal of the recorded times, and others are not taken for such") {
  const auto law_of = [](double gap, double decimals, double jitter) {
    RandomStream stream(5);
    std::vector<double> times;
    for (int i = 0; i < 2'000; ++i)
      times.push_back(std::round((gap * i + jitter * stream.uniform()) * decimals) / decimals);
    return arrivals().write(*fit_arrivals(times, times.back()), 6);
  };
  for (const auto& [gap, decimals, rate] :
       {std::tuple(0.5, 1e3, "2 /s"), {0.5, 10, "2 /s"}, {0.32, 1e2, "3.125 /s"}, {0.321, 1e2, "3.1153 /s"}}) {
    CAPTURE(gap);
    const YamlNode law = law_of(gap, decimals, 0);
    CHECK(law.find("kind")->text == "periodic");
    CHECK(std::stod(law.find("rate")->text) == approx(std::stod(rate)).epsilon(1e-4));
  }
  CHECK(law_of(0.5, 1e6, 0.001).find("kind")->text == "gamma");  // a host's jitter: a fifth of a per cent
}

TEST_CASE("fitted lengths are the quantiles of the recording, answers by the length of the prompt") {
  std::vector<traces::TraceRecord> records;
  // Prompts of 1 to 60 tokens; answers of 5 up to 30, and of 9 above.
  for (int i = 1; i <= 60; ++i) records.push_back(call(i, {{static_cast<ContentId>(i), i}}, i <= 30 ? 5 : 9));
  const JointLengths fitted = fit_lengths(recorded(records));
  CHECK(fitted.prompt.front() == 1);
  CHECK(fitted.shares.size() == 45);  // as evenly as they come
  CHECK(fitted.prompt[fitted.prompt.size() / 2] == 30.5);
  CHECK(fitted.prompt.back() == 60);
  REQUIRE(fitted.parts.size() == 2);
  CHECK(fitted.parts[0].output == std::vector<double>(fitted.shares.size(), 5));
  CHECK(fitted.parts[1].output == std::vector<double>(fitted.shares.size(), 9));
  CHECK_FALSE(fitted.continues.has_value());
}

TEST_CASE("shares are added at a gap that no length falls into") {
  // 1,000 prompts of 10 tokens and 1,010 of 5,000: without a share at 1000 / 2010 one in forty would lie between.
  std::vector<traces::TraceRecord> records;
  for (int i = 0; i < 2010; ++i) records.push_back(call(i, {{static_cast<ContentId>(i), i < 1000 ? 10 : 5000}}));
  const JointLengths fitted = fit_lengths(recorded(records));
  double between = 0;
  for (std::size_t i = 1; i < fitted.shares.size(); ++i)
    if (fitted.prompt[i - 1] < fitted.prompt[i]) between += fitted.shares[i] - fitted.shares[i - 1];
  CHECK(between < 0.005);
  CHECK(fitted.shares.size() <= 64);
}

TEST_CASE("what was fitted to a workload is like it, and is read back from its file") {
  // A fit of what a workload of this kind sent has its lengths and its reuse.
  WorkloadConfig truth;
  Diagnostics diagnostics;
  REQUIRE(workload_fields().read(
      truth,
      yaml("{requests: 4000, arrivals: {kind: drifting, rate: 4 /s, drifts: [{cv: 0.5, time: 20 s}]}, stream: {kind: "
           "joint_lengths, shares: [0, 0.5, 1], prompt: [64, 640, 6400], parts: [{output: [5, 50, 500], reused: [0, "
           "0.5, "
           "0.5]}, {output: [5, 5, 5], reused: [0, 0, 1]}], continues: {age: [1, 20, 100], granularity: 64}}}"),
      diagnostics));
  const Recording sent = emitted(truth, 1000, 1);
  const auto fitted = fit_workload(sent, "truth", diagnostics);
  REQUIRE(fitted);
  CHECK(fitted->source == "fitted to truth (fit): " + std::to_string(sent.calls.size()) + " calls in 1000 s");
  YamlNode file = yaml(workload_file(*fitted));
  REQUIRE(file.find("schema"));
  CHECK(file.find("schema")->text == "workload/1");
  file.erase("schema");
  file.set("requests", YamlNode::scalar("9"));
  WorkloadConfig back;
  REQUIRE_MESSAGE(workload_fields().read(back, file, diagnostics), diagnostics.text(false));
  const FitScore score = workloads::score(back, sent, sent);
  CHECK(score.prompt.fit < 0.02);
  CHECK(score.output.fit < 0.02);
  CHECK(score.fano_1_s.in_band());
  CHECK(score.fano_60_s.in_band());
  CHECK(score.reuse_holds());
  CHECK(*score.reuse.recorded > 0.2);
}

TEST_CASE("a trace without two times cannot be fitted") {
  Diagnostics diagnostics;
  CHECK_FALSE(fit_workload(recorded({call(0, {{1, 1}}), call(0, {{2, 1}})}), "burst.csv", diagnostics));
  CHECK(diagnostics.text(false).find("burst.csv has no two calls at different times") != std::string::npos);
}

}  // namespace llmscape::workloads
