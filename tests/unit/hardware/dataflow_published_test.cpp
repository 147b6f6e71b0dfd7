// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/chip.hpp"
#include "large_models.hpp"
#include "models/speculation.hpp"
#include "tests/support/approx.hpp"

// Published speeds of dataflow machines, and what the catalogue's presets make of them.
namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

double step_seconds(const Device& socket, const models::ModelSpec& model, const models::Batch& batch,
                    models::ParallelPlan plan = {.tensor = 16}, models::ExpertCoverage coverage = {}) {
  REQUIRE(socket.problems(model, plan).empty());
  const auto bound = socket.bind(model, plan, {.coverage = coverage});
  return bound->step(batch).device.si() * plan.pipeline;
}

// Of one user without a context. With `draft_tokens` the step verifies them all; drafting itself is taken as free.
double tokens_per_second(const Device& socket, const models::ModelSpec& model, int draft_tokens = 0,
                         double acceptance = 0) {
  Decodes decodes(1, 1 + draft_tokens);
  decodes.batch.tokens_per_decode = 1 + draft_tokens;
  return models::tokens_per_pass(draft_tokens, acceptance) / step_seconds(socket, model, decodes.batch);
}

Tag tag_of(const std::array<Tag, kOperatorFamilies>& tags, OperatorFamily family) {
  return tags[static_cast<std::size_t>(family)];
}

// No prediction: the file holds what these two were published to reach.
TEST_CASE("the two constants that were set end to end give back the speeds that they were set from, and say so") {
  const auto socket = catalogued<DataflowDevice>("sn40l");
  for (const OperatorFamily family :
       {OperatorFamily::gemm, OperatorFamily::grouped_gemm, OperatorFamily::decode_attention})
    CHECK(tag_of(socket.provenance(), family) == Tag::fitted_end_to_end);
  CHECK(tokens_per_second(socket, llama_8b()) == approx(1042).epsilon(0.001));
  CHECK(tokens_per_second(socket, deepseek_r1()) == approx(198).epsilon(0.001));
}

TEST_CASE("70B at 457 tokens/s is beyond the memory roof and needs speculation: five drafts accepted at 0.8") {
  const auto socket = catalogued<DataflowDevice>("sn40l");
  const double plain = tokens_per_second(socket, llama_70b());
  CHECK(plain < 181);  // 141 GB at 25.6 TB/s
  CHECK(tokens_per_second(socket, llama_70b(), 4, 0.8) < 457);
  CHECK(tokens_per_second(socket, llama_70b(), 5, 0.8) > 457);

  // On the machine of the worked example, 153 tokens/s: 457 / 153 = 3.0 tokens a pass, so that four drafts do.
  DataflowDevice worked = socket;
  worked.tiers.hbm_bandwidth.value = BytesPerSecond(1.8e12);
  worked.fabric.fill.value = worked.call.value = Seconds();
  worked.streams_embedding = true;
  CHECK(tokens_per_second(worked, llama_70b(), 3, 0.8) < 457);
  CHECK(tokens_per_second(worked, llama_70b(), 4, 0.8) > 457);
}

TEST_CASE("405B at 129 tokens/s needs more tokens a pass than an acceptance of 0.8 can ever give") {
  const auto socket = catalogued<DataflowDevice>("sn40l");
  CHECK(tokens_per_second(socket, llama_405b()) < 32);  // 811 GB at 25.6 TB/s
  CHECK(129 / tokens_per_second(socket, llama_405b()) > 1 / (1 - 0.8));
  CHECK(tokens_per_second(socket, llama_405b(), 16, 0.8) < 129);
  CHECK(tokens_per_second(socket, llama_405b(), 8, 0.9) > 129);
}

// Tokens per second of 671B in fp8 with uniform routing, worked out from bytes, 0.75 of 25.6 TB/s and 3.1 ms a step.
struct DeepSeekRow {
  std::int64_t batch;
  double no_kv, slots_32k, full_128k;
};

