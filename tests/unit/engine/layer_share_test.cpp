// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/layer_share.hpp"

#include <array>

#include "models/catalog.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

using llmscape::testing::approx;

namespace llmscape::engine {
namespace {

using namespace hardware;  // fixtures

// 12 layers of 2 us for a chunk token, 3 us for a decode; 50 us for each row of logits; a host that needs 100 us with a
// chunk and 40 us without.
class TwelveLayers final : public EngineModel {
 public:
  EngineCost step(const models::Batch& batch) override {
    const auto chunk = static_cast<double>(batch.prefill_tokens()), decodes = static_cast<double>(batch.decodes);
    EngineCost cost;
    cost.by_family[0] = Seconds(12e-6 * (2 * chunk + 3 * decodes));
    cost.by_family[static_cast<std::size_t>(OperatorFamily::sampling)] =
        Seconds(50e-6 * static_cast<double>(batch.logit_rows()));
    cost.device = cost.by_family[0] + cost.by_family[static_cast<std::size_t>(OperatorFamily::sampling)];
    cost.host = Seconds(chunk > 0 ? 100e-6 : 40e-6);
    cost.by_family[static_cast<std::size_t>(OperatorFamily::host)] = cost.host;
    cost.expert_bytes = Bytes(chunk > 0 ? 1000 : 400);
    cost.sync = Seconds(chunk > 0 ? 7e-6 : 0);
    return cost;
  }
};

TEST_CASE("chunks that pass 3 of 12 layers cost those, decodes all of them, and first tokens are paid once") {
  TwelveLayers model;
  std::array<models::PrefillChunk, 1> chunk = {{{100, 0, false}}};
  std::array<models::Attended, 1> attended = {{{400, 50}}};
  models::Batch batch;
  batch.chunks = chunk;
  batch.decodes = 8;
  batch.attended = attended;
  batch.prefill_layers = 0.25;
  EngineCost cost = step_by_layers(model, batch);
  CHECK(cost.by_family[0].si() == approx(3 * 200e-6 + 12 * 24e-6));
  CHECK(cost.device.si() == approx(3 * 200e-6 + 12 * 24e-6 + 8 * 50e-6));
  CHECK(cost.host.si() == approx(100e-6));
  CHECK(cost.sync.si() == approx(7e-6));
  CHECK(cost.expert_bytes.si() == approx(0.25 * 1000 + 0.75 * 400));
  chunk[0].ends_prompt = true;
  cost = step_by_layers(model, batch);
  CHECK(cost.device.si() == approx(3 * 200e-6 + 12 * 24e-6 + 9 * 50e-6));
  CHECK(cost.host.si() == approx(100e-6));
}

TEST_CASE("a prompt alone costs the same in groups of layers as in one step, its experts' bytes too") {
  const Gpu gpu = worked_gpu("h100-sxm");
  Diagnostics diagnostics;
  const auto qwen = models::load_model("models/catalog", "qwen3-30b-a3b", {}, diagnostics);
  REQUIRE(qwen);
  const auto model = bind(gpu, *qwen, {2, 1, 1, 1}, {});
  std::array<models::PrefillChunk, 1> chunk = {{{4096, 0, true}}};
  models::Batch batch;
  batch.chunks = chunk;
  const EngineCost whole = step_by_layers(*model, batch);
  EngineCost sum;
  batch.prefill_layers = 1.0 / 8;
  for (int group = 0; group < 8; ++group) {
    chunk[0].ends_prompt = group == 7;
    const EngineCost cost = step_by_layers(*model, batch);
    sum.device += cost.device;
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
    sum.expert_bytes += cost.expert_bytes;
  }
  CHECK(sum.device.si() == approx(whole.device.si()).epsilon(1e-9));
  CHECK(sum.flops.si() == approx(whole.flops.si()).epsilon(1e-9));
  CHECK(sum.bytes.si() == approx(whole.bytes.si()).epsilon(1e-9));
  CHECK(sum.expert_bytes.si() == approx(whole.expert_bytes.si()).epsilon(1e-9));
  // 48 layers of 128 experts of 3 x 2,048 x 768 weights of 2 bytes over 2 devices, of which a chunk of 4,096 tokens
  // touches 94.9 %.
  CHECK(whole.expert_bytes.si() == approx(0.949 * 48 * 128 * 3 * 2048 * 768 * 2 / 2).epsilon(1e-6));
}

}  // namespace
}  // namespace llmscape::engine
