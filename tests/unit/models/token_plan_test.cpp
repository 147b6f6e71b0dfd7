// SPDX-License-Identifier: Apache-2.0
// What each token plan makes of a model, against figures worked out by hand.
#include "models/token_plan.hpp"

#include "model_fixtures.hpp"
#include "models/format.hpp"
#include "models/memory.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using namespace llmscape;
using llmscape::testing::approx;

namespace {

// The catalogue's model under a plan written as in a scenario.
ModelSpec planned(const std::string& name, const std::string& plan) {
  Diagnostics diagnostics;
  const auto read = token_plans().read(parsed(plan), diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  ModelSpec model = catalogued(name);
  CHECK(read->problems(model).empty());
  read->apply(model);
  return model;
}

constexpr double kHidden = 4096, kKeys = 1024, kWidth = 14336;  // of Llama-3.1-8B, 32 layers
constexpr double kLayer = 2 * kHidden * kHidden + 2 * kHidden * kKeys + 3 * kHidden * kWidth;
constexpr double kKvProjections = 2 * kHidden * kKeys;

}  // namespace

TEST_CASE("swiftkv cuts the layers in two, each kind of layer by the same share") {
  const ModelSpec llama = planned("llama-3.1-8b", "{policy: swiftkv}");
  REQUIRE(llama.groups.size() == 2);
  CHECK(llama.layers() == 32);
  CHECK(llama.groups[1].count == 16);
  CHECK(llama.groups[1].change.passed_by_last_only);
  CHECK(llama.groups[0].change.none());
  const ModelSpec gemma = planned("gemma-2-9b", "{policy: swiftkv, share: 0.25}");  // 21 windowed and 21 full layers
  REQUIRE(gemma.groups.size() == 4);
  CHECK(gemma.layers() == 42);
  CHECK(gemma.groups[1].count + gemma.groups[3].count == 10);
  CHECK(planned("llama-3.1-8b", "{policy: swiftkv, share: 1}").groups.size() == 1);
}

TEST_CASE("under swiftkv prompt tokens but the last pass half of the layers as keys and values only") {
  const ModelSpec model = planned("llama-3.1-8b", "{policy: swiftkv}");
  // 100 tokens of chunks, two of which end prompts, and 5 decodes.
  const double whole = 16 * 105 * kLayer, late = 16 * (7 * kLayer + 98 * kKvProjections);
  CHECK(linear_flops(token_work(model, {}, 100, 5, {}, 2)) == 2 * (whole + late));
  CHECK(linear_flops(token_work(model, {}, 0, 5, {}, 0)) == 2 * 5 * 32 * kLayer);
  CHECK(linear_flops(token_work(model, {}, 100, 0, {}, 0)) == 2 * 16 * 100 * (kLayer + kKvProjections));
  CHECK(4 * linear_flops(token_work(model, {.tensor = 4}, 100, 5, {}, 2)) == 2 * (whole + late));
  // The skipped layers' entries are read and written once: 98 tokens of 2 x 1,024 elements, bf16.
  const auto copies = all_of<Copy>(token_work(model, {}, 100, 5, {}, 2));
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].what.bytes == 2 * 98 * 2 * kKeys * 2);
  CHECK(copies[0].count == 16);
}

