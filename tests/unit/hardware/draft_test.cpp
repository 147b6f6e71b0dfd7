// SPDX-License-Identifier: Apache-2.0
#include "hardware/draft.hpp"

#include "hardware_fixtures.hpp"

namespace llmscape::hardware {
namespace {

using doctest::Approx;

// A step takes a millisecond for each token and a microsecond for each key, and a joule a token.
class Made : public StepModel {
 public:
  StepCost step(const models::Batch& batch) override {
    ++steps;
    StepCost cost;
    cost.device = Seconds(1e-3 * static_cast<double>(batch.tokens()));
    for (const models::Attended& law : batch.attended) cost.device += Seconds(1e-6 * static_cast<double>(law.sum));
    cost.by_family[0] = cost.device;
    cost.host = Seconds(1e-4);
    cost.energy[0] = Joules(static_cast<double>(batch.tokens()));
    return cost;
  }
  int steps = 0;
};

struct Verification {
  explicit Verification(std::int64_t decodes, std::int64_t drafts, std::vector<models::Attended> contexts)
      : attended(std::move(contexts)) {
    batch.decodes = decodes;
    batch.tokens_per_decode = 1 + drafts;
    batch.attended = attended;
  }
  std::vector<models::Attended> attended;
  models::Batch batch;
};

const ContextsOfDraft kAlike({0}, {0});

}  // namespace

TEST_CASE("drafts of the model's own heads take their share of every step") {
  const auto steps = with_draft_heads(std::make_unique<Made>(), 0.05);
  const StepCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == Approx(1.05 * (0.010 + 0.001)));
  CHECK(cost.energy[0].si() == Approx(10.5));
  CHECK(cost.host.si() == Approx(1e-4));
}

TEST_CASE("a pass with a draft model takes k of its steps and one verification: k t_draft + t_model") {
  const auto steps = with_draft_model(std::make_unique<Made>(), std::make_unique<Made>(), kAlike);
  const StepCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == Approx(4 * (0.002 + 0.001) + 0.010 + 0.001));
  CHECK(cost.host.si() == Approx(5e-4));
  CHECK(cost.energy[0].si() == Approx(4 * 2 + 10));
  CHECK(cost.by_family[0].si() == Approx(cost.device.si()));
}

TEST_CASE("a draft model computes the prompts too, with the first of its steps") {
  const auto steps = with_draft_model(std::make_unique<Made>(), std::make_unique<Made>(), kAlike);
  const std::vector<models::PrefillChunk> chunks = {{100, 0, true}};
  Verification mixed(2, 4, {{0, 0}}), prompts(0, 4, {});
  mixed.batch.chunks = prompts.batch.chunks = chunks;
  CHECK(steps->step(mixed.batch).device.si() == Approx(0.100 + 4 * 0.002 + 0.100 + 0.010));
  CHECK(steps->step(prompts.batch).device.si() == Approx(0.100 + 0.100));
}

TEST_CASE("a draft on each user's own device makes the pass wait for k steps of one sequence and a round trip") {
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  const auto steps = with_draft_device(std::make_unique<Made>(), std::make_unique<Made>(), kAlike, link);
  const StepCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == Approx(0.010 + 0.001));
  // 4 steps of 1 ms, 0.6 ms of keys and 0.1 ms of host; 24 bytes of token ids.
  CHECK(cost.sync.si() == Approx(4 * 1.7e-3 + 2 * 0.015 + 0.024));
  CHECK(cost.energy[0].si() == Approx(10 + 2 * 4));
}

TEST_CASE("contexts of a window that only the draft model has follow from the full ones") {
  const ContextsOfDraft contexts({0, 512}, {0, 100, 512});
  CHECK(contexts.known());
  const Verification step(2, 4, {{1000, 950}, {562, 512}});
  const std::vector<models::Attended> expected = {{1000, 950}, {200, 100}, {562, 512}};
  CHECK(contexts.of(step.batch) == expected);
  CHECK_FALSE(ContextsOfDraft({512}, {0}).known());
  CHECK(ContextsOfDraft({512}, {512}).known());
}

TEST_CASE("on real devices: an 8B verifies what a 1B drafts, on the same H100 and on a phone") {
  const auto h100 = catalog_device("h100-sxm"), phone = catalog_device("snapdragon-8-elite");
  const models::ModelSpec small = llama("llama-1b", 16, 2048, 32, 8, 64, 8192, true);
  const auto model = [&] { return h100->bind(llama_8b(), {}, {}); };
  const Verification step(8, 4, {equal_contexts(8, 1000)});
  const Verification plain(8, 0, {equal_contexts(8, 1000)}), one(1, 0, {equal_contexts(1, 1000)});
  const double verification = model()->step(step.batch).device.si();
  const double on_h100 = h100->bind(small, {}, {})->step(plain.batch).device.si();
  const StepCost on_phone = phone->bind(small, {}, {})->step(one.batch);
  CHECK(with_draft_model(model(), h100->bind(small, {}, {}), kAlike)->step(step.batch).device.si() ==
        Approx(verification + 4 * on_h100));
  const DraftLink link{Seconds(0.01), BytesPerSecond(1e6)};
  const StepCost apart = with_draft_device(model(), phone->bind(small, {}, {}), kAlike, link)->step(step.batch);
  CHECK(apart.device.si() == Approx(verification));
  CHECK((apart.sync - model()->step(step.batch).sync).si() ==
        Approx(4 * (on_phone.device + on_phone.host).si() + 0.02 + 24e-6));
}

}  // namespace llmscape::hardware
