// SPDX-License-Identifier: Apache-2.0
// A batcher may split the work of its steps over passes of the device: whoever prices them asks its shape.
#include <doctest/doctest.h>

#include "sim/serving/batchers/vllm_v0.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using llmscape::testing::by_id;
using llmscape::testing::call;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

// A millisecond for each token of a pass.
double millisecond_per_token(const models::Batch& batch) { return 1e-3 * static_cast<double>(batch.tokens()); }

// The chunks pass the device in two halves, one after the other, the decodes with each of them.
class DecodesTwice : public StepShape {
 public:
  [[nodiscard]] engine::EngineCost price(engine::EngineModel& model, const models::Batch& batch) const override {
    engine::EngineCost cost = model.step(batch);
    models::Batch decodes = batch;
    decodes.chunks = {};
    cost.device += model.step(decodes).device;
    return cost;
  }
};

// vllm_v0, its steps in that shape.
struct Halves : VllmV0 {
  [[nodiscard]] std::unique_ptr<Batcher> make() const override {
    struct Shaped : Batcher {
      void plan(EngineState& state, Seconds now, StepPlan& plan) override {
        inner->plan(state, now, plan);
        plan.shape = &shape;
      }
      std::unique_ptr<Batcher> inner;
      DecodesTwice shape;
    };
    auto shaped = std::make_unique<Shaped>();
    shaped->inner = VllmV0::make();
    return shaped;
  }
};

}  // namespace

TEST_CASE("a step lasts as its shape says, be it priced when its time comes or ahead of the clock") {
  for (const std::int64_t lookahead : {0, 64}) {
    SystemConfig config;
    config.lookahead = lookahead;
    System plain(config, VllmV0(), RoundRobin(), millisecond_per_token);
    System shaped(config, Halves(), RoundRobin(), millisecond_per_token);
    for (System* system : {&plain, &shaped}) system->run({call(0, {{1, 100}}, 21)});
    // The prompt has no decodes beside it: 100 ms in both. Then 20 decodes of 1 ms, or of 2 ms.
    CHECK(by_id(plain)[0].first_token.si() == approx(0.100));
    CHECK(by_id(shaped)[0].first_token.si() == approx(0.100));
    CHECK(by_id(plain)[0].last_token.si() == approx(0.120));
    CHECK(by_id(shaped)[0].last_token.si() == approx(0.140));
    CHECK(plain.steps.size() == shaped.steps.size());
  }
}
