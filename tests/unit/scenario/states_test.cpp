// SPDX-License-Identifier: Apache-2.0
// Models with layers that keep a recurrent state: memory, what they do not go together with, a run.
#include <doctest/doctest.h>

#include "sim/scenario/kv_windows.hpp"
#include "sim/scenario/replica_size.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace states_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string served(const std::string& model, const std::string& serving = "{}", int count = 1) {
  return "schema: scenario/1\nmodel: " + model +
         "\nhardware: {devices: [{preset: h100-sxm, count: " + std::to_string(count) + "}]}\nserving: " + serving +
         "\nworkload: {requests: 40, warmup: 0 s, arrivals: {kind: closed_loop, users: 4}, stream: {kind: lengths, "
         "prompt: {kind: fixed, value: 1000}, "
         "output: {kind: fixed, value: 51}}}\n";
}

scenario::KvRoom room(double tokens, std::int64_t longest) { return {.tokens = tokens, .longest = longest}; }

// 12 layers of attention and 36 of the gated delta rule, as Qwen3-Next, states in 16 bits.
models::ModelSpec hybrid(int attention_layers) {
  models::ModelSpec model;
  models::LayerGroup full, state;
  full.count = attention_layers;
  full.mixer = models::SoftmaxAttention{.heads = 16, .kv_heads = 2, .head_dim = 256};
  state.count = 36;
  state.mixer = models::StateLayer{.form = models::StateForm::gated_delta,
                                   .heads = 32,
                                   .key_heads = 16,
                                   .key_dim = 128,
                                   .value_dim = 128,
                                   .state_bytes = 2};
  if (attention_layers > 0) model.groups.push_back(full);
  model.groups.push_back(state);
  return model;
}

}  // namespace

TEST_CASE(
    "how long are blocks beside states? vLLM says 544 tokens for Qwen3-Next; three of them hold a sequence's states") {
  const auto kv = scenario::windowed_kv(hybrid(12), {}, scenario::KvWindows::pooled, room(1e6, 32768));
  CHECK(kv.block_tokens == 544);
  REQUIRE(kv.windows.size() == 1);
  CHECK(kv.windows[0].most == 1);
  CHECK(kv.windows[0].weight == approx(36.0 / 12));
  // Engines that do not pad: bytes as they are, in blocks as asked for.
  const auto exact = scenario::windowed_kv(hybrid(12), {}, scenario::KvWindows::ignored, room(1e6, 32768));
  CHECK(exact.block_tokens == 16);
  CHECK(exact.windows[0].weight == approx(36 * 1'097'728.0 / (12 * 2048 * 16)));
  // Each draft token has a state of its own, from which a rejected one is taken back.
  scenario::KvRoom drafts = room(1e6, 32768);
  drafts.drafts = 2;
  for (const auto windows : {scenario::KvWindows::pooled, scenario::KvWindows::ignored})
    CHECK(scenario::windowed_kv(hybrid(12), {}, windows, drafts).windows[0].weight ==
          approx(3 * scenario::windowed_kv(hybrid(12), {}, windows, room(1e6, 32768)).windows[0].weight));
}

// Gemma 3 has 10 layers without a window and 52 with one of 1,024 entries, of as many bytes each.
TEST_CASE("what does a block have room for, beside layers with a window?") {
  const auto gemma = scenario_of(served("gemma-3-27b"));
  const auto share = [&gemma](scenario::KvWindows windows) {
    return scenario::windowed_kv(gemma->model_of(gemma->pools[0]), {}, windows, room(1e6, 131072)).entry_share;
  };
  CHECK(share(scenario::KvWindows::ignored) == 1);
  CHECK(share(scenario::KvWindows::pooled) == approx(10.0 / 62));
  CHECK(share(scenario::KvWindows::ratio) == approx((10 + 0.8 * 52) / 62));
  CHECK(share(scenario::KvWindows::split) == approx((10 + 52.0 * 1024 / 131072) / 62));
}

