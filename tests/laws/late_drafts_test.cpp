// SPDX-License-Identifier: Apache-2.0
// Drafts of users' devices that come too late: who waits for whom, on a model and devices whose times are made up.
#include <doctest/doctest.h>

#include "models/speculation.hpp"
#include "sim/engine/draft.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

namespace late_drafts_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Speculation;
using testing::call;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr std::int64_t kDrafts = 4;
constexpr double kAcceptance = 0.8;
constexpr double kStep = 0.010, kVerification = 0.0125;
const engine::DraftLink kLink{Seconds(0.005), BytesPerSecond(1e9)};
constexpr double kRoundTrip = 0.010 + 24e-9;

std::unique_ptr<engine::EngineModel> verifier() {
  return std::make_unique<testing::MadeUpStepModel>([](const models::Batch& batch) {
    return batch.decodes > 0 && batch.tokens_per_decode > 1 ? kVerification : kStep;
  });
}

// A millisecond a step and a microsecond for each token of the context.
std::unique_ptr<engine::EngineModel> drafter() {
  return std::make_unique<testing::MadeUpStepModel>(
      [](const models::Batch& batch) { return 1e-3 + 1e-6 * static_cast<double>(batch.attended[0].sum); });
}

std::int64_t longest_in_time(double deadline) {
  return engine::longest_in_time(*drafter(), {0}, kDrafts, kLink, Seconds(deadline), 1 << 20);
}

SystemConfig with(const Speculation& speculation, std::int64_t lookahead = 64) {
  SystemConfig config;
  config.kv_blocks = 100'000;
  config.speculation = speculation;
  config.lookahead = lookahead;
  return config;
}

Speculation waiting(double deadline) { return {kDrafts, kAcceptance, RandomStreams(1), longest_in_time(deadline)}; }

constexpr double kForever = 1000;

struct Served : System {
  Served(const SystemConfig& config, double deadline, std::vector<workloads::Program> programs)
      : System(config, serving::VllmV1(), serving::LeastTokens(),
               [steps = std::shared_ptr<engine::EngineModel>(engine::with_draft_device(
                    verifier(), drafter(), {{0}, {0}}, kLink, Seconds(deadline)))](const models::Batch& batch) {
                 const engine::EngineCost cost = steps->step(batch);
                 return (cost.device + cost.sync).si();
               }) {
    run(std::move(programs));
  }
};