TEST_CASE("layers that share a cache project its keys and values once, and store them once") {
  const ModelSpec model = planned("llama-3.1-8b", "{policy: swiftkv, across_kv: 4}");
  const double work = 16 * 100 * kLayer + 4 * 100 * kKvProjections;
  CHECK(linear_flops(token_work(model, {}, 100, 0, {}, 0)) == 2 * work);
  // 16 own caches and 16 / 4 shared ones of 32: 62.5 %.
  CHECK(kv_bytes_per_token(model) == 0.625 * 131'072);
  CHECK(memory_need(model, {.tensor = 4}, 1, 1).kv_per_token.si() == 0.625 * 131'072 / 4);
  CHECK(memory_need(model, {}, 1, 1).weights == memory_need(catalogued("llama-3.1-8b"), {}, 1, 1).weights);
}

TEST_CASE("two-way sharing with an 8-bit cache keeps 37.5 % of the KV bytes, SingleInputKV alone keeps all") {
  ModelSpec model = planned("llama-3.1-8b", "{policy: swiftkv, across_kv: 2}");
  model.precision.kv = *format_named("fp8");
  CHECK(kv_bytes_per_token(model) == 0.375 * 131'072);
  CHECK(kv_bytes_per_token(planned("llama-3.1-8b", "{policy: swiftkv}")) == 131'072);
}

TEST_CASE("in layers that prompts skip, their last tokens attend beside the decodes") {
  const ModelSpec model = planned("llama-3.1-8b", "{policy: swiftkv}");
  const std::vector<PrefillChunk> chunks = {{100, 20, false}, {50, 200, true}};
  const std::vector<Attended> attended = {{4000, 1500}};
  const auto work = attention_work(model, {}, {chunks, 3, 1, attended});
  const auto prefill = all_of<PrefillAttention>(work);
  REQUIRE(prefill.size() == 1);
  CHECK(prefill[0].count == 16);
  const auto decode = all_of<DecodeAttention>(work);
  REQUIRE(decode.size() == 2);
  CHECK(decode[0].what.attended == Attended{4000, 1500});
  CHECK(decode[1].what.sequences == 4);
  CHECK(decode[1].what.attended == Attended{4000 + 250, 1500});
  CHECK(decode[1].count == 16);
}

TEST_CASE("under minference a prompt token attends to the lines of a head, after its last 64 tokens scored all keys") {
  const ModelSpec model = planned("llama-3-8b", "{policy: minference, vertical: 1000, slash: 3000}");
  const std::vector<PrefillChunk> chunks = {{10'000, 0, true}};
  const auto work = all_of<PrefillAttention>(attention_work(model, {}, {chunks, 0, 1, {}}));
  REQUIRE(work.size() == 1);
  CHECK(work[0].what.sparse_kernel == "minference");
  // The first 4,000 see all before them, the other 6,000 their 4,000 entries.
  CHECK(pairs(work[0].what) == 4000.0 * 4001 / 2 + 6000.0 * 4000);
  CHECK(estimated_pairs(10'000, 0, work[0].what.estimate_queries) == 64 * 10'000);
  CHECK(estimated_pairs(30, 70, 64) == 30 * 100);
  CHECK(kv_laws(model) == std::vector<std::int64_t>{0});  // decodes attend to everything
}

TEST_CASE("under streaming prompts and decodes attend to the sinks and the window") {
  const ModelSpec model = planned("llama-3-8b", "{policy: streaming, sinks: 4, window: 1020}");
  CHECK(kv_laws(model) == std::vector<std::int64_t>{1024});
  const std::vector<PrefillChunk> chunks = {{3000, 0, true}};
  const auto work = all_of<PrefillAttention>(attention_work(model, {}, {chunks, 0, 1, {}}));
  CHECK(pairs(work.at(0).what) == 1024.0 * 1025 / 2 + 1976.0 * 1024);
  // The cache holds no more: no kernel is told of a window.
  const std::vector<Attended> attended = {{2048, 1024}};
  const auto decodes = all_of<DecodeAttention>(attention_work(model, {}, {chunks, 2, 1, attended}));
  CHECK(decodes.at(0).what.window == 1024);
  CHECK_FALSE(decodes[0].what.masks);
  // Gemma's sliding windows stay what they are.
  CHECK(kv_laws(planned("gemma-2-9b", "{policy: streaming, sinks: 4, window: 1020}")) ==
        std::vector<std::int64_t>{1024, 4096});
}

TEST_CASE("snapkv leaves a prompt's attention as it is, and scores what to keep at its end") {
  const ModelSpec model = planned("llama-3-8b", "{policy: snapkv, cap: 4096, window: 32}");
  CHECK(model.groups[0].change.budget == KvBudget{.entries = 4096});
  const std::vector<PrefillChunk> chunks = {{10'000, 0, true}};
  const auto work = all_of<PrefillAttention>(attention_work(model, {}, {chunks, 0, 1, {}}));
  CHECK(work.at(0).what.sparse_kernel.empty());
  CHECK(pairs(work[0].what) == 10'000.0 * 10'001 / 2);
  CHECK(work[0].what.estimate_queries == 32);
}

TEST_CASE("the full plan changes nothing, every other one does") {
  for (const auto& member : token_plans().members()) {
    CAPTURE(member.name);
    const std::string needed = member.name == "kv_budget"  ? ", keep: 4096"
                               : member.name == "thinning" ? ", stages: [{after: 16, share: 0.5}]"
                                                           : "";
    const ModelSpec model = planned("llama-3-8b", "{policy: " + member.name + needed + "}");
    CHECK(changed_by_plan(model) == (member.name != "full"));
  }
}

TEST_CASE("plans refuse models that they say nothing about") {
  for (const auto& [plan, model] :
       {std::pair{"swiftkv", "deepseek-v3"}, {"minference", "deepseek-v3"}, {"snapkv, cap: 1024", "gemma-2-9b"}}) {
    Diagnostics diagnostics;
    const auto read = token_plans().read(parsed(std::string("{policy: ") + plan + "}"), diagnostics);
    REQUIRE(read);
    CHECK(read->problems(catalogued(model)).size() == 1);
  }
}
