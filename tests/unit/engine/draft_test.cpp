// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/draft.hpp"
#include "sim/engine/time_factors.hpp"

#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

namespace llmscape::engine {
namespace {

using namespace hardware;  // fixtures

using llmscape::testing::approx;

// A step takes a millisecond for each token and a microsecond for each key, and a joule a token.
class Made : public EngineModel {
 public:
  EngineCost step(const models::Batch& batch) override {
    ++steps;
    EngineCost cost;
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
  const EngineCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == approx(1.05 * (0.010 + 0.001)));
  CHECK(cost.energy[0].si() == approx(10.5));
  CHECK(cost.host.si() == approx(1e-4));
}

TEST_CASE("a pass with a draft model takes k of its steps and one verification: k t_draft + t_model") {
  const auto steps = with_draft_model(std::make_unique<Made>(), std::make_unique<Made>(), kAlike);
  const EngineCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == approx(4 * (0.002 + 0.001) + 0.010 + 0.001));
  CHECK(cost.host.si() == approx(5e-4));
  CHECK(cost.energy[0].si() == approx(4 * 2 + 10));
  CHECK(cost.by_family[0].si() == approx(cost.device.si()));
}

TEST_CASE("a draft model computes the prompts too, with the first of its steps") {
  const auto steps = with_draft_model(std::make_unique<Made>(), std::make_unique<Made>(), kAlike);
  const std::vector<models::PrefillChunk> chunks = {{100, 0, true}};
  Verification mixed(2, 4, {{0, 0}}), prompts(0, 4, {});
  mixed.batch.chunks = prompts.batch.chunks = chunks;
  CHECK(steps->step(mixed.batch).device.si() == approx(0.100 + 4 * 0.002 + 0.100 + 0.010));
  CHECK(steps->step(prompts.batch).device.si() == approx(0.100 + 0.100));
}

TEST_CASE("a draft on each user's own device makes the pass wait for k steps of one sequence and a round trip") {
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  const auto steps = with_draft_device(std::make_unique<Made>(), std::make_unique<Made>(), kAlike, link, Seconds(1));
  const EngineCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == approx(0.010 + 0.001));
  // 4 steps of 1 ms, 0.6 ms of keys and 0.1 ms of host; 24 bytes of token ids.
  CHECK(cost.sync.si() == approx(4 * 1.7e-3 + 2 * 0.015 + 0.024));
  CHECK(cost.energy[0].si() == approx(10));  // of the device that verifies
  CHECK(cost.drafting.si() == approx(2 * 4));
}

// 10 J in 11 ms are 909 W, and 18 J with the drafts would be 1,636.
TEST_CASE("joules of users' devices have a factor of their own, whatever the limit of the devices that verify") {
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  TimeFactors factors;
  factors.drafting = 1.3;
  factors.headroom = Watts(1000);
  const auto steps = with_factors(
      with_draft_device(std::make_unique<Made>(), std::make_unique<Made>(), kAlike, link, Seconds(1)), factors);
  const EngineCost cost = steps->step(Verification(2, 4, {{1000, 600}}).batch);
  CHECK(cost.device.si() == approx(0.011));
  CHECK(cost.energy[0].si() == approx(10));
  CHECK(cost.drafting.si() == approx(1.3 * 8));
}

// Two phones with 100 and 30,000 tokens of context: both wait for the longer one, and spend a joule for each key,
// twice.
TEST_CASE("each user's device spends the joules of its own context") {
  struct Hungry final : Made {
    EngineCost step(const models::Batch& batch) override {
      EngineCost cost = Made::step(batch);
      cost.energy[0] = Joules(static_cast<double>(batch.attended.front().sum));
      return cost;
    }
  };
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  const auto steps = with_draft_device(std::make_unique<Made>(), std::make_unique<Hungry>(), kAlike, link, Seconds(10));
  const EngineCost cost = steps->step(Verification(2, 2, {{30100, 30000}}).batch);
  CHECK(cost.sync.si() == approx(2 * (1e-3 + 30000e-6 + 1e-4) + 2 * 0.015 + 0.016));
  CHECK(cost.energy[0].si() == approx(6));
  CHECK(cost.drafting.si() == approx(2 * 30100));
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
  const auto model = [&] { return bind(*h100, llama_8b(), {}, {}); };
  const Verification step(8, 4, {equal_contexts(8, 1000)});
  const Verification plain(8, 0, {equal_contexts(8, 1000)}), one(1, 0, {equal_contexts(1, 1000)});
  const double verification = model()->step(step.batch).device.si();
  const double on_h100 = bind(*h100, small, {}, {})->step(plain.batch).device.si();
  const EngineCost on_phone = bind(*phone, small, {}, {})->step(one.batch);
  CHECK(with_draft_model(model(), bind(*h100, small, {}, {}), kAlike)->step(step.batch).device.si() ==
        approx(verification + 4 * on_h100));
  const DraftLink link{Seconds(0.01), BytesPerSecond(1e6)};
  const EngineCost apart =
      with_draft_device(model(), bind(*phone, small, {}, {}), kAlike, link, Seconds(1))->step(step.batch);
  CHECK(apart.device.si() == approx(verification));
  CHECK((apart.sync - model()->step(step.batch).sync).si() ==
        approx(4 * (on_phone.device + on_phone.host).si() + 0.02 + 24e-6));
}

