// SPDX-License-Identifier: Apache-2.0
#include "hardware/table/table_device.hpp"

#include "sim/engine/engine_model.hpp"

#include <doctest/doctest.h>

#include <array>

#include "hardware/table/attention_tables.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/traces/trace_folder.hpp"

namespace table_test {

using namespace llmscape;
using namespace llmscape::hardware;
using llmscape::testing::approx;

namespace {

constexpr double kMicrosecond = 1e-6;

// Two layers; its figures matter to nothing but the memory that it takes.
models::ModelSpec tiny() {
  models::ModelSpec model;
  model.name = "tiny";
  model.hidden = 64;
  model.vocabulary = 100;
  model.max_position = 4096;
  models::LayerGroup layers;
  layers.count = 2;
  layers.softmax().heads = 4;
  layers.softmax().kv_heads = 2;
  layers.softmax().head_dim = 16;
  layers.feed_forward.width = 128;
  model.groups = {layers};
  return model;
}

// A layer's entries take a microsecond a token, the head 10 us and the sampler 2 us at any number of sequences.
void write_tables(const traces::TraceFolder& folder, const std::string& attention, const std::string& skew = "") {
  std::string dense = "layer,tokens,time_us\n";
  for (const char* layer : {"qkv_proj", "o_proj", "gate_up_proj", "down_proj", "act_fn", "layernorm", "rotary_emb",
                            "embedding", "final_layernorm"})
    for (const int tokens : {1, 100})
      dense += std::string(layer) + "," + std::to_string(tokens) + "," + std::to_string(tokens) + "\n";
  folder.write("tiny/tp1/dense.csv", dense);
  folder.write("tiny/tp1/per_sequence.csv",
               "layer,sequences,time_us\nlm_head,1,10\nlm_head,64,10\nsampler,1,2\nsampler,64,2\n");
  folder.write("tiny/tp1/attention.csv.gz", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n" + attention);
  if (!skew.empty())
    folder.write("tiny/tp1/skew.csv",
                 "regime,n,nb,ratio,skew,pc,kp,kvs,kv_big,kv_mean,t_mean_us,t_max_us,t_skew_us,alpha\n" + skew);
}

constexpr const char* kAttention =
    "0,0,1,16,10\n0,0,1,32,20\n0,0,9,16,90\n0,0,9,32,180\n"  // 10 us a sequence and 16 tokens of context
    "16,0,0,0,30\n32,0,0,0,50\n"
    "16,0,1,16,50\n16,0,9,16,210\n32,0,1,16,75\n32,0,9,16,235\n"
    "16,0,1,32,70\n16,0,9,32,390\n32,0,1,32,95\n32,0,9,32,415\n";

std::shared_ptr<const Device> device_of(const traces::TraceFolder& folder, Diagnostics& diagnostics) {
  const std::string yaml = "{kind: table, name: t, tables: " + folder.path_of("") +
                           ", capacity: 1 GB, runtime_reserve: 0 B, idle_power: 10 W, busy_power: 110 W,"
                           " links: {bandwidth: 1 GB/s, latency: 1 us},"
                           " host: {per_step: 1 us, per_request: 0 s, graph_launch: 0 s, per_kernel: 0 s, "
                           "per_compiled_kernel: 0 s, per_prefill_step: 7 us}}";
  return devices().read(read_yaml(std::make_shared<const SourceText>(SourceText{"inline", yaml}), diagnostics),
                        diagnostics);
}

std::unique_ptr<engine::EngineModel> steps_of(const traces::TraceFolder& folder) {
  Diagnostics diagnostics;
  const auto device = device_of(folder, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  REQUIRE(device->problems(tiny(), {}).empty());
  return engine::bind(*device, tiny(), {}, {});
}

// Decodes whose caches hold `mean` tokens on average and `longest` at most, before the step.
models::Batch batch_of(std::span<const models::PrefillChunk> chunks, std::int64_t decodes,
                       std::array<models::Attended, 1>& attended, std::int64_t mean, std::int64_t longest) {
  attended[0] = {decodes * (mean + 1), longest + 1};
  return {chunks, decodes, 1, attended};
}

double family(const StepCost& cost, OperatorFamily f) {
  return cost.by_family[static_cast<std::size_t>(f)].si() / kMicrosecond;
}

}  // namespace

TEST_CASE("a grid is linear between its points, constant below the first and goes on beyond the last") {
  Grid grid;
  for (const double x : {2.0, 4.0}) grid.add(std::array{x}, 10 * x);
  CHECK(grid.at(std::array{3.0}) == approx(30));
  CHECK(grid.at(std::array{4.0}) == 40);
  CHECK(grid.at(std::array{1.0}) == 20);
  CHECK(grid.at(std::array{5.0}) == approx(50));
  CHECK(grid.covers(std::array{4.0}));
  CHECK_FALSE(grid.covers(std::array{5.0}));
}

TEST_CASE("the slices of a grid have their own points") {
  Grid grid;
  for (const double y : {0.0, 10.0}) grid.add(std::array{1.0, y}, y);
  for (const double y : {0.0, 4.0, 10.0}) grid.add(std::array{3.0, y}, y == 4 ? 100 : y);
  CHECK(grid.at(std::array{2.0, 4.0}) == approx((4 + 100) / 2.0));
  CHECK(grid.at(std::array{3.0, 7.0}) == approx(55));
}

TEST_CASE("a decode step is its layers, each entry as often as it is called, with the last norm, head and sampler") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const engine::EngineCost cost = model->step(batch_of({}, 2, attended, 16, 16));
  CHECK(family(cost, OperatorFamily::gemm) == approx(2 * 4 * 2 + 10));        // 2 layers, 4 products, 2 tokens
  CHECK(family(cost, OperatorFamily::elementwise) == approx(2 * 4 * 2 + 4));  // activation, 2 norms, rope
  CHECK(family(cost, OperatorFamily::sampling) == approx(2));
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * 20));  // 2 sequences over 16 tokens
  CHECK(cost.device.si() == approx(88 * kMicrosecond));
  const auto drawn = static_cast<std::size_t>(EnergyComponent::active);  // whatever is computed
  CHECK(cost.energy[drawn].si() == approx(88 * kMicrosecond * 100));     // busy less idle
  CHECK(cost.sync == Seconds());
  CHECK(model->range_warnings().empty());
}

