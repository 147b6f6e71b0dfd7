// SPDX-License-Identifier: Apache-2.0
// Streaming prompts: what is there is computed while the rest is still being retrieved.
#include <doctest/doctest.h>

#include "sim/serving/batchers/streaming.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using llmscape::testing::call;
using llmscape::testing::Script;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;
using workloads::Program;
using workloads::PromptVersion;

namespace {

// 1 ms a token, nothing else.
double by_token(const models::Batch& batch) { return 1e-3 * static_cast<double>(batch.tokens()); }

VllmV1 plain() {
  VllmV1 policy;
  policy.enable_prefix_caching = false;
  policy.async_scheduling = false;
  policy.reserve_full_prompt = false;
  return policy;
}

Streaming ordered(const std::string& order) {
  Streaming policy;
  policy.order = order;
  return policy;
}

Program streamed(double start, std::vector<PromptVersion> versions, std::int64_t output = 1) {
  Program program = call(start, versions.back().prompt, output);
  program.stages[0].versions = std::move(versions);
  return program;
}

// Chunks of one text, `tokens` long in all at each time.
Program appended(double start, ContentId text, const std::vector<std::pair<double, std::int64_t>>& lengths) {
  std::vector<PromptVersion> versions;
  for (const auto& [at, tokens] : lengths) versions.push_back({Seconds(at), {{text, tokens}}});
  return streamed(start, versions);
}

SystemConfig streaming_system(std::int64_t kv_blocks = 1000) {
  SystemConfig config;
  config.kv_blocks = kv_blocks;
  config.gateway.streaming_input = true;
  return config;
}

double context_ttft(const llmscape::testing::Answer& answer) {
  return (answer.request.first_token - answer.request.context_complete).si();
}

std::function<KvBelow(std::size_t)> swapping_to(const KvSwapConfig& config) {
  return [config](std::size_t) { return KvBelow{{std::make_shared<KvSwap>(config)}}; };
}

}  // namespace

TEST_CASE("an appended chunk costs its own tokens: 300 of 1000 come last, so the first token comes 0.3 s after them") {
  const Program program = appended(1, 7, {{0.5, 400}, {2, 700}, {4, 1000}});
  SystemConfig config = streaming_system();
  System streaming(config, plain(), RoundRobin(), by_token);
  streaming.run({program});
  const Request& r = streaming.answers[0].request;
  CHECK(r.arrival.si() == approx(1.5));
  CHECK(r.context_complete.si() == approx(5));
  CHECK(r.first_token.si() == approx(5.3));
  CHECK(r.prefilled == 1000);
  CHECK(r.invalidated == 0);
  CHECK(streaming.steps.size() == 3);

  config.gateway.streaming_input = false;  // the whole prompt is sent when it is there
  System whole(config, plain(), RoundRobin(), by_token);
  whole.run({program});
  CHECK(whole.answers[0].request.arrival.si() == approx(5));
  CHECK(context_ttft(whole.answers[0]) == approx(1.0));
  CHECK(whole.steps.size() == 1);
}

TEST_CASE("no token is answered before the prompt is complete, however long the last chunk takes to come") {
  System system(streaming_system(), plain(), RoundRobin(), by_token);
  system.run({appended(0, 7, {{0, 500}, {100, 501}})});
  CHECK(system.answers[0].request.first_token.si() == approx(100.001));
  CHECK(system.steps.size() == 2);  // it held its blocks meanwhile, and computed nothing
}

TEST_CASE("an update keeps the common prefix: 10 of 100 tokens replaced cost 10") {
  System system(streaming_system(), plain(), RoundRobin(), by_token);
  system.run({streamed(0, {{Seconds(0), {{1, 100}}}, {Seconds(1), {{1, 90}, {2, 10}}}})});
  const Request& r = system.answers[0].request;
  CHECK(context_ttft(system.answers[0]) == approx(0.010));
  CHECK(r.prefilled == 110);
  CHECK(r.invalidated == 10);
  CHECK(system.replica().state().counts.invalidated_tokens == 10);
}

TEST_CASE("updates that share nothing are no faster than waiting for the last one, and cost all that was computed") {
  const Program program = streamed(0, {{Seconds(0), {{1, 100}}}, {Seconds(1), {{2, 100}}}, {Seconds(2), {{3, 100}}}});
  SystemConfig config = streaming_system();
  System streaming(config, plain(), RoundRobin(), by_token);
  streaming.run({program});
  config.gateway.streaming_input = false;
  System whole(config, plain(), RoundRobin(), by_token);
  whole.run({program});
  CHECK(context_ttft(streaming.answers[0]) == approx(context_ttft(whole.answers[0])));
  CHECK(streaming.replica().state().counts.prefilled_tokens == 300);
  CHECK(whole.replica().state().counts.prefilled_tokens == 100);
}