TEST_CASE("the draft model's entries come off the memory, however windows are kept") {
  const auto gemma = scenario_of(served("gemma-3-27b"));
  const models::ModelSpec& model = gemma->model_of(gemma->pools[0]);
  const double token = models::kv_bytes_per_token(model), layer = token / 62;
  models::ModelSpec draft;  // two layers as the model has them, without a window
  draft.groups.push_back(model.groups[0]);
  draft.groups[0].count = 2;
  std::get<models::SoftmaxAttention>(draft.groups[0].mixer).window = 0;
  draft.precision = model.precision;
  scenario::KvRoom drafted = room(1e6, 131072);
  drafted.draft = &draft;
  const double memory = 1e6 * 64 * layer;
  for (const auto windows : {scenario::KvWindows::pooled, scenario::KvWindows::split, scenario::KvWindows::ratio}) {
    const auto kv = scenario::windowed_kv(model, {}, windows, drafted);
    double all = static_cast<double>(kv.tokens) * 12 * layer;
    for (const auto& pool : kv.pools) all += static_cast<double>(pool.tokens) * 52 * layer;
    CHECK(all == approx(memory).epsilon(1e-4));
    CHECK(static_cast<double>(kv.tokens) * (kv.entry_share * token + kv.draft_share * 2 * layer) ==
          approx(memory).epsilon(1e-4));
  }
}

// Of a token Gemma 3 12B has 8,192 bytes in each of 8 layers without a window and 40 with one of 1,024 entries; Gemma 3
// 1B has 1,024 bytes in each of 4 without a window and 22 with one of 512.
TEST_CASE("layers of a draft model keep their windows too") {
  const auto target = scenario_of(served("gemma-3-12b")), small = scenario_of(served("gemma-3-1b"));
  const models::ModelSpec &model = target->model_of(target->pools[0]), &draft = small->model_of(small->pools[0]);
  scenario::KvRoom drafted = room(1e6, 8192);
  drafted.draft = &draft;
  const double full = 8 * 8192 + 4 * 1024, memory = 1e6 * (48 * 8192 + 26 * 1024);
  const auto pooled = scenario::windowed_kv(model, {}, scenario::KvWindows::pooled, drafted);
  CHECK(static_cast<double>(pooled.tokens) == approx(memory / full).epsilon(1e-6));
  REQUIRE(pooled.windows.size() == 2);
  CHECK(pooled.windows[0].most == 33);  // (511 + 1) / 16 and one
  CHECK(pooled.windows[0].weight == approx(22 * 1024 / full));
  CHECK(pooled.windows[1].most == 65);
  CHECK(pooled.windows[1].weight == approx(40 * 8192 / full));
  CHECK(pooled.entry_share == approx(8.0 / 48));
  CHECK(pooled.draft_share == approx(4.0 / 26));
  // 0.8 tokens in each window's pool for one in the others.
  const auto apart = scenario::windowed_kv(model, {}, scenario::KvWindows::ratio, drafted);
  CHECK(static_cast<double>(apart.tokens) == approx(memory / (full + 0.8 * (40 * 8192 + 22 * 1024))).epsilon(1e-6));
  REQUIRE(apart.pools.size() == 2);
  CHECK(apart.pools[0].window == 512);
  // Beside a model without windows: its own layers are the pool, and the draft model's 22 take blocks for a window.
  models::ModelSpec plain = model;
  for (models::LayerGroup& group : plain.groups) std::get<models::SoftmaxAttention>(group.mixer).window = 0;
  const auto only = scenario::windowed_kv(plain, {}, scenario::KvWindows::pooled, drafted);
  REQUIRE(only.windows.size() == 1);
  CHECK(only.windows[0].weight == approx(22 * 1024 / (48 * 8192 + 4 * 1024.0)));
}

// vLLM takes layers in groups of as many as there are of the rarer kind: 52 are six groups of 10, 23 and 23 one each.
TEST_CASE("how many blocks do layers with a window take beside the others?") {
  const auto weight = [](const char* name) {
    const auto scenario = scenario_of(served(name));
    return scenario::windowed_kv(scenario->model_of(scenario->pools[0]), {}, scenario::KvWindows::pooled,
                                 room(1e6, 8192))
        .windows.at(0)
        .weight;
  };
  CHECK(weight("gemma-3-27b") == approx(6));
  CHECK(weight("gemma-2-27b") == approx(1));
}