TEST_CASE("drafts have rows of the head and the sampler too, and a table says that it has no attention of theirs") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  folder.write("tiny/tp1/per_sequence.csv",
               "layer,sequences,time_us\nlm_head,1,100\nlm_head,11,200\nsampler,1,50\nsampler,11,60\n");
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  models::Batch batch = batch_of({}, 2, attended, 16, 16);
  batch.tokens_per_decode = 5;
  const engine::EngineCost cost = model->step(batch);
  // 10 rows: 190 and 59 us; 16 captured tokens through 4 products of 2 layers.
  CHECK(family(cost, OperatorFamily::gemm) == approx(2 * 4 * 16 + 190));
  CHECK(family(cost, OperatorFamily::sampling) == approx(59));
  REQUIRE(model->range_warnings().size() == 1);
  CHECK(model->range_warnings()[0].find("to one token of a sequence") != std::string::npos);
}

TEST_CASE("decode batches are padded to what is captured, in their GEMMs and not in their attention") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const engine::EngineCost cost = model->step(batch_of({}, 5, attended, 16, 16));
  CHECK(family(cost, OperatorFamily::gemm) == approx(2 * 4 * 8 + 10));
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * 50));
}

TEST_CASE("decodes beside a chunk cost what the two measured together cost more than the chunk alone") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const std::vector<models::PrefillChunk> chunks = {{24, 0, true}};
  const engine::EngineCost cost = model->step(batch_of(chunks, 5, attended, 16, 16));
  CHECK(family(cost, OperatorFamily::prefill_attention) == approx(2 * 40));           // between 30 and 50
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * (142.5 - 40)));  // 130 at 16, 155 at 32
  CHECK(family(cost, OperatorFamily::gemm) == approx(2 * 4 * 29 + 10));               // no padding
  CHECK(cost.sync.si() == approx(7 * kMicrosecond));
}

