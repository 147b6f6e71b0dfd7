// SPDX-License-Identifier: Apache-2.0
// KV budgets, against figures worked out by hand.
#include "models/memory.hpp"
#include "models/pool_budget.hpp"
#include "models/step_work.hpp"
#include "models/token_plan.hpp"

#include "model_fixtures.hpp"

namespace llmscape::models::kv_budget_test {

std::shared_ptr<const TokenPlan> plan_of(const std::string& text) {
  Diagnostics diagnostics;
  auto read = token_plans().read(parsed(text), diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  return read;
}

ModelSpec budgeted(const std::string& name, const std::string& plan) {
  ModelSpec model = catalogued(name);
  const auto read = plan_of(plan);
  CHECK(read->problems(model).empty());
  read->apply(model);
  return model;
}

TEST_CASE("snapkv and streaming are two settings of it") {
  const auto changes = [](const std::string& name, const std::string& plan) {
    std::vector<TokenChange> all;
    for (const LayerGroup& group : budgeted(name, plan).groups) all.push_back(group.change);
    return all;
  };
  CHECK(changes("llama-3-8b", "{policy: snapkv, cap: 2048, window: 64}") ==
        changes("llama-3-8b", "{policy: kv_budget, keep: 2048, window: 64, scored_queries: 64}"));
  CHECK(changes("gemma-2-9b", "{policy: streaming, sinks: 4, window: 1020}") ==
        changes("gemma-2-9b", "{policy: kv_budget, select: position, sinks: 4, window: 1020, frees: false}"));
}

TEST_CASE("so many entries of a prompt stay, or such a share of it") {
  const PoolBudget keep(budgeted("llama-3.1-8b", "{policy: kv_budget, keep: 4096}"));
  CHECK(keep.kept(1000) == 1000);
  CHECK(keep.kept(100'000) == 4096);
  CHECK_FALSE(keep.each_chunk());
  CHECK(keep.ring() == 0);
  const PoolBudget share(budgeted("llama-3.1-8b", "{policy: kv_budget, share: 0.1}"));
  CHECK(share.kept(100'000) == 10'000);
  CHECK(share.kept(25) == 3);  // rounded up
  CHECK_FALSE(PoolBudget(catalogued("llama-3.1-8b")).limits());
}

TEST_CASE("weights by layer: a pool holds their mean, and short prompts fill the small budgets first") {
  const ModelSpec model = budgeted("llama-3.1-8b", "{policy: kv_budget, keep: 4096, by_layer: [3, 1]}");
  REQUIRE(model.groups.size() == 2);  // 16 layers of 6,144 and 16 of 2,048
  CHECK(model.groups[0].count == 16);
  CHECK(model.groups[0].change.budget.entries == 6144);
  CHECK(model.groups[1].change.budget.entries == 2048);
  const PoolBudget pool(model);
  CHECK(pool.kept(100'000) == 4096);
  CHECK(pool.kept(4096) == 3072);  // (4,096 + 2,048) / 2
  CHECK(kv_bytes_per_token(model) == 131'072);
  CHECK(kv_laws(model) == std::vector<std::int64_t>{0});
}

TEST_CASE("a budget for each chunk: a chunk finds no more than the budget before it") {
  const ModelSpec model =
      budgeted("llama-3.1-8b", "{policy: kv_budget, keep: 4096, select: each_chunk, scored_queries: 32}");
  const std::vector<PrefillChunk> chunks = {{512, 100'000, false}};
  const auto work = all_of<PrefillAttention>(attention_work(model, {}, {chunks, 0, 1, {}}));
  REQUIRE(work.size() == 1);
  CHECK(pairs(work[0].what) == 512.0 * 4096 + 512.0 * 513 / 2);
  CHECK(work[0].what.estimates_each_chunk);
  CHECK(PoolBudget(model).each_chunk());
}

TEST_CASE("a ring: decodes attend to as many entries as it has, prompts to everything") {
  const ModelSpec model = budgeted("llama-3.1-8b", "{policy: kv_budget, keep: 4096, then: ring}");
  CHECK(kv_laws(model) == std::vector<std::int64_t>{4096});
  CHECK(PoolBudget(model).ring() == 4096);
  const std::vector<PrefillChunk> chunks = {{10'000, 0, true}};
  const auto work = all_of<PrefillAttention>(attention_work(model, {}, {chunks, 0, 1, {}}));
  CHECK(pairs(work.at(0).what) == 10'000.0 * 10'001 / 2);
}

TEST_CASE("entries beyond sinks and window stay where a kernel only masks them, and no decode reads them") {
  const auto state = [](const std::string& frees) {
    return budgeted("llama-3.1-8b", "{policy: kv_budget, select: position, sinks: 4, window: 1020" + frees + "}")
        .groups[0]
        .state({});
  };
  CHECK(state(", frees: false").keeps_all);
  CHECK_FALSE(state("").keeps_all);
  CHECK(kv_laws(budgeted("llama-3.1-8b", "{policy: streaming, sinks: 4, window: 1020}")) ==
        std::vector<std::int64_t>{1024});
}

TEST_CASE("latent attention takes a budget, layers with a recurrent state are left alone") {
  const ModelSpec latent = budgeted("deepseek-v3", "{policy: kv_budget, keep: 4096, select: each_chunk}");
  const std::vector<PrefillChunk> chunks = {{512, 100'000, false}};
  double seen = 0;
  for (const auto& op : all_of<PrefillAttention>(attention_work(latent, {}, {chunks, 0, 1, {}})))
    seen += op.count * pairs(op.what);
  CHECK(seen == 61 * (512.0 * 4096 + 512.0 * 513 / 2));
  const ModelSpec hybrid = budgeted("qwen3.5-35b-a3b", "{policy: kv_budget, keep: 4096}");
  CHECK(PoolBudget(hybrid).kept(100'000) == 4096);
  CHECK(state_bytes_per_sequence(hybrid) == state_bytes_per_sequence(catalogued("qwen3.5-35b-a3b")));
  int changed = 0;
  for (const LayerGroup& group : hybrid.groups)
    if (!group.change.none()) changed += group.count;
  CHECK(changed == 10);  // of 40 layers every fourth attends
}

TEST_CASE("what a budget cannot say of a model is said") {
  const auto problems = [](const std::string& name, const std::string& plan) {
    return plan_of(plan)->problems(catalogued(name));
  };
  CHECK(problems("gemma-2-9b", "{policy: kv_budget, keep: 4096}").empty());  // windows of 4,096
  CHECK(problems("gemma-2-9b", "{policy: kv_budget, keep: 4095}").size() == 1);
  CHECK(problems("gemma-2-9b", "{policy: kv_budget, share: 0.5}").size() == 1);
  CHECK(problems("gemma-3-1b", "{policy: kv_budget, keep: 4096, by_layer: [1, 1, 1, 1, 1]}").size() == 1);
}

}  // namespace llmscape::models::kv_budget_test
