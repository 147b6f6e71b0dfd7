// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::workloads {
namespace {

const std::string kCall =
    "{kind: lengths, prompt: {kind: uniform, min: 1, max: 1000}, output: {kind: fixed, value: 5}}";

// The stages of the programs of one SLO class, which tells the components of a mixture apart.
std::vector<std::vector<Stage>> stages_of_class(const std::vector<Program>& programs, int slo_class) {
  std::vector<std::vector<Stage>> stages;
  for (const Program& program : programs)
    if (program.slo_class == slo_class) stages.push_back(program.stages);
  return stages;
}

}  // namespace

TEST_CASE("a rate scales the arrivals' own, burstiness and all; a speed-up divides what they are") {
  const std::string law =
      "arrivals: {kind: gamma, rate: 5 /s, cv: 2}, requests: 50, stream: {kind: lengths, prompt: {kind: fixed, value: "
      "8}, output: {kind: fixed, value: 1}}";
  const auto plain = all_of("{" + law + "}");
  const auto scaled = all_of("{" + law + ", rate: 10 /s}");
  const auto faster = all_of("{" + law + ", rate: 10 /s, speedup: 2}");
  REQUIRE(plain.size() == 50);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(scaled[i].start == plain[i].start / 2.0);
    CHECK(faster[i].start == plain[i].start / 4.0);
  }
}

TEST_CASE("a workload ends after its number of requests") {
  CHECK(all_of("{arrivals: {kind: periodic, rate: 1 /s}, requests: 7, stream: " + kCall + "}").size() == 7);
}

TEST_CASE("no program starts after the duration") {
  const auto programs = all_of("{arrivals: {kind: periodic, rate: 1 /s}, duration: 4 s, stream: " + kCall + "}");
  REQUIRE(programs.size() == 4);
  CHECK(programs.back().start == Seconds(4));
}

TEST_CASE("the next start is announced before the program is taken") {
  const auto generator = generator_of("{arrivals: {kind: periodic, rate: 2 /s}, requests: 2, stream: " + kCall + "}");
  Diagnostics diagnostics;
  CHECK(generator->next_start() == Seconds(0.5));
  CHECK(generator->next(diagnostics)->start == Seconds(0.5));
  CHECK(generator->next_start() == Seconds(1));
  CHECK(generator->next(diagnostics)->start == Seconds(1));
  CHECK(generator->next_start() == kNever);
  CHECK(generator->ended());
}

TEST_CASE("the same seed gives the same programs, another seed others") {
  const std::string workload = "{arrivals: {kind: poisson, rate: 5 /s}, requests: 100, stream: chat}";
  CHECK(all_of(workload, 1) == all_of(workload, 1));
  CHECK(all_of(workload, 1) != all_of(workload, 2));
}

TEST_CASE("the arrivals' law changes no program but its start") {
  auto first = all_of("{arrivals: {kind: poisson, rate: 5 /s}, requests: 100, stream: chat}");
  auto second = all_of("{arrivals: {kind: burst, programs: 100}, stream: chat}");
  for (Program& program : first) program.start = Seconds(0);
  CHECK(first == second);
}

TEST_CASE("a mixture draws its components by weight and gives them their class and priority") {
  constexpr int kPrograms = 20'000;
  const auto programs = all_of(
      "{arrivals: {kind: burst, programs: 20_000}, mixture: [{weight: 3, slo_class: second, priority: -2, stream: " +
      kCall + "}, {stream: " + kCall + "}]}");
  const auto of_first =
      std::count_if(programs.begin(), programs.end(), [](const Program& p) { return p.slo_class == 1; });
  CHECK(std::abs(static_cast<double>(of_first) / kPrograms - 0.75) < 4 * std::sqrt(0.75 * 0.25 / kPrograms));
  for (const Program& program : programs) CHECK(program.priority == (program.slo_class == 1 ? -2 : 0));
}

TEST_CASE("another component changes no program of the first ones") {
  const std::string two = "{weight: 2, slo_class: first, stream: chat}, {slo_class: second, stream: agents}";
  const std::string head = "{arrivals: {kind: burst, programs: 600}, mixture: [" + two;
  const auto without = all_of(head + "]}");
  const auto with = all_of(head + ", {weight: 5, slo_class: third, stream: rag}]}");
  for (const int slo_class : {0, 1}) {
    auto of_two = stages_of_class(without, slo_class);
    const auto of_three = stages_of_class(with, slo_class);
    REQUIRE(of_three.size() > 20);
    REQUIRE(of_three.size() < of_two.size());
    of_two.resize(of_three.size());
    CHECK(of_two == of_three);
  }
}

TEST_CASE("components share no content") {
  const auto programs =
      all_of("{arrivals: {kind: burst, programs: 200}, mixture: [{slo_class: first, stream: " + kCall +
             "}, {slo_class: second, stream: " + kCall + "}]}");
  std::vector<ContentId> ids[2];
  for (const Program& p : programs) ids[p.slo_class].push_back(p.stages[0].prompt[0].id);
  for (const ContentId id : ids[0]) CHECK(std::find(ids[1].begin(), ids[1].end(), id) == ids[1].end());
}