TEST_CASE("of several chunks the longest meets the decodes, the others add what they cost beyond a launch") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const std::vector<models::PrefillChunk> chunks = {{24, 0, true}, {32, 0, false}, {3, 0, true}};
  const engine::EngineCost cost = model->step(batch_of(chunks, 1, attended, 16, 16));
  // The short one counts as the shortest measured, which is all launch.
  CHECK(family(cost, OperatorFamily::prefill_attention) == approx(2 * (50 + (40 - 30) + 0)));
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * (75 - 50)));
}

TEST_CASE("unequal contexts cost the median share of the way from all at the mean to all at the longest") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention,
               "pure,2,1,0.5,4,0,0,1,4,2,100,200,110,\npure,2,1,0.5,4,0,0,1,4,2,100,200,130,\n"
               "pure,2,1,0.5,4,0,0,1,4,2,100,200,190,\npure,2,1,0.5,4,0,0,1,4,2,100,100,100,nan\n");
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const engine::EngineCost cost = model->step(batch_of({}, 2, attended, 16, 32));
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * (20 + 0.3 * 20)));
}

TEST_CASE("beyond its tables a family goes on in a straight line and says so once") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  const auto model = steps_of(folder);
  std::array<models::Attended, 1> attended;
  const engine::EngineCost cost = model->step(batch_of({}, 9, attended, 48, 48));
  CHECK(family(cost, OperatorFamily::decode_attention) == approx(2 * 270));
  model->step(batch_of({}, 9, attended, 64, 64));
  REQUIRE(model->range_warnings().size() == 1);
  CHECK(model->range_warnings()[0].find("decode_attention of t left its tables") == 0);
}

TEST_CASE("what was not measured is refused: models, degrees, formats, missing entries") {
  const traces::TraceFolder folder;
  write_tables(folder, kAttention);
  Diagnostics diagnostics;
  const auto device = device_of(folder, diagnostics);
  REQUIRE(device);
  const auto problems = [&](const models::ModelSpec& model, const models::ParallelPlan& plan) {
    const auto all = device->problems(model, plan);
    return all.empty() ? "" : all.front();
  };
  models::ModelSpec other = tiny();
  other.name = "other";
  CHECK(problems(other, {}).find("other was not measured") == 0);
  CHECK(problems(tiny(), {2, 1, 1, 1}).find("tiny was not measured") == 0);
  CHECK(problems(tiny(), {1, 2, 1, 1}) == "layer tables are of tensor parallelism alone");
  models::ModelSpec narrow = tiny();
  narrow.precision.kv = models::Format{"fp8", 1, 0, 0};
  CHECK(problems(narrow, {}) == "layer tables are of 16-bit weights and KV");
  models::ModelSpec normed = tiny();
  normed.groups[0].softmax().qk_norm = true;
  CHECK(problems(normed, {}) == "the tables have no qk_norm");
  CHECK_THROWS_AS(device->bind(other, {}, {}), std::invalid_argument);
}

TEST_CASE("a folder that is not there is reported at its key") {
  Diagnostics diagnostics;
  const traces::TraceFolder folder;
  const std::string gone = folder.path_of("gone");
  const auto device = devices().read(
      read_yaml(std::make_shared<const SourceText>(SourceText{
                    "device.yaml", "kind: table\nname: t\ntables: " + gone +
                                       "\ncapacity: 1 GB\nruntime_reserve: 0 B\nidle_power: 1 W\nbusy_power: 2 W\n"
                                       "links: {bandwidth: 1 GB/s, latency: 1 us}\n"
                                       "host: {per_step: 0 s, per_request: 0 s, graph_launch: 0 s, per_kernel: 0 s, "
                                       "per_compiled_kernel: 0 s}\n"}),
                diagnostics),
      diagnostics);
  CHECK_FALSE(device);
  CHECK(diagnostics.text(false).find("device.yaml:3:9: error: there is no folder '" + gone) == 0);
}

}  // namespace table_test
