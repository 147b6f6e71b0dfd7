// SPDX-License-Identifier: Apache-2.0
// Speculative decoding against its closed form: (1 - a^(k+1)) / (1 - a) tokens a pass.
#include <doctest/doctest.h>

#include "models/speculation.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

namespace speculation_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Role;
using serving::Speculation;
using testing::call;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr double kStep = 0.01;
constexpr double kVerification = 1.25;  // of a step that computes four drafts beside each token, over one without

// Bound by bandwidth: the weights are read once, however many tokens there are.
double seconds(const models::Batch& batch) { return batch.tokens_per_decode > 1 ? kStep * kVerification : kStep; }

SystemConfig with(const Speculation& speculation) {
  SystemConfig config;
  config.kv_blocks = 100'000;
  config.speculation = speculation;
  return config;
}

const Speculation kFour{4, 0.8, RandomStreams(1)};

std::vector<workloads::Program> calls(int count, std::int64_t output) {
  std::vector<workloads::Program> programs;
  for (int i = 0; i < count; ++i)
    programs.push_back(call(0.002 * i, {{static_cast<ContentId>(i + 1), 100 + i, 0}}, output));
  return programs;
}

struct Served : System {
  Served(const SystemConfig& config, int count, std::int64_t output)
      : System(config, serving::VllmV1(), serving::LeastTokens(), seconds) {
    run(calls(count, output));
  }
};

}  // namespace

TEST_CASE("what speculation gains on a device bound by bandwidth is tokens a pass over the cost of a pass") {
  const Served plain(with({}), 40, 10'001), faster(with(kFour), 40, 10'001);
  const auto& totals = faster.replica().totals();
  CHECK(totals.passes > 100'000);
  CHECK(totals.decode_tokens == 40 * 10'000);
  const double tokens_per_pass = static_cast<double>(totals.decode_tokens) / static_cast<double>(totals.passes);
  CHECK(tokens_per_pass == approx(models::tokens_per_pass(4, 0.8)).epsilon(0.01));
  // The batch ends with its slowest member, so time per token is compared, not the whole.
  double tpot = 0;
  for (const auto& answer : faster.answers)
    tpot += (answer.request.last_token - answer.request.first_token).si() / 10'000 / 40;
  CHECK(tpot == approx(kStep * kVerification / 3.3616).epsilon(0.01));
  CHECK(plain.end / faster.end == approx(3.3616 / kVerification).epsilon(0.03));
}

TEST_CASE("tokens of one pass come together: one gap is the pass, the others are nothing") {
  const Served system(with(kFour), 1, 1001);
  std::int64_t passes = 0, at_once = 0;
  for (const auto& [gap, count] : system.gaps) {
    if (gap == 0) {
      at_once += count;
    } else {
      CHECK(gap == approx(kStep * kVerification));
      passes += count;
    }
  }
  CHECK(passes == system.replica().totals().passes);
  CHECK(passes + at_once == 1000);
}

TEST_CASE("drafts of which none is accepted cost their verification and change nothing else") {
  const Served plain(with({}), 30, 200), rejected(with({4, 0, RandomStreams(1)}), 30, 200);
  REQUIRE(plain.answers.size() == rejected.answers.size());
  CHECK(plain.replica().totals().passes == rejected.replica().totals().passes);
  for (std::size_t i = 0; i < plain.answers.size(); ++i) {
    const auto &one = plain.answers[i].request, &other = rejected.answers[i].request;
    CHECK(one.id == other.id);
    CHECK((other.last_token - other.first_token).si() ==
          approx(kVerification * (one.last_token - one.first_token).si()).epsilon(0.05));
  }
}

TEST_CASE("no drafts are no speculation, to the last bit") {
  const Served plain(with({}), 30, 200), none(with({0, 0.8, RandomStreams(9)}), 30, 200);
  REQUIRE(plain.answers.size() == none.answers.size());
  for (std::size_t i = 0; i < plain.answers.size(); ++i) CHECK(plain.answers[i].at == none.answers[i].at);
  CHECK(plain.gaps == none.gaps);
}

TEST_CASE("passes are of the request: who else is served does not change them") {
  const auto steps_of_first = [](int others) {
    const Served system(with(kFour), 1 + others, 500);
    for (const auto& answer : system.answers)
      if (answer.request.id == 0) return answer.request.sequence.end_step - answer.request.sequence.joined_step;
    return std::int64_t{0};
  };
  CHECK(steps_of_first(0) == steps_of_first(20));
}

TEST_CASE("a request goes on speculating after a KV transfer and after preemptions") {
  SystemConfig config = with(kFour);
  config.replicas = 2;
  config.roles = {Role::prefill, Role::decode};
  const Served apart(config, 30, 200);
  CHECK(apart.gateway().calls().counters().completed == 30);
  CHECK(apart.replica(0).totals().passes == 0);
  CHECK(apart.replica(1).totals().decode_tokens == 30 * 199);
  CHECK(apart.replica(1).totals().passes < 30 * 80);

  SystemConfig tight = with(kFour);
  tight.kv_blocks = 40;  // a third of what they would all need
  const Served preempted(tight, 30, 200);
  CHECK(preempted.replica().state().counts.preemptions > 10);
  CHECK(preempted.replica().state().kv.pool.used() == 0);
  CHECK(preempted.gateway().calls().counters().completed == 30);
  for (const auto& answer : preempted.answers) CHECK(answer.request.emitted == 200);
}

TEST_CASE("a request that fills the pool alone is served: its drafts have blocks") {
  SystemConfig config = with(kFour);
  config.kv_blocks = 20;
  System system(config, serving::VllmV1(), serving::LeastTokens(), seconds);
  system.run({call(0, {{1, 20, 0}}, 320 - 20 - 4), call(0, {{2, 20, 0}}, 320 - 20 - 3)});
  CHECK(system.gateway().calls().counters().completed == 1);
  CHECK(system.gateway().calls().counters().dropped == 1);
}

}  // namespace speculation_test
