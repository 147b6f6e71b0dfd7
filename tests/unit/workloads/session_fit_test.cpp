// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "workloads/fit/fit_sessions.hpp"
#include "workloads/fit/score.hpp"
#include "workloads/fit/sessions.hpp"

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

// A session of the id: a system prompt of 100 tokens, a task of 50, an answer of 10, a result of 30 after 2 s, then
// three sub-calls with 5 tokens of their own, whose answers of 20 the last call reads.
void add_session(Recording& recording, double start, ContentId id) {
  const std::string name = "s" + std::to_string(id);
  Prompt context = {{1, 100}, {10 * id, 50}};
  recording.calls.push_back({start, 150, 10, context, name});
  context.push_back({10 * id + 1, 40});  // the answer and the result
  recording.calls.push_back({start + 2, 190, 10, context, name});
  for (ContentId branch = 0; branch < 3; ++branch)
    recording.calls.push_back({start + 3, 205, 20, {{1, 100}, {10 * id, 50}, {10 * id + 2 + branch, 55}}, name});
  recording.calls.push_back({start + 4, 260, 10, {{1, 100}, {10 * id, 50}, {10 * id + 6, 110}}, name});
}

Recording twenty_sessions() {
  Recording out;
  for (ContentId id = 1; id <= 20; ++id) add_session(out, 10 * static_cast<double>(id), id);
  out.duration = 210;
  return out;
}

bool near_recorded(const FitFigure& figure) {
  return std::abs(figure.fitted.mean / figure.recorded.value_or(0) - 1) < 0.05;
}

}  // namespace

TEST_CASE("sessions are fitted as tasks of agents: prompts, growth, times, sub-calls") {
  Diagnostics diagnostics;
  const SessionFit fitted = fit_sessions(twenty_sessions(), "trace", diagnostics);
  REQUIRE_MESSAGE(fitted.stream, diagnostics.text(false));
  CHECK(fitted.starts.size() == 20);
  CHECK(fitted.starts[1] == 20);
  CHECK(fitted.shrinking == 0);
  const YamlNode stream = streams().write(*fitted.stream);
  const auto of = [&](const char* law, const char* key) { return stream.find(law)->find(key)->text; };
  CHECK(stream.find("system_prompt")->text == "100");
  CHECK(of("task", "value") == "50");
  CHECK(of("calls", "value") == "3");         // without sub-calls
  CHECK(of("tool_result", "value") == "30");  // 190 - 150 - 10
  CHECK(of("tool_time", "value") == "2 s");
  CHECK(of("fan_out", "value") == "3");
  CHECK(stream.find("fan_out_chance")->text == "0.5");  // one of two steps
  CHECK(of("subtask", "value") == "5");                 // 205 - 190 - 10
  CHECK(of("fan_out_time", "value") == "1 s");          // the sub-calls come at 3 s, the next call at 4 s
  CHECK(of("join_time", "value") == "1 s");
  CHECK(of("join_result", "value") == "0");  // 260 - 190 - 10 - 3 x 20
  CHECK(fitted.left_out_calls == 0);
  CHECK(fitted.left_out_time == 0);
}

TEST_CASE("a fit of sessions takes as long as they did, where its steps fan out too") {
  Diagnostics diagnostics;
  // Two steps of 60 s before and 90 s after three sub-calls, after which the context has 7 tokens of its own: 300 s.
  Recording recorded;
  for (int id = 0; id < 40; ++id) {
    const std::string name = "s" + std::to_string(id);
    double at = 10.0 * id;
    std::int64_t tokens = 100;
    for (int call = 0; call < 3; ++call, at += 150, tokens += 20 + 3 * 20 + 7) {
      recorded.calls.push_back({at, tokens, 20, {}, name});
      for (int branch = 0; branch < 3 && call < 2; ++branch)
        recorded.calls.push_back({at + 60, tokens + 20 + 5, 20, {}, name});
    }
  }
  std::ranges::sort(recorded.calls, {}, &RecordedCall::arrival);
  recorded.duration = 390 + 300;
  const auto fitted = fit_workload(recorded, "trace", diagnostics, FitStream::sessions);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  CHECK(diagnostics.text(false) == "");
  const Program program = fitted->stream->maker(RandomStreams(1), 0)->make(Seconds(0));
  REQUIRE(program.stages.size() == 9);
  double time = 0;
  for (const std::size_t stage : {1, 4, 5, 8}) time += program.stages[stage].delay.si();  // sub-calls, call, twice
  CHECK(time == approx(300));
  CHECK(tokens_of(program.stages[8].prompt) == 100 + 2 * 87);
}

TEST_CASE("sub-calls that no call follows are told with their time") {
  Diagnostics diagnostics;
  // Calls at 0 and 30 s, then two sub-calls at 40 s: half of the calls and a quarter of the time.
  Recording recorded;
  for (int id = 0; id < 20; ++id) {
    const std::string name = "s" + std::to_string(id);
    for (const auto& [at, tokens] : {std::pair(0, 100), {30, 120}, {40, 140}, {40, 140}})
      recorded.calls.push_back({100.0 * id + at, tokens, 10, {}, name});
  }
  recorded.duration = 2000;
  REQUIRE(fit_workload(recorded, "trace", diagnostics, FitStream::sessions));
  CHECK(diagnostics.text(false).find("50 % of the calls and 25 % of the time in sessions of trace are left out") !=
        std::string::npos);
}

