// SPDX-License-Identifier: Apache-2.0
// Whole scenarios in which models take turns on their devices: what of these they share.
#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace turns_run_test {
namespace {

constexpr double kIdle = 121, kRent = 4.0 / 3600;  // of an H100: W, and money per second
// Bytes of a token's entries in all layers: 2 x 8 heads x 128 x 2 bytes x 32, and 2 x 4 x 128 x 2 x 28.
constexpr double kTokenOfLlama = 131'072, kTokenOfQwen = 57'344;

// Llama 3.1 8B and Qwen2.5 7B on the same H100s; every `apart` seconds a call of the one, and after it one of the
// other.
std::string two_models(int devices, double apart, int requests, const std::string& serving,
                       const std::string& more = "") {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nmodels: {q: qwen2.5-7b}\n"
         "hardware: {devices: [{name: gpu, preset: h100-sxm, count: " +
         std::to_string(devices) + "}]}\nserving: {cold_start: {boot: 1 s}, " + serving +
         "pools: [{name: p, models: [main, q], max_model_len: 8192}]}\n"
         "cost: {currency: USD, devices: {gpu: {hourly: 4 /h}}}\nwindow: {rule: whole}\n" +
         more + "workload: {requests: " + std::to_string(requests) +
         ", arrivals: {kind: periodic, rate: " + std::to_string(1 / apart) +
         " /s}, stream: {kind: workflow, input: {kind: fixed, value: 100}, stages: [{name: a, output: {kind: fixed, "
         "value: 10}}, {name: b, after: [a], model: q, output: {kind: fixed, value: 10}}]}}\n";
}

double joules_at_rest(const result::RunResult& run) {
  for (const auto& [component, joules] : run.energy->joules)
    if (component == "static") return joules;
  return 0;
}

// The devices were on for so long, all together.
void check_on(const result::RunResult& run, double seconds) {
  CHECK(joules_at_rest(run) == approx(kIdle * seconds));
  CHECK(run.cost->total == approx(kRent * seconds));
}

}  // namespace

TEST_CASE("a fault of a replica takes its neighbours along: the device is rented and idle for the 4 s that it lasts") {
  for (const char* replica : {"0", "1"}) {
    const auto run = run_on_event_queue(*scenario_of(two_models(
        1, 2, 6, "",
        std::string("faults: {schedule: [{at: 4.9 s, lasts: 4 s, group: gpu, replica: ") + replica + "}]}\n")));
    REQUIRE(run.fleet);
    for (const result::PoolLife& pool : run.fleet->pools) {
      CHECK(pool.losses == 1);
      CHECK(pool.replica_s == approx(run.simulated_s));
    }
    check_on(run, run.simulated_s);
  }
}

TEST_CASE("maintenance takes all models of a device out, which is on until the last of them has left") {
  const std::string at_1 = "controllers: [{policy: drain, at: 1 s, group: gpu";
  // The second of them has 20 calls and answers them; the first one has none.
  const std::string calls =
      "schema: scenario/1\nmodel: llama-3.1-8b\nmodels: {q: qwen2.5-7b}\nhardware: {devices: [{name: gpu, preset: "
      "h100-sxm}]}\nserving: {" +
      at_1 +
      "}], pools: [{name: p, models: [main, q], max_model_len: 8192}]}\n"
      "cost: {currency: USD, devices: {gpu: {hourly: 4 /h}}}\nwindow: {rule: whole}\n"
      "workload: {model: q, arrivals: {kind: burst, programs: 20}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 500}, output: {kind: fixed, value: 200}}}\n";
  const auto busy = run_on_event_queue(*scenario_of(calls));
  CHECK(busy.requests.completed == 20);
  CHECK(busy.simulated_s > 1);
  check_on(busy, busy.simulated_s);
  CHECK(busy.fleet->pools[0].replica_s == approx(1));
  CHECK(busy.fleet->pools[1].replica_s == approx(busy.simulated_s));

  // Of two idle devices the first one goes for good; one that is to be back after 2 s is rented meanwhile. Nothing is
  // to be counted twice.
  const auto one_of_two = run_on_event_queue(*scenario_of(two_models(2, 2, 3, at_1 + "}], ")));
  for (const result::PoolLife& pool : one_of_two.fleet->pools) {
    CHECK(pool.drains == 1);
    CHECK(pool.replica_s == approx(one_of_two.simulated_s + 1));
  }
  check_on(one_of_two, one_of_two.simulated_s + 1);
  const auto back = run_on_event_queue(*scenario_of(two_models(1, 2, 3, at_1 + ", lasts: 2 s}], ")));
  check_on(back, back.simulated_s);
  // Two replicas are those of one device.
  const auto two = run_on_event_queue(*scenario_of(two_models(2, 2, 3, at_1 + ", count: 2}], ")));
  check_on(two, two.simulated_s + 1);
  check_on(run_on_event_queue(*scenario_of(two_models(2, 2, 3, ""))), 2 * two.simulated_s);
}