// Seven short prompts, and one of 200,000 tokens.
std::vector<workloads::Program> burst(bool with_long) {
  std::vector<workloads::Program> programs;
  for (ContentId id = 1; id <= 7; ++id) programs.push_back(call(0, {{id, 100, 0}}, 2001));
  if (with_long) programs.push_back(call(0, {{8, 200'000, 0}}, 400));
  return programs;
}

double tpot_of_short(const System& system) {
  double sum = 0;
  for (const auto& answer : system.answers)
    if (answer.request.prompt_tokens == 100)
      sum += (answer.request.last_token - answer.request.first_token).si() / 2000 / 7;
  return sum;
}

// Contexts on both sides of 9,000 tokens, some of which go from the one to the other.
std::vector<workloads::Program> around_the_limit(int count = 30) {
  std::vector<workloads::Program> programs;
  for (int i = 0; i < count; ++i)
    programs.push_back(call(0.03 * i, {{static_cast<ContentId>(i + 1), 7'500 + 60 * i, 0}}, 50 + 17 * i));
  return programs;
}

}  // namespace

TEST_CASE("seven short answers do not wait for the drafts of a prompt of 200,000 tokens") {
  // 4 (1 ms + 1 us a token) + the round trip: 50 ms are over with 9,000 tokens, but for the 24 bytes on the link.
  CHECK(longest_in_time(0.050) == 8'999);
  const Served apart(with(waiting(0.050)), 0.050, burst(true)), alone(with(waiting(0.050)), 0.050, burst(false));
  const double tpot = tpot_of_short(apart);
  CHECK(tpot == approx(tpot_of_short(alone)).epsilon(0.01));
  // From 101 to 2,100 tokens, 5 of the pass beside: 4 (1 + 1.1055) ms of drafting in the mean.
  const double mean = models::tokens_per_pass(kDrafts, kAcceptance);
  CHECK(tpot == approx((kVerification + 4 * 2.1055e-3 + kRoundTrip) / mean).epsilon(0.02));
  // If all wait for all: 4 (1 + 200) ms.
  const Served together(with(waiting(kForever)), kForever, burst(true));
  CHECK(tpot_of_short(together) > 5 * tpot);
  // The long one has no draft: a token a pass.
  const auto passes_of_long = [](const System& system) {
    for (const auto& answer : system.answers)
      if (answer.request.prompt_tokens > 100)
        return answer.request.sequence.end_step - answer.request.sequence.joined_step;
    return std::int64_t{0};
  };
  CHECK(passes_of_long(apart) == 399);
  CHECK(passes_of_long(together) == approx(399 / mean).epsilon(0.1));
  CHECK(apart.replica().totals().late_passes == 399);
  CHECK(together.replica().totals().late_passes == 0);
}

TEST_CASE("without time to wait nobody has drafts, and the run is that without speculation, to the last bit") {
  const Served none(with({}), 0, around_the_limit()), zero(with(waiting(0)), 0, around_the_limit());
  REQUIRE(none.answers.size() == zero.answers.size());
  for (std::size_t i = 0; i < none.answers.size(); ++i) {
    CHECK(none.answers[i].request.id == zero.answers[i].request.id);
    CHECK(none.answers[i].at == zero.answers[i].at);
  }
  CHECK(none.gaps == zero.gaps);
  const auto& totals = zero.replica().totals();
  CHECK(totals.passes == totals.decode_tokens);
  CHECK(totals.late_passes == totals.passes);
}

TEST_CASE("a limit that no context reaches is none, to the last bit") {
  Speculation limited{kDrafts, kAcceptance, RandomStreams(1), 1 << 20};
  const Served all(with({kDrafts, kAcceptance, RandomStreams(1)}), kForever, around_the_limit()),
      same(with(limited), kForever, around_the_limit());
  REQUIRE(all.answers.size() == same.answers.size());
  for (std::size_t i = 0; i < all.answers.size(); ++i) CHECK(all.answers[i].at == same.answers[i].at);
  CHECK(all.gaps == same.gaps);
}

TEST_CASE("requests whose drafts become late on the way: looking ahead changes no bit, and every token is answered") {
  for (const std::int64_t blocks : {100'000, 6'000}) {  // of 16 tokens: enough for all, and for some ten
    CAPTURE(blocks);
    SystemConfig far = with(waiting(0.050), 64), near = with(waiting(0.050), 0);
    far.kv_blocks = near.kv_blocks = blocks;
    const Served ahead(far, 0.050, around_the_limit()), stepwise(near, 0.050, around_the_limit());
    REQUIRE(ahead.answers.size() == 30);
    REQUIRE(stepwise.answers.size() == 30);
    for (std::size_t i = 0; i < ahead.answers.size(); ++i) {
      CHECK(ahead.answers[i].request.id == stepwise.answers[i].request.id);
      CHECK(ahead.answers[i].at == stepwise.answers[i].at);
      CHECK(ahead.answers[i].request.emitted == 50 + 17 * static_cast<std::int64_t>(ahead.answers[i].request.id));
    }
    CHECK(ahead.gaps == stepwise.gaps);
    const auto& totals = ahead.replica().totals();
    CHECK(totals.late_passes > 1000);
    CHECK(totals.passes - totals.late_passes > 1000);
    CHECK((ahead.replica().state().counts.preemptions > 0) == (blocks < 100'000));
    CHECK(ahead.replica().state().kv.pool.used() == 0);
    std::int64_t gaps = 0, tokens = 0;
    for (const auto& [gap, count] : ahead.gaps) gaps += count;
    for (const auto& answer : ahead.answers) tokens += answer.request.emitted - 1;
    CHECK(gaps == tokens);
  }
}

TEST_CASE("where a request's drafts become late is of the request: who else is served does not change it") {
  const auto last_passes = [](int count) {
    const Served system(with(waiting(0.050)), 0.050, around_the_limit(count));
    for (const auto& answer : system.answers)
      if (answer.request.id == 24) {
        CHECK(answer.request.sequence.outgrew_drafts);
        return answer.request.sequence.to_answer;
      }
    return std::int64_t{0};
  };
  // 8,941 tokens and 457 to come: 54 of them at the least before a pass would reach beyond 8,999.
  const std::int64_t late = last_passes(25);
  CHECK(late == last_passes(30));
  CHECK(late <= 457 - 54);
  CHECK(late >= 457 - 54 - 4);
}

}  // namespace late_drafts_test