TEST_CASE("sub-calls within a tick of a rounded clock are found by prompts that hold no answer of each other") {
  Recording recorded = twenty_sessions();
  recorded.tick = 1;
  for (std::size_t i = 0; i < recorded.calls.size(); ++i) {
    const double spread = 0.1 * static_cast<double>(i % 6);
    recorded.calls[i].arrival += spread;
    recorded.calls[i].spread = spread;
  }
  Diagnostics diagnostics;
  const SessionFit fitted = fit_sessions(recorded, "trace", diagnostics);
  REQUIRE_MESSAGE(fitted.stream, diagnostics.text(false));
  CHECK(streams().write(*fitted.stream).find("fan_out")->find("value")->text == "3");
}

TEST_CASE("a fit of sessions has their calls, and each continues the one before") {
  Diagnostics diagnostics;
  Recording recorded;
  for (ContentId id = 1; id <= 60; ++id) {
    std::int64_t tokens = 100;
    for (int call = 0; call < 1 + static_cast<int>(id % 4); ++call, tokens += 60)
      recorded.calls.push_back({7.0 * static_cast<double>(id) + call, tokens, 10, {{id, tokens}}, std::to_string(id)});
  }
  recorded.duration = 430;
  const auto fitted = fit_workload(recorded, "trace", diagnostics, FitStream::sessions);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  const FitScore score = workloads::score(*fitted, recorded, recorded);
  REQUIRE(score.session_calls);
  CHECK(score.session_calls->fit < 0.05);
  CHECK(score.prompt.fit < 0.05);
  // 15 sessions each of 1 to 4 calls of 100, 160, 220 and 280 tokens: 4 x 100 + 3 x 160 + 2 x 220 + 280 tokens, of
  // which 3 x 100 + 2 x 160 + 220 were there: 52.5 %.
  CHECK(*score.reuse.recorded == approx(0.525));
  CHECK(score.reuse.fitted.mean == approx(0.525).epsilon(0.03));
  // A fit of single calls has no sessions to compare.
  CHECK_FALSE(workloads::score(*fit_workload(recorded, "trace", diagnostics), recorded, recorded).session_calls);
}

TEST_CASE("sessions that start by chance are fitted so, however long the last of them goes on") {
  // 300 sessions, one a second, of 20 calls some 50 s apart: they start in the first 300 s of some 1,700. Over all of
  // it 5 windows of 60 s hold 60 starts and 23 none: variance 60^2 x 5 / 28 - 10.7^2 = 528, a Fano factor of 49 for 1.
  Recording recorded;
  RandomStream draws(11);
  double start = 0;
  for (int id = 0; id < 300; ++id) {
    start += draws.exponential(1);
    double at = start;
    for (int call = 0; call < 20; ++call, at += draws.exponential(50))
      recorded.calls.push_back({at, 1000 + 200 * call, 100, {}, std::to_string(id)});
  }
  std::ranges::sort(recorded.calls, {}, &RecordedCall::arrival);
  recorded.duration = recorded.calls.back().arrival;
  Diagnostics diagnostics;
  const auto fitted = fit_workload(recorded, "trace", diagnostics, FitStream::sessions);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  const YamlNode arrivals_law = arrivals().write(*fitted->arrivals, 4);
  CHECK(arrivals_law.find("kind")->text == "drifting");
  CHECK_FALSE(arrivals_law.find("drifts"));
  CHECK(fitted->arrivals->mean_rate()->si() == approx(299 / (start - recorded.calls.front().arrival)).epsilon(1e-3));
  // What it is compared with starts its sessions in the same time.
  CHECK(near_recorded(workloads::score(*fitted, recorded, recorded).rate));
}