TEST_CASE("a last version without anything new has its last token computed again: the answer comes of that") {
  System system(streaming_system(), plain(), RoundRobin(), by_token);
  system.run({streamed(0, {{Seconds(0), {{1, 100}}}, {Seconds(1), {{1, 100}}}})});
  CHECK(context_ttft(system.answers[0]) == approx(0.001));
  CHECK(system.answers[0].request.invalidated == 1);
}

TEST_CASE("one chunk is no streaming: the same steps at the same times") {
  RandomStream random(3);
  std::vector<Program> programs;
  double at = 0;
  for (ContentId i = 1; i <= 200; ++i)
    programs.push_back(appended(at += random.exponential(0.1), i, {{random.exponential(1), random.integer(1, 300)}}));
  for (const std::string order : {"default", "fcfs", "lcas", "mcps"}) {
    CAPTURE(order);
    SystemConfig config = streaming_system(60);
    System streaming(config, ordered(order), RoundRobin(), by_token);
    streaming.run(programs);
    config.gateway.streaming_input = false;
    System whole(config, ordered(order), RoundRobin(), by_token);
    whole.run(programs);
    REQUIRE(streaming.steps.size() == whole.steps.size());
    for (std::size_t i = 0; i < whole.steps.size(); ++i) CHECK(streaming.steps[i].end == whole.steps[i].end);
    for (std::size_t i = 0; i < whole.answers.size(); ++i) CHECK(streaming.answers[i].at == whole.answers[i].at);
  }
}

TEST_CASE("the streaming batcher in default order does what vLLM does") {
  std::int64_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    std::vector<Program> programs;
    double at = 0;
    for (ContentId i = 1; i <= 200; ++i) {
      const std::int64_t head = random.integer(1, 40);
      programs.push_back(appended(at += random.exponential(0.2), i,
                                  {{0, head}, {random.exponential(2), head + random.integer(1, 400)}}));
    }
    System vllm(streaming_system(40), plain(), RoundRobin(), by_token);
    vllm.run(programs);
    System two_phases(streaming_system(40), ordered("default"), RoundRobin(), by_token);
    two_phases.run(programs);
    preemptions += vllm.replica().state().counts.preemptions;
    CHECK(vllm.replica().state().counts.preemptions == two_phases.replica().state().counts.preemptions);
    REQUIRE(vllm.answers.size() == two_phases.answers.size());
    for (std::size_t i = 0; i < vllm.answers.size(); ++i) CHECK(vllm.answers[i].at == two_phases.answers[i].at);
  }
  CHECK(preemptions > 100);  // the hard case was really met
}

// All at once while the engine computes 100 tokens of somebody else: two whole prompts and two that are partial, of 100
// tokens each with a budget of 100 a step, so that one of them is computed at a time.
TEST_CASE("orders: who is computed first") {
  const auto first_tokens = [](const std::string& order) {
    Streaming policy = ordered(order);
    policy.max_num_batched_tokens = 100;
    policy.max_num_seqs = 100;
    System system(streaming_system(), policy, RoundRobin(), by_token);
    system.run({appended(0, 1, {{0, 100}}),                 // 0: has the engine until 0.1
                appended(0.01, 2, {{0, 50}, {0.05, 100}}),  // 1: half of it, then, at 0.06, the rest
                appended(0.02, 3, {{0, 100}}),              // 2: whole
                appended(0.03, 4, {{0, 100}, {0.5, 101}}),  // 3: all but a token, which comes at 0.53
                appended(0.04, 5, {{0, 100}})});            // 4: whole
    std::vector<double> times(5);
    for (const auto& answer : system.answers) times[answer.request.id] = answer.request.first_token.si();
    return times;
  };
  // By arrival: 1, 2, 3 (which answers at 0.53 only), 4.
  CHECK(first_tokens("default")[1] == approx(0.2));
  CHECK(first_tokens("default")[2] == approx(0.3));
  CHECK(first_tokens("default")[4] == approx(0.5));
  // The complete ones first: 1, 2, 4; then 3.
  CHECK(first_tokens("fcfs")[1] == approx(0.2));
  CHECK(first_tokens("fcfs")[2] == approx(0.3));
  CHECK(first_tokens("fcfs")[4] == approx(0.4));
  // The complete ones first, by their last chunks: 2 at 0.02, 4 at 0.04, 1 at 0.06; then 3.
  CHECK(first_tokens("lcas")[2] == approx(0.2));
  CHECK(first_tokens("lcas")[4] == approx(0.3));
  CHECK(first_tokens("lcas")[1] == approx(0.4));
  for (const std::string order : {"default", "fcfs", "lcas", "mcps"}) CHECK(first_tokens(order)[3] < 0.54);
}