TEST_CASE("the cold start of a model that runs first after a fault is its load, and the only one") {
  const auto run = run_on_event_queue(
      *scenario_of(two_models(1, 2, 3, "", "faults: {schedule: [{at: 4.9 s, lasts: 1 s, group: gpu, device: 0}]}\n")));
  const auto before = run_on_event_queue(*scenario_of(two_models(1, 2, 3, "")));
  CHECK(before.turns->loads == 5);  // all but the first call's
  CHECK(run.turns->loads == 4);
  // A call comes at 6 s, and the start ends a load after 5.9 + 1; others wait for a load alone.
  CHECK(run.latency["ttft_s"]->max - before.latency["ttft_s"]->max == approx(0.9));
}

// Rank 64 on all projections. Llama: 32 layers x 64 x ((4096 + 4096) x 2 + (4096 + 1024) x 2 + (4096 + 14336) x 3)
// parameters of 2 bytes are 335.5 MB; Qwen: 28 x 64 x ((3584 + 3584) x 2 + (3584 + 512) x 2 + (3584 + 18944) x 3) x 2.
TEST_CASE("a model's adapter leaves with its weights, and is loaded again whenever these are") {
  const double llama = 32.0 * 64 * (8192 * 2 + 5120 * 2 + 18'432 * 3) * 2 / 1e9,
               qwen = 28.0 * 64 * (7168 * 2 + 4096 * 2 + 22'528 * 3) * 2 / 1e9;
  const std::string lora =
      "lora: {rank: 64, targets: [q, k, v, o, mlp], adapters: 1, popularity: 0, resident: 1, load_bandwidth: 1 GB/s}, ";
  const auto run = run_on_event_queue(*scenario_of(two_models(1, 4, 4, lora)));
  REQUIRE(run.adapters);
  CHECK(run.turns->loads == 7);
  CHECK(run.adapters->loads == 8);
  CHECK(run.adapters->load_s == approx(4 * llama + 4 * qwen));
  // A model that stays keeps it.
  const auto both =
      run_on_event_queue(*scenario_of(two_models(1, 4, 4, lora), {"serving.pools[0].take_turns.resident=2"}));
  CHECK(both.turns->loads == 0);
  CHECK(both.adapters->loads == 2);
}

TEST_CASE("heads that draft take memory where their model is resident, once, and not from each model's share") {
  const auto blocks = [](const std::string& speculation, const std::string& resident) {
    return static_cast<double>(run_on_event_queue(*scenario_of(two_models(1, 4, 1, speculation),
                                                               {"serving.pools[0].take_turns.resident=" + resident}))
                                   .kv.blocks);
  };
  const std::string heads = "speculation: {tokens: 3, acceptance: 0.5, draft: {share: 0.25}}, ";
  const double llama = 16.0605e9, qwen = 15.2312e9;  // bytes of weights
  const double of_a_byte = 1 / (2 * 16 * kTokenOfLlama) + 1 / (2 * 16 * kTokenOfQwen);
  CHECK(blocks("", "1") - blocks(heads, "1") == approx(0.25 * llama * of_a_byte).epsilon(0.001));
  CHECK(blocks("", "2") - blocks(heads, "2") == approx(0.25 * (llama + qwen) * of_a_byte).epsilon(0.001));
  CHECK(blocks("speculation: {tokens: 0, acceptance: 0.5, draft: {share: 0.25}}, ", "1") == blocks("", "1"));
}

TEST_CASE("models divide the memory of their host: 5 GB each are 2,384 and 5,449 blocks of 16 tokens") {
  const auto run = [](const std::string& host) { return run_on_event_queue(*scenario_of(two_models(1, 4, 1, host))); };
  const std::string memory = "capacity: 10 GB, read: 10 GB/s, write: 5 GB/s, latency: 10 us";
  const std::string uncached = "batcher: {policy: vllm_v1, enable_prefix_caching: false}, ";
  const auto with = run(uncached + "kv_host: {name: h, " + memory + "}, ");
  CHECK(with.kv.blocks - run(uncached).kv.blocks == 2384 + 5449);
  const auto tiers = run("kv_tiers: [{name: t, " + memory + ", shared_by: replica}], ");
  REQUIRE(tiers.kv_tiers.size() == 1);
  CHECK(tiers.kv_tiers[0].capacity_bytes == approx(16 * (2384 * kTokenOfLlama + 5449 * kTokenOfQwen)));
}

}  // namespace turns_run_test