TEST_CASE("sessions that the ends of a trace cut are not taken for whole ones") {
  // Sessions of 20 calls some 50 s apart start at 0.5 /s by chance: 475 are under way at any time. Of 4,000 s of them
  // the 1,500 s from 1,500 s on are recorded, at 0.5 x 20 = 10 calls /s. Taken for whole ones, these would be 1,225
  // sessions of 1500 x 10 / 1225 = 12.2 calls, 475 of them in the first gaps.
  Recording recorded;
  RandomStream draws(11);
  for (double start = draws.exponential(2); start < 4'000; start += draws.exponential(2)) {
    double at = start - 1'500;
    for (int call = 0; call < 20; ++call, at += draws.exponential(50))
      if (at >= 0 && at < 1'500) recorded.calls.push_back({at, 1000 + 200 * call, 100, {}, std::to_string(start)});
  }
  std::ranges::sort(recorded.calls, {}, &RecordedCall::arrival);
  recorded.duration = 1'500;
  Diagnostics diagnostics;
  const auto fitted = fit_workload(recorded, "trace", diagnostics, FitStream::sessions);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  CHECK(diagnostics.text(false).find("trace seems to be cut out of longer traffic") != std::string::npos);
  CHECK(fitted->arrivals->mean_rate()->si() == approx(0.5).epsilon(0.1));
  CHECK_FALSE(arrivals().write(*fitted->arrivals, 4).find("drifts"));
  const YamlNode stream = streams().write(*fitted->stream);
  // Of sessions that began before, 1,000 to 4,800; one call in a hundred comes later than all that are left out.
  REQUIRE(stream.find("task")->find("values"));
  CHECK(stream.find("task")->find("values")->items[1].text == "1000");
  CHECK(std::stod(stream.find("task")->find("shares")->items[1].text) > 0.97);
  const FitScore score = workloads::score(*fitted, recorded, recorded);
  CHECK(*score.rate.recorded == approx(10).epsilon(0.05));
  CHECK(near_recorded(score.rate));
  CHECK(near_recorded(score.prompt_mean));
}

TEST_CASE("sessions of a load that falls steadily, or rises, are no cut ones") {
  // 2,000 sessions of 3 calls 20 s apart begin in 1,800 s, at a rate that falls in a line to a fifth: in the first 92
  // s, which 99 of 100 gaps stay below, some 160 by 1.67 times the mean rate. So do they in an exponential law.
  for (const bool line : {true, false})
    for (const bool rises : {false, true}) {
      Recording recorded;
      RandomStream draws(5);
      for (int i = 0; i < 2'000;) {
        const double at = 1'800 * draws.uniform(), share = at / 1'800;
        const double rate = line ? 1 - 0.8 * share : std::exp(-1.6 * share);
        if (draws.uniform() > rate) continue;
        double start = rises ? 1'800 - at : at;
        for (int call = 0; call < 3; ++call, start += draws.exponential(20))
          recorded.calls.push_back({start, 1000 + 200 * call, 100, {}, std::to_string(i)});
        ++i;
      }
      std::ranges::sort(recorded.calls, {}, &RecordedCall::arrival);
      recorded.duration = recorded.calls.back().arrival;
      const SessionEnds ends = ends_of(sessions_of(recorded), recorded.duration);
      CHECK_FALSE(ends.begins_cut);
      CHECK_FALSE(ends.ends_cut);
    }
}

TEST_CASE("short and few sessions that the ends of a trace cut are seen to be so") {
  // An hour of sessions at 0.1 /s of 10 calls some 30 s apart, by chance: 0.1 x 9 x 30 = 27 are under way at any time,
  // which come to the 0.1 x 138 = 14 that begin in the first 138 s: 41 for 14. Of twenty such ends one may be missed.
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Recording recorded;
    RandomStream draws(seed);
    for (double start = draws.exponential(10); start < 6'600; start += draws.exponential(10)) {
      double at = start - 3'000;
      do {
        if (at >= 0 && at < 3'600) recorded.calls.push_back({at, 1000, 100, {}, std::to_string(start)});
        at += draws.exponential(30);
      } while (draws.uniform() < 0.9);
    }
    std::ranges::sort(recorded.calls, {}, &RecordedCall::arrival);
    const SessionEnds ends = ends_of(sessions_of(recorded), 3'600);
    seen += (ends.begins_cut ? 1 : 0) + (ends.ends_cut ? 1 : 0);
  }
  CHECK(seen >= 18);
}

TEST_CASE("how many calls sessions have is told by those that are seen to end or to go on") {
  // Until 10 s: of three with a first call one ends, of two with a second one more does, and the third call of the last
  // is behind: 1 and 2 calls of a third each; the rest has the three that were seen.
  CHECK(calls_of_whole({{{1}, 1}, {{2, 3}, 3}, {{4, 9, 12}, 12}}, 10) == std::vector<double>{1, 2, 3});
  // A session whose last call is behind is not known to end there: both that are seen go on.
  CHECK(calls_of_whole({{{1, 11}, 11}, {{2, 5, 6}, 6}}, 10) == std::vector<double>{3, 3});
}

TEST_CASE("contexts that shrink are said, and a trace without sessions is refused") {
  Diagnostics diagnostics;
  Recording recorded;
  for (int i = 0; i < 9; ++i) recorded.calls.push_back({1.0 * i, 100 - i, 1, {}, "one"});
  recorded.duration = 8;
  REQUIRE(fit_workload(recorded, "shrinking.csv", diagnostics, FitStream::sessions));
  CHECK(diagnostics.text(false).find("100 % of the steps in sessions of shrinking.csv shorten the context") !=
        std::string::npos);
  for (RecordedCall& call : recorded.calls) call.session.clear();
  CHECK_FALSE(fit_workload(recorded, "plain.csv", diagnostics, FitStream::sessions));
  CHECK(diagnostics.text(false).find("plain.csv has no two calls of one session") != std::string::npos);
  CHECK(diagnostics.text(false).find("leave '--sessions' out") != std::string::npos);
}

}  // namespace llmscape::workloads