TEST_CASE("a pass waits for the slowest draft that is in time, and late devices make none") {
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  const auto steps = with_draft_device(std::make_unique<Made>(), std::make_unique<Made>(), kAlike, link, Seconds(0.1));
  // Three sequences, one of them late with 5,001 tokens of context.
  const std::vector<models::Attended> drafted = {{1000, 600}};
  Verification step(3, 4, {{6001, 5001}});
  step.batch.late = 1;
  step.batch.drafted = drafted;
  const EngineCost cost = steps->step(step.batch);
  CHECK(cost.device.si() == approx(0.011 + 0.006001));  // 2 * 5 + 1 tokens
  CHECK(cost.sync.si() == approx(4 * 1.7e-3 + 2 * 0.015 + 0.024));
  CHECK(cost.energy[0].si() == approx(11));
  CHECK(cost.drafting.si() == approx(2 * 4));
  // Nobody in time: no wait, a token each.
  Verification late(3, 0, {{6001, 5001}});
  late.batch.late = 3;
  CHECK(steps->step(late.batch).sync.si() == 0);
  CHECK(steps->step(late.batch).energy[0].si() == approx(3));
  CHECK(steps->step(late.batch).drafting == Joules());
  CHECK(steps->range_warnings().empty());
  const auto in_vain = with_draft_device(std::make_unique<Made>(), std::make_unique<Made>(), kAlike, link, Seconds());
  (void)in_vain->step(late.batch);
  REQUIRE(in_vain->range_warnings().size() == 1);
  CHECK(in_vain->range_warnings()[0].find("no draft") == 0);
}

TEST_CASE("GEMMs and logits are priced for the tokens that are computed: late decodes have one") {
  const auto h100 = catalog_device("h100-sxm");
  const auto model = bind(*h100, llama_8b(), {}, {});
  const auto gemm = [&](const models::Batch& batch) {
    return model->step(batch).by_family[static_cast<std::size_t>(OperatorFamily::gemm)].si();
  };
  Verification mixed(40, 4, {equal_contexts(40, 1000)});
  mixed.batch.late = 20;
  CHECK(mixed.batch.tokens() == 120);
  CHECK(mixed.batch.logit_rows() == 120);
  CHECK(gemm(mixed.batch) == gemm(Verification(120, 0, {equal_contexts(120, 1000)}).batch));
  CHECK(gemm(mixed.batch) < gemm(Verification(40, 4, {equal_contexts(40, 1000)}).batch));
}

TEST_CASE("a context is in time when k steps over it and a round trip are within the deadline") {
  Made device;  // 1.1 ms and 1 us a token of the context
  const DraftLink link{Seconds(0.015), BytesPerSecond(1000)};
  const auto longest = [&](double deadline) {
    return longest_in_time(device, {0}, 4, link, Seconds(deadline), 100'000);
  };
  // 54 ms of the round trip and 4.4 of fixed time: 41.6 ms are left for 4 steps over 10,400 tokens.
  CHECK(longest(0.1 + 1e-9) == 10'400);
  CHECK(longest(0.0584) == 0);
  CHECK(longest(0) == 0);
  CHECK(longest(1) == 100'000);
  const int asked = device.steps;
  (void)longest(0.1);
  CHECK(device.steps - asked <= 18);
  // A window of 100 tokens takes the same time from there on.
  CHECK(longest_in_time(device, {100}, 4, link, Seconds(0.0588 + 1e-9), 100'000) == 100'000);
}

TEST_CASE("waiting pays as long as a sequence that is alone answers its tokens sooner than one by one") {
  Made model;  // tokens ms, 0.1 ms of host, 1 us a token of the context
  // Four drafts at 0.8: 3.3616 passes of 1.105 ms are less than one of 5.105 ms.
  CHECK(draft_break_even(model, 1, 4, 3.3616, 1).si() == 0);
  // One draft at 0.9: 1.9 passes of 1.102 ms are less than one of 2.102.
  CHECK(draft_break_even(model, 1, 1, 1.9, 1).si() == 0);
  // All of four accepted: 5 of 1.105 ms less one of 5.105.
  CHECK(draft_break_even(model, 1, 4, 5, 1).si() == approx(5 * 1.105e-3 - 5.105e-3));
}

TEST_CASE("on an H100 drafts for an 8B gain what Leviathan et al. say: (tokens a pass - 1) passes at the most") {
  // Bound by memory, verifying costs what a pass costs: W = (3.3616 - 1) t, and t is 15.0 GB (no embedding) at 3.35
  // TB/s at the least: 10.6 ms.
  const auto h100 = catalog_device("h100-sxm");
  const auto model = bind(*h100, llama_8b(), {}, {});
  const EngineCost pass = model->step(Verification(1, 0, {equal_contexts(1, 5)}).batch);
  const double whole = (pass.stage() + pass.host).si(), even = draft_break_even(*model, 1, 4, 3.3616, 1).si();
  CHECK(even > 0.0106);
  CHECK(even == approx(2.3616 * whole).epsilon(0.05));
}

}  // namespace llmscape::engine