TEST_CASE("pools of their own for layers with a window hold what sequences have, not whole windows") {
  const auto most = [](const std::string& serving, int output) {
    const auto scenario = scenario_of(
        "schema: scenario/1\nmodel: gemma-3-27b\nhardware: {devices: [{preset: h100-sxm}]}\n"
        "serving: " +
        serving +
        "\nworkload: {arrivals: {kind: burst, programs: 150}, stream: {kind: "
        "lengths, prompt: {kind: fixed, value: 200}, output: {kind: fixed, value: " +
        std::to_string(output) + "}}}\n");
    const auto size = scenario::replica_size(*scenario, scenario->pools[0], *scenario->config.hardware.devices[0]);
    const auto result = run_on_event_queue(*scenario);
    return std::pair(size, result);
  };
  // 0.8 tokens of the window's layers for each of the others: sequences of 200 + 100 / 2 tokens in the mean.
  const auto [by_ratio, ratio_run] = most("{batcher: {policy: sglang, radix_cache: false}, kv_windows: ratio}", 100);
  REQUIRE(by_ratio.window_pools.size() == 1);
  CHECK(by_ratio.window_pools[0].window == 1024);
  CHECK(static_cast<double>(by_ratio.window_pools[0].tokens) ==
        approx(0.8 * static_cast<double>(by_ratio.kv.all() * 16)).epsilon(0.001));
  CHECK(ratio_run.memory->decodes == std::min<std::int64_t>(150, by_ratio.window_pools[0].tokens / 250));
  CHECK(ratio_run.memory->decodes > 100);
  // By what each could use: as many windows as sequences of the greatest length, all reserved at admission.
  const auto [split, split_run] = most("{batcher: {policy: trtllm}, kv_windows: split, max_model_len: 8192}", 100);
  const double sequences = split_run.kv.peak_use * static_cast<double>(split.kv.all()) / 19;  // blocks of 300 tokens
  CHECK(sequences == approx(static_cast<double>(split.window_pools[0].tokens / 300)));
  CHECK(sequences > 10);
}

// By hand: 16 sequences of 505 blocks, and 65 of each of six groups of layers with a window, at 10 layers x 16 tokens x
// 8,192 bytes a block: 18.8 GB at the end. With the entries of all 62 layers it was 109 GB, and
// a warning that the run would not fit.
TEST_CASE("a model with windows fits where its pool does") {
  const auto scenario = scenario_of(R"(schema: scenario/1
model: gemma-3-27b
hardware: {devices: [{preset: h100-sxm}]}
workload: {arrivals: {kind: burst, programs: 16}, stream: {kind: lengths, prompt: {kind: fixed, value: 8000}, output: {kind: fixed, value: 65}}}
)");
  const auto result = run_on_event_queue(*scenario);
  REQUIRE(result.memory);
  CHECK(result.memory->bytes(models::MemoryKind::kv) == approx(16. * (505 + 65 * 6) * 10 * 16 * 8192).epsilon(0.03));
  CHECK(result.warnings.empty());
}

// Gemma 3 12B: 8 layers keep all, 40 a window of 1,024 entries, in 5 groups of 8; 8,192 bytes of a token in each.
TEST_CASE("layers with a window keep it, whatever a token plan says of the others") {
  for (const char* plan : {"full", "{policy: streaming, sinks: 4, window: 1000000}",
                           "{policy: kv_budget, select: position, sinks: 4, window: 2044}",
                           "{policy: kv_budget, keep: 2048, then: ring}", "{policy: kv_budget, keep: 2048}"}) {
    CAPTURE(plan);
    const auto scenario = scenario_of(served("{preset: gemma-3-12b, token_plan: " + std::string(plan) + "}",
                                             "{batcher: {policy: vllm_v1, enable_prefix_caching: false}}"));
    const auto kv =
        scenario::windowed_kv(scenario->model_of(scenario->pools[0]), {}, scenario::KvWindows::pooled, room(1e6, 8192));
    CHECK(kv.tokens == 6'000'000);  // 48 layers for 8
    REQUIRE(kv.windows.size() == 1);
    CHECK(kv.windows[0] == scenario::WindowBlocks{65, 5});  // (1,023 + 1) / 16 and one
  }
}

// By hand: 2,048 entries in 8 layers, and in 40 the 66 blocks that a window takes under asynchronous scheduling.
TEST_CASE("a ring beside windows holds its budget and the windows") {
  const auto scenario = scenario_of(R"(schema: scenario/1
model: {preset: gemma-3-12b, token_plan: {policy: kv_budget, keep: 2048, then: ring}}
hardware: {devices: [{preset: h100-sxm}]}
serving: {max_model_len: 8192, batcher: {policy: vllm_v1, enable_prefix_caching: false}}
workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 6000}, output: {kind: fixed, value: 200}}}
)");
  const auto result = run_on_event_queue(*scenario);
  REQUIRE(result.memory);
  CHECK(result.memory->bytes(models::MemoryKind::kv) == (8. * 2048 + 40. * 66 * 16) * 8192);
}