TEST_CASE("two components of the same kind draw apart") {
  const auto programs =
      all_of("{arrivals: {kind: burst, programs: 200}, mixture: [{slo_class: first, stream: " + kCall +
             "}, {slo_class: second, stream: " + kCall + "}]}");
  std::vector<std::int64_t> lengths[2];
  for (const Program& p : programs) lengths[p.slo_class].push_back(p.stages[0].prompt[0].tokens);
  for (auto& of_component : lengths) of_component.resize(50);
  CHECK(lengths[0] != lengths[1]);
}

TEST_CASE("a closed loop has one program of each user in flight, and the next follows the end and the thinking") {
  const auto generator = generator_of(
      "{arrivals: {kind: closed_loop, users: 2, think: {kind: fixed, value: 3 s}}, requests: 4, stream: " + kCall +
      "}");
  Diagnostics diagnostics;
  const auto a = generator->next(diagnostics), b = generator->next(diagnostics);
  REQUIRE((a && b));
  CHECK((a->start == Seconds(0) && b->start == Seconds(0)));
  CHECK((a->user == 0 && b->user == 1));
  CHECK_FALSE(generator->next(diagnostics));
  CHECK(generator->next_start() == kNever);
  CHECK_FALSE(generator->ended());
  generator->finished(*b, Seconds(2));
  CHECK(generator->next_start() == Seconds(5));
  const auto c = generator->next(diagnostics);
  REQUIRE(c);
  CHECK((c->start == Seconds(5) && c->user == 1));
  generator->finished(*a, Seconds(6));
  CHECK(generator->next(diagnostics)->start == Seconds(9));
  CHECK(generator->ended());  // four programs
}

TEST_CASE("a closed loop never has more programs in flight than users, and ends with the duration") {
  const auto generator = generator_of(
      "{arrivals: {kind: closed_loop, users: 5, think: {kind: exponential, mean: 1 s}}, duration: 100 s, stream: " +
      kCall + "}");
  Diagnostics diagnostics;
  RandomStream service(9);
  std::vector<std::pair<Seconds, Program>> running;  // by end
  Seconds now;
  int programs = 0;
  while (!generator->ended()) {
    const auto first_end = std::min_element(running.begin(), running.end(),
                                            [](const auto& a, const auto& b) { return a.first < b.first; });
    if (first_end == running.end() || generator->next_start() <= first_end->first) {
      auto program = generator->next(diagnostics);
      REQUIRE(program);
      REQUIRE(program->start >= now);
      REQUIRE(program->start <= Seconds(100));
      now = program->start;
      ++programs;
      running.emplace_back(now + Seconds(service.exponential(2)), std::move(*program));
      REQUIRE(running.size() <= 5);
    } else {
      now = first_end->first;
      const Program ended = first_end->second;
      running.erase(first_end);
      generator->finished(ended, now);
    }
  }
  // A cycle takes 3 s in the mean and has a standard deviation of sqrt(5) s: 5 users make about 5 * 100 / 3 cycles.
  CHECK(std::abs(programs - 500.0 / 3) < 4 * std::sqrt(5 * 100 * 5 / 27.0) + 5);
}

TEST_CASE("a workload that lacks something or says it twice is refused with the reason") {
  CHECK(mistakes_of("{stream: chat, requests: 5}").find("'arrivals' are missing") != std::string::npos);
  CHECK(mistakes_of("{arrivals: {kind: poisson, rate: 1 /s}, stream: chat}").find("would never end") !=
        std::string::npos);
  CHECK(mistakes_of("{arrivals: {kind: burst, programs: 5}}").find("one of 'stream', 'mixture' or 'replay'") !=
        std::string::npos);
  CHECK(mistakes_of("{arrivals: {kind: burst, programs: 5}, stream: chat, mixture: [{stream: chat}]}")
            .find("one of 'stream', 'mixture' or 'replay'") != std::string::npos);
  CHECK(
      mistakes_of("{arrivals: {kind: burst, programs: 5}, replay: {trace: a.csv}}").find("'arrivals' must be absent") !=
      std::string::npos);
  CHECK(mistakes_of("{arrivals: {kind: burst, programs: 5}, mixture: [{slo_class: frist, stream: chat}]}")
            .find("did you mean 'first'?") != std::string::npos);
  CHECK(mistakes_of("{arrivals: {kind: burst, programs: 5}, stream: {kind: rag, search: hosts}}")
            .find("there are no hosts to do it") != std::string::npos);
  CHECK(mistakes_of("{replay: {trace: no-such-file.csv}}").find("no-such-file.csv") != std::string::npos);
}

}  // namespace llmscape::workloads
