// SPDX-License-Identifier: Apache-2.0
// How an engine's execution changes the time of a step on the host and on the device.
#include <array>

#include "sim/engine/engine_model.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

using llmscape::testing::approx;

namespace llmscape::engine {
namespace {

using hardware::equal_contexts, hardware::llama_8b, hardware::worked_gpu;
using models::AttentionForm, models::Execution, models::KvCacheForm, models::LogitRows;

EngineCost decode_step(const Execution& execution, std::int64_t context) {
  Settings settings;
  settings.graphs.mode = CudaGraphs::none;
  settings.device.execution = execution;
  const hardware::Gpu gpu = worked_gpu("a100-80");
  const std::array attended = {equal_contexts(4, context)};
  models::Batch batch;
  batch.decodes = 4;
  batch.attended = attended;
  return bind(gpu, llama_8b(), {}, settings)->step(batch);
}

}  // namespace

TEST_CASE("eager attention launches four operators more in a layer, a concatenated cache one") {
  CHECK(launches_of(llama_8b(), {}, {.attention = AttentionForm::eager}).kernels == 32 * 14 + 4);
  CHECK(launches_of(llama_8b(), {}, {.kv_cache = KvCacheForm::concatenated}).kernels == 32 * 11 + 4);
  const Launches both =
      launches_of(llama_8b(), {}, {.kv_cache = KvCacheForm::concatenated, .attention = AttentionForm::eager});
  CHECK(both.attention == 32 * 7);
  CHECK(both.pieces == launches_of(llama_8b(), {}).pieces);
}

TEST_CASE(
    "a decode with a concatenated cache moves its entries three times, one with eager attention its scores twice") {
  const double entries = 4 * 32'000.0 * 131'072, scores = 4 * 32'000.0 * 32 * 32 * 2;
  const EngineCost paged = decode_step({}, 32'000);
  CHECK((decode_step({.kv_cache = KvCacheForm::concatenated}, 32'000).bytes - paged.bytes).si() ==
        approx(2 * entries).epsilon(1e-9));
  CHECK((decode_step({.attention = AttentionForm::eager}, 32'000).bytes - paged.bytes).si() ==
        approx(2 * scores).epsilon(1e-9));
  CHECK(decode_step({.logits = LogitRows::all}, 32'000).device == paged.device);  // each decode has a row either way
}

TEST_CASE("half-empty slots are not faster: a decode reads them to their ends") {
  const Execution slots{.kv_cache = KvCacheForm::slots, .slot_tokens = 32'000};
  CHECK(decode_step(slots, 16'000).device == decode_step(slots, 32'000).device);
  CHECK(decode_step(slots, 1).device == decode_step({}, 32'000).device);
  CHECK(decode_step({}, 16'000).device < decode_step(slots, 16'000).device);
}

}  // namespace llmscape::engine