TEST_CASE("DeepSeek-R1 by batch and context stays within 4 % of the closed form") {
  auto socket = catalogued<DataflowDevice>("sn40l");
  socket.shapes = {};  // as if a graph were compiled for each batch
  for (const DeepSeekRow& row :
       {DeepSeekRow{8, 686, 634, 516}, DeepSeekRow{16, 910, 820, 633}, DeepSeekRow{32, 1243, 1082, 779},
        DeepSeekRow{38, 1363, 1172, 824}, DeepSeekRow{60, 1819, 1493, 971}, DeepSeekRow{64, 1905, 1551, 995},
        DeepSeekRow{96, 2635, 2002, 1164}}) {
    CAPTURE(row.batch);
    const auto speed = [&](std::int64_t context) {
      const Decodes decodes(row.batch, context);
      const models::ExpertCoverage uniform{models::ExpertCoverage::Law::uniform};
      return static_cast<double>(row.batch) /
             step_seconds(socket, deepseek_r1(), decodes.batch, {.tensor = 16}, uniform);
    };
    CHECK(speed(1) == approx(row.no_kv).epsilon(0.04));
    CHECK(speed(32768) == approx(row.slots_32k).epsilon(0.04));
    CHECK(speed(131072) == approx(row.full_128k).epsilon(0.04));
  }
}

TEST_CASE("70B at int8 fits 307 LPUs, and 4 x 80 of them yield the vendor's 300 tokens/s") {
  const auto lpu = catalogued<DataflowDevice>("groq-lpu");
  const models::ModelSpec model = quantised(llama_70b(), kInt8);
  CHECK(sockets_to_hold(lpu.tiers, Bytes(70553706496.0)) == 307);
  CHECK_FALSE(lpu.problems(model, {.tensor = 4, .pipeline = 76}).empty());  // 304
  const models::ParallelPlan plan{.tensor = 4, .pipeline = 80};
  CHECK(lpu.kv_tokens(model, plan) > 16384);

  const Decodes one(1, 1024);
  const double step_time = step_seconds(lpu, model, one.batch, plan);
  CHECK(1 / step_time == approx(300).epsilon(0.01));
  // Deterministic: the hops and the sum of the stages, then as much for each token more.
  const Decodes two(2, 1024), three(3, 1024);
  const double second = step_seconds(lpu, model, two.batch, plan), third = step_seconds(lpu, model, three.batch, plan);
  CHECK((third - second) / (second - step_time) == approx(1).epsilon(0.025));
  CHECK(second > step_time);
  CHECK((second - step_time) / step_time < 0.02);
}

TEST_CASE(
    "what further tokens add to a step is done by all groups of sockets at once, and no batch is faster than one") {
  const auto socket = catalogued<DataflowDevice>("sn40l");
  const models::ModelSpec model = llama_8b();
  const models::ParallelPlan whole{.tensor = 1}, groups{.tensor = 1, .pipeline = 4};
  for (const std::int64_t prompt : {2048, 8192}) {
    const Prompt one(1, 0), all(prompt, 0);
    const double first = step_seconds(socket, model, one.batch, whole);
    const double first_of_groups = step_seconds(socket, model, one.batch, groups);
    // A token passes all layers, wherever they lie, and the hops; the weights are streamed for each of them in turn.
    CHECK(first_of_groups / first == approx(1).epsilon(0.01));
    CHECK(first_of_groups >= first);
    const double more = step_seconds(socket, model, all.batch, whole) - first;
    const double more_of_groups = step_seconds(socket, model, all.batch, groups) - first_of_groups;
    CHECK(more_of_groups / more == approx(0.25).epsilon(0.01));
  }
}

TEST_CASE("a model that one wafer holds yields the vendor's 1,800 tokens/s, whatever the bandwidth of its SRAM") {
  auto wafer = catalogued<DataflowDevice>("wse-3");
  const Decodes one(1, 1024);
  const double before = step_seconds(wafer, llama_8b(), one.batch, {});
  CHECK(1 / before == approx(1800).epsilon(0.01));
  wafer.tiers.sram_bandwidth.value *= 2;
  CHECK(step_seconds(wafer, llama_8b(), one.batch, {}) == approx(before).epsilon(0.01));

  CHECK_FALSE(wafer.problems(llama_70b(), {.pipeline = 2}).empty());
  CHECK(wafer.problems(llama_70b(), {.pipeline = 4}).empty());
}

TEST_CASE("the template for a machine of one's own is a whole description") {
  Diagnostics diagnostics;
  const auto tree = description_file("docs/extending/dataflow-device.yaml", "device", diagnostics);
  REQUIRE(tree);
  const auto device = devices().read(*tree, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  const Decodes decodes(2, 1024);
  CHECK(step(*device, llama_8b(), decodes.batch, 8).device > Seconds());
}

}  // namespace
}  // namespace llmscape::hardware