TEST_CASE("most computed tokens first: the longer of two partial prompts goes on, then the other") {
  Streaming policy = ordered("mcps");
  policy.max_num_batched_tokens = 100;
  policy.max_num_seqs = 100;
  System system(streaming_system(), policy, RoundRobin(), by_token);
  system.run({appended(0, 1, {{0, 40}, {0.5, 140}}), appended(0, 2, {{0, 60}, {0.5, 160}})});
  std::vector<double> times(2);
  for (const auto& answer : system.answers) times[answer.request.id] = answer.request.first_token.si();
  CHECK(times[1] == approx(0.6));
  CHECK(times[0] == approx(0.7));
}

// A pool of 10 blocks of 16: an idle partial prompt of 100 tokens has 7 of them when a whole prompt of 96 (6) comes.
TEST_CASE("a complete prompt takes the blocks of a partial one, whose tokens are lost, or kept by the host") {
  const std::vector<Program> programs = {appended(0, 1, {{0, 100}, {10, 101}}), appended(1, 2, {{0, 96}})};
  System arrival(streaming_system(10), ordered("default"), RoundRobin(), by_token);
  arrival.run(programs);
  CHECK(arrival.answers[0].at.si() == approx(10.001));  // the second waits for the first to end
  CHECK(arrival.answers[1].at.si() == approx(10.097));
  CHECK(arrival.replica().state().counts.preemptions == 0);

  System fcfs(streaming_system(10), ordered("fcfs"), RoundRobin(), by_token);
  fcfs.run(programs);
  CHECK(fcfs.answers[0].request.id == 1);
  CHECK(fcfs.answers[0].at.si() == approx(1.096));
  CHECK(fcfs.replica().state().counts.preemptions == 1);
  CHECK(fcfs.answers[1].at.si() == approx(10.001));  // computed again at once, long before the last token
  CHECK(fcfs.replica().state().counts.prefilled_tokens == 100 + 96 + 100 + 1);

  // 7 blocks of 1000 bytes out at 20 kB/s: 0.35 s from 1.0 on; the copy in, when the other has gone, takes 0.7 s.
  SystemConfig config = streaming_system(10);
  config.below = swapping_to({100, Bytes(1000), BytesPerSecond(10e3), BytesPerSecond(20e3), Seconds()});
  Streaming swapping = ordered("fcfs");
  swapping.victims = Preempted::swap;
  const std::vector<Program> sooner = {appended(0, 1, {{0, 100}, {1.5, 101}}), programs[1]};
  System swap(config, swapping, RoundRobin(), by_token);
  swap.run(sooner);
  CHECK(swap.replica().state().counts.swaps == 1);
  CHECK(swap.replica().state().counts.prefilled_tokens == 100 + 96 + 1);
  CHECK(swap.answers[1].at.si() == approx(1.35 + 0.7 + 0.001));

  // By cost: 100 tokens are computed in 0.1 s, copies take 1.05 s. With links 100 times as fast they take 0.0105 s.
  swapping.victims = Preempted::by_cost;
  System slow(config, swapping, RoundRobin(), by_token);
  slow.run(sooner);
  CHECK(slow.replica().state().counts.swaps == 0);
  CHECK(slow.replica().state().counts.preemptions == 1);
  config.below = swapping_to({100, Bytes(1000), BytesPerSecond(1e6), BytesPerSecond(2e6), Seconds()});
  System fast(config, swapping, RoundRobin(), by_token);
  fast.run(sooner);
  CHECK(fast.replica().state().counts.swaps == 1);
}

