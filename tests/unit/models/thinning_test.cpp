// SPDX-License-Identifier: Apache-2.0
// Prompts that thin out: work and KV entries by layer, against figures worked out by hand.
#include <array>

#include "model_fixtures.hpp"
#include "models/attention_pairs.hpp"
#include "models/pool_budget.hpp"
#include "models/step_work.hpp"
#include "models/token_plan.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using namespace llmscape;
using llmscape::testing::approx;

namespace {

std::shared_ptr<const TokenPlan> plan_of(const std::string& text, Diagnostics& diagnostics) {
  return token_plans().read(parsed(text), diagnostics);
}

ModelSpec thinned(const std::string& plan) {
  Diagnostics diagnostics;
  const auto read = plan_of(plan, diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  ModelSpec model = catalogued("llama-3.1-8b");
  CHECK(read->problems(model).empty());
  read->apply(model);
  return model;
}

std::string mistake(const std::string& plan) {
  Diagnostics diagnostics;
  const auto read = plan_of(plan, diagnostics);
  if (!read) return diagnostics.text(false);
  const auto problems = read->problems(catalogued("llama-3.1-8b"));
  return problems.empty() ? "" : problems.front();
}

const std::string kFastKv = "{policy: thinning, stages: [{after: 16, share: 0.2}], keep: 0.1, scored_queries: 8}";
constexpr double kLayerWeights = 218'103'808;  // weights of the GEMMs of one layer

}  // namespace

TEST_CASE("stages cut the layers by their number") {
  const ModelSpec model =
      thinned("{policy: thinning, stages: [{after: 8, share: 0.5}, {after: 20, share: 0.25}, {after: 30, most: 100}]}");
  REQUIRE(model.groups.size() == 4);
  CHECK(model.layers() == 32);
  CHECK(model.groups[0].count == 8);
  CHECK(model.groups[1].count == 12);
  CHECK(model.groups[2].count == 10);
  CHECK(model.groups[3].count == 2);
  CHECK(model.groups[1].change.passing.of(1001) == 501);  // rounded up
  CHECK(model.groups[2].change.passing.of(1001) == 251);
  CHECK(model.groups[3].change.passing.of(1001) == 100);
  CHECK(model.groups[3].change.passing.of(200) == 50);
}

TEST_CASE("tokens of a prompt that do not go on are neither projected nor attended to in later layers") {
  const ModelSpec model = thinned(kFastKv);
  const std::array chunks = {PrefillChunk{10'000, 0, true}, PrefillChunk{5'001, 0, true}};
  const std::array attended = {Attended{3000, 1000}};
  Batch batch;
  batch.chunks = chunks;
  batch.decodes = 3;
  batch.attended = attended;
  const auto thinned = thinned_tokens(thinnings(model), chunks);
  CHECK(thinned == std::vector<std::int64_t>{2000 + 1001});
  const double whole = 15'001 + 3, late = 3'001 + 3;
  CHECK(linear_flops(token_work(model, {}, 15'001, 3, {}, 2, {}, thinned)) == 2 * 16 * kLayerWeights * (whole + late));
  const auto attention = all_of<PrefillAttention>(attention_work(model, {}, batch));
  REQUIRE(attention.size() == 2);
  CHECK(attention[0].what.chunks[0].tokens == 10'000);
  CHECK(attention[1].what.chunks[0].tokens == 2'000);
  CHECK(attention[1].what.chunks[1].tokens == 1'001);
  CHECK(attention[1].count == 16);
  for (const auto& decode : all_of<DecodeAttention>(attention_work(model, {}, batch)))
    CHECK(decode.what.attended.sum == 3000);  // decodes pass all layers
}

TEST_CASE("FLOPs of a FastKV prompt: 1.70, 1.76 and 1.84 times fewer at 8K, 32K and 128K tokens") {
  const ModelSpec full = catalogued("llama-3.1-8b"), fast = thinned(kFastKv);
  // Per layer: 2 FLOPs for each weight and token, 4 x 4,096 for each pair of query and key.
  const auto flops = [](double tokens) {
    return 2 * kLayerWeights * tokens + 4 * 4096 * causal_pairs(static_cast<std::int64_t>(tokens), 0);
  };
  const std::array<std::pair<double, double>, 3> published = {{{8192, 1.70}, {32'768, 1.76}, {131'072, 1.84}}};
  for (const auto& [tokens, ratio] : published) {
    const double late = static_cast<double>(fast.groups[1].change.passing.of(static_cast<std::int64_t>(tokens)));
    CHECK(32 * flops(tokens) / (16 * (flops(tokens) + flops(late))) == approx(ratio).epsilon(0.004));
  }
  CHECK(fast.groups[0].change.budget.kept(131'072) == 13'108);
  CHECK(fast.groups[1].change.budget.kept(131'072) == 13'108);
  CHECK(full.groups.size() == 1);
}

TEST_CASE("without 'keep' a layer keeps what passed it, and the pool the mean") {
  const ModelSpec model = thinned("{policy: thinning, stages: [{after: 16, share: 0.2}]}");
  CHECK(PoolBudget(model).kept(1000) == 600);  // half of the layers all, half a fifth
  CHECK(PoolBudget(thinned("{policy: thinning, stages: [{after: 24, most: 100}]}")).kept(1000) == 775);
  CHECK(PoolBudget(thinned("{policy: thinning, stages: [{after: 16, share: 1}]}")).kept(1000) == 1000);
}

TEST_CASE("a plan of thinning names what is wrong with it") {
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(holds(mistake("{policy: thinning, stages: []}"), "'thinning' needs a stage"));
  CHECK(holds(mistake("{policy: thinning, stages: [{after: 16}]}"), "a stage needs 'share' or 'most'"));
  CHECK(holds(mistake("{policy: thinning, stages: [{after: 16, share: 0.2}, {after: 16, share: 0.1}]}"),
              "each stage of 'thinning' comes after more layers"));
  CHECK(holds(mistake("{policy: thinning, stages: [{after: 16, share: 0.2}, {after: 20, share: 0.3}]}"),
              "does not come back"));
  CHECK(holds(mistake("{policy: thinning, keep: 0.1, stages: [{after: 16, most: 100}]}"), "'keep' is a share"));
  CHECK(holds(mistake("{policy: thinning, stages: [{after: 32, share: 0.2}]}"), "leaves none behind it"));
}