TEST_CASE("of states alone, as many sequences fit whatever their length") {
  for (const std::int64_t longest : {1000, 100'000}) {
    const auto kv = scenario::windowed_kv(hybrid(0), {}, scenario::KvWindows::pooled, room(700, longest));
    CHECK(kv.tokens / kv.block_tokens == 700);
    CHECK(kv.windows.empty());
  }
}

TEST_CASE("Nemotron-3 Nano on one H100: its pool by hand, and a run that holds what its states take") {
  const auto scenario = scenario_of(served("nemotron-3-nano-30b-a3b"));
  const auto size = scenario::replica_size(*scenario, scenario->pools[0], *scenario->config.hardware.devices[0]);
  // (64 x 64 x 128 x 4 + 3 x 6144 x 2) / (2 x 2 x 128 x 2) = 2,084 tokens, in steps of 16: 2,096.
  CHECK(size.block_tokens == 2096);
  CHECK(size.windows[0].weight == approx(23.0 / 6));
  CHECK(scenario->warnings.empty());
  const auto result = run_on_event_queue(*scenario);
  CHECK(result.requests.completed == 40);
  // Of 4 sequences: a block of entries, and 23 / 6 blocks of states rounded up.
  CHECK(result.kv.peak_use == approx(4.0 * (1 + 4) / static_cast<double>(size.kv.all())));
  CHECK(result.tokens.reused == 0);  // prompts of 1,000 tokens fill no block
}

TEST_CASE("a second turn goes on where blocks of 2,096 tokens end (vLLM), or where the first one did (SGLang)") {
  const auto reused = [](const std::string& serving) {
    const auto scenario = scenario_of(
        "schema: scenario/1\nmodel: nemotron-3-nano-30b-a3b\nhardware: {devices: [{preset: h100-sxm}]}\nserving: " +
        serving +
        "\nworkload: {requests: 20, warmup: 0 s, arrivals: {kind: closed_loop, users: 2}, stream: {kind: chat, turns: "
        "{kind: fixed, value: 2}, message: {kind: fixed, value: 5000}, output: {kind: fixed, value: 500}, context: "
        "20000}}\n");
    const auto result = run_on_event_queue(*scenario);
    CHECK(result.requests.completed == 40);
    return result.tokens.reused;
  };
  // Of a first turn of 5,000 and 500 tokens that a second one of 10,500 follows, in twenty chats; the last answered
  // token has no entries.
  CHECK(reused("{batcher: vllm_v1}") == 20 * (5499 / 2096) * 2096);
  CHECK(reused("{engine: {name: sglang}, block_size: 1}") == 20 * 5499);
}

TEST_CASE("prefixes that end in states come back from a tier: blocks of 2,096 tokens and a state, by hand") {
  // Two chats at a time in a pool that holds one: 12 blocks, of which states take four.
  const auto scenario = scenario_of(
      "schema: scenario/1\nmodel: nemotron-3-nano-30b-a3b\nhardware: {devices: [{preset: h100-sxm}]}\nserving: "
      "{batcher: vllm_v1, kv_blocks: 12, max_model_len: 13000, kv_fetch: always, kv_write: write_through, kv_tiers: "
      "[{name: store, capacity: 100 GB, read: 100 GB/s, write: 100 GB/s, latency: 1 us}]}\nworkload: {requests: 8, "
      "warmup: 0 s, arrivals: {kind: closed_loop, users: 2}, stream: {kind: chat, turns: {kind: fixed, value: 2}, "
      "message: {kind: fixed, value: 5000}, output: {kind: fixed, value: 100}, think: {kind: fixed, value: 20 s}, "
      "context: 13000}}\n");
  const auto result = run_on_event_queue(*scenario);
  CHECK(result.requests.completed == 16);
  REQUIRE(result.kv_tiers.size() == 1);
  CHECK(result.tokens.reused == 8 * (5099 / 2096) * 2096);
  CHECK(result.tokens.fetched > 0);
  CHECK(result.tokens.fetched % 2096 == 0);
  const models::ModelSpec& model = scenario->model_of(scenario->pools[0]);
  const double block = 2096 * models::kv_bytes_per_token(model), state = models::state_bytes_per_sequence(model);
  const double read = result.kv_tiers[0].read_bytes, fetches = static_cast<double>(result.tokens.fetched) / (2 * 2096);
  CHECK(read == approx(fetches * (2 * block + state)));
}

TEST_CASE("what nothing carries yet is refused by name, with all mistakes at once") {
  const auto found = mistakes(served("nemotron-3-nano-30b-a3b", "{kv_host: host-ddr5}"));
  CHECK(holds(
      found,
      "'kv_host' needs sequences that keep KV entries and no recurrent states, which nemotron-3-nano-30b-a3b with its "
      "recurrent states does not leave"));
}

}  // namespace states_test