TEST_CASE("sequences that decode are swapped as well, and compute one token of theirs again") {
  // Two prompts of 64 tokens decode in 10 blocks of 16 until both need a sixth, after 16 steps of 2 ms: the second goes
  // out (5 blocks at 20 kB/s), the first ends after 23 ms alone, the second comes in at 10 kB/s and has 23 tokens left.
  SystemConfig config = streaming_system(10);
  config.below = swapping_to({100, Bytes(1000), BytesPerSecond(10e3), BytesPerSecond(20e3), Seconds()});
  Streaming swapping = ordered("default");
  swapping.victims = Preempted::swap;
  const std::vector<Program> programs = {call(0, {{1, 64}}, 40), call(0, {{2, 64}}, 40)};
  System swap(config, swapping, RoundRobin(), by_token);
  swap.run(programs);
  CHECK(swap.replica().state().counts.swaps == 1);
  CHECK(swap.replica().state().counts.prefilled_tokens == 64 + 64 + 1);
  CHECK(swap.answers[0].at.si() == approx(0.128 + 0.032 + 0.023));
  CHECK(swap.answers[1].at.si() == approx(0.160 + 0.25 + 0.5 + 0.001 + 0.022));

  swapping.victims = Preempted::recompute;
  System again(config, swapping, RoundRobin(), by_token);
  again.run(programs);
  CHECK(again.replica().state().counts.swaps == 0);
  CHECK(again.replica().state().counts.prefilled_tokens == 64 + 64 + 81);
}

TEST_CASE("a replica that is lost: the retry begins with what had come of the prompt") {
  SystemConfig config = streaming_system();
  config.controller = [] {
    return std::make_unique<Script>(
        std::vector<Script::Act>{{2, [](Fleet& fleet, Seconds now) { fleet.lose(0, false, now); }},
                                 {2.5, [](Fleet& fleet, Seconds now) { fleet.repair(0, Seconds(), now); }}});
  };
  System system(config, plain(), RoundRobin(), by_token);
  system.run({appended(0, 1, {{0, 100}, {1, 200}, {3, 300}})});
  const Request& r = system.answers[0].request;
  CHECK(system.answers[0].outcome == Outcome::completed);
  CHECK(r.first_token.si() == approx(3.1));  // the first 200 were computed again at 2.5
  CHECK(r.prefilled == 500);
}

TEST_CASE("the front end reads each version's new tokens before an engine sees them") {
  SystemConfig config = streaming_system();
  config.gateway.front_end = {Seconds(0.01), Seconds(1e-4)};
  System system(config, plain(), RoundRobin(), by_token);
  system.run({appended(0, 1, {{0, 100}, {1, 300}})});
  CHECK(context_ttft(system.answers[0]) == approx(0.01 + 200 * 1e-4 + 0.2));
}

TEST_CASE("a version without new tokens waits in the front end for those before it") {
  SystemConfig config = streaming_system();
  config.gateway.front_end = {Seconds(), Seconds(1e-3)};
  System system(config, plain(), RoundRobin(), by_token);
  system.run({appended(0, 1, {{0, 100}, {0.2, 600}, {0.3, 600}})});
  REQUIRE(system.answers[0].outcome == Outcome::completed);
  // Read until 0.7, computed until 1.2.
  CHECK(system.answers[0].request.first_token.si() == approx(1.2));
  CHECK(context_ttft(system.answers[0]) == approx(0.9));
}

TEST_CASE("a prompt that outgrows the engine is dropped when it does") {
  SystemConfig config = streaming_system(10);
  System system(config, plain(), RoundRobin(), by_token);
  system.run({appended(0, 1, {{0, 100}, {1, 161}, {2, 162}}), appended(0, 2, {{0, 10}, {3, 20}})});
  CHECK(system.answers[0].outcome == Outcome::dropped);
  CHECK(system.answers[0].request.reason == Reason::too_long);
  CHECK(system.answers[0].at.si() == approx(1));
  CHECK(system.answers[1].outcome == Outcome::completed);
}

// 100 tokens became 5,000, beside 1,000 on the other replica.
TEST_CASE("a router sees what has come of a prompt since it was sent") {
  SystemConfig config = streaming_system();
  config.replicas = 2;
  System system(config, plain(), LeastTokens(), by_token);
  system.run({streamed(0, {{Seconds(0), {{1, 100}}}, {Seconds(1), {{1, 5000}}}}, 9000), call(0.5, {{2, 1000}}, 9000),
              call(2, {{3, 10}}, 1)});
  for (const auto& answer : system.answers)
    CHECK(answer.request.replica == (answer.request.arrival == Seconds() ? 0 : 1));
}
