// SPDX-License-Identifier: Apache-2.0
#include "models/step_work.hpp"

#include <stdexcept>

#include "model_fixtures.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;
using Kind = Elementwise::Kind;

namespace {

struct Shape {
  std::int64_t m, n, k;
  double count;
  bool operator==(const Shape&) const = default;
};
std::vector<Shape> gemms(const std::vector<Operator>& work) {
  std::vector<Shape> shapes;
  for (const auto& [gemm, count] : all_of<Gemm>(work)) shapes.push_back({gemm.m, gemm.n, gemm.k, count});
  return shapes;
}

// Layers' parameters without the norms' vectors.
double matrix_parameters(const ModelSpec& model) {
  double vectors = static_cast<double>(model.hidden);
  for (const LayerGroup& group : model.groups) vectors += static_cast<double>(group.count * group.norms * model.hidden);
  return static_cast<double>(parameters(model) - 2 * table_parameters(model)) - vectors;
}

}  // namespace

TEST_CASE("attention in 16 bits beside fp8: its products take 16-bit inputs, which nothing quantises") {
  ModelSpec model = catalogued("llama-3.1-70b");
  set_weights(model, *format_named("fp8"));
  model.precision.activations = *format_named("fp8");
  model.precision.attention = format_named("bf16");
  const auto work = token_work(model, {.tensor = 8}, 100, 28, {});
  for (const auto& [gemm, count] : all_of<Gemm>(work)) {
    const bool attention = gemm.n == 1280 || gemm.k == 1024;
    CHECK(gemm.weights.name == (attention ? "bf16" : "fp8"));
    CHECK(gemm.activations.name == (attention ? "bf16" : "fp8"));
  }
  int quantised = 0;
  for (const auto& [kernel, count] : all_of<Elementwise>(work))
    if (kernel.kind == Kind::quantise) quantised += count;
  CHECK(quantised == 2 * 80);  // of the feed-forward
  model.precision.attention_output = format_named("fp8");
  for (const auto& [gemm, count] : all_of<Gemm>(token_work(model, {.tensor = 8}, 100, 28, {})))
    CHECK(gemm.weights.name == (gemm.n == 1280 ? "bf16" : "fp8"));
}

TEST_CASE("the projections of a layer have the shapes of cost-model 2.1") {
  const auto work = token_work(catalogued("llama-3.1-70b"), {.tensor = 8}, 100, 28, {});
  CHECK(gemms(work) == std::vector<Shape>{{128, (8 + 2) * 128, 8192, 80},
                                          {128, 8192, 8 * 128, 80},
                                          {128, 2 * 3584, 8192, 80},
                                          {128, 8192, 3584, 80}});
}

TEST_CASE("a token costs two FLOPs per parameter of the matrices, however the ranks share them") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  for (int tensor : {1, 2, 4, 8})
    CHECK(tensor * linear_flops(token_work(model, {.tensor = tensor}, 7, 4, {})) == 2 * 11 * matrix_parameters(model));
  CHECK(4 * linear_flops(token_work(model, {.pipeline = 4}, 7, 4, {})) == 2 * 11 * matrix_parameters(model));
}

TEST_CASE("the head is computed for the rows that need logits alone") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const std::vector<PrefillChunk> chunks = {{100, 0, false}, {50, 200, true}};
  const std::vector<Attended> attended = {{4000, 1500}};
  const Batch batch{chunks, 3, 2, attended};
  const auto work = step_work(model, {}, batch, {});
  const double rows = 1 + 3 * 2;
  CHECK(linear_flops(work) == 2 * 156 * matrix_parameters(model) + 2 * rows * 128'256 * 4'096);
  const auto samples = all_of<Sample>(work);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].what == Sample{7, 128'256});
}

TEST_CASE("element-wise kernels move the bytes of cost-model 3.3") {
  const double tokens = 10, hidden = 4096;
  const auto work = token_work(catalogued("llama-3.1-8b"), {.tensor = 2}, 10, 0, {});
  const auto only = [&](Kind kind) {
    const auto found = elementwise(work, kind);
    REQUIRE(found.size() == 1);
    return std::pair{found[0].what.bytes, found[0].count};
  };
  CHECK(only(Kind::norm) == std::pair{4 * tokens * hidden, 64.0});
  CHECK(only(Kind::add) == std::pair{6 * tokens * hidden, 64.0});
  CHECK(only(Kind::activation) == std::pair{6 * tokens * 14336 / 2, 32.0});
  CHECK(only(Kind::rope) == std::pair{4 * tokens * (32 + 8) / 2 * 128, 32.0});
  CHECK(only(Kind::embedding) == std::pair{4 * tokens * hidden, 1.0});
}

TEST_CASE("tensor parallelism sums twice per layer and gathers the logits once") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const auto sums = collectives(token_work(model, {.tensor = 4}, 0, 10, {}), Collective::Kind::all_reduce);
  REQUIRE(sums.size() == 1);
  CHECK(sums[0].count == 64);
  CHECK(sums[0].what.bytes == 10 * 4096 * 2);
  CHECK(sums[0].what.ranks == 4);
  const auto gathers = collectives(logit_work(model, {.tensor = 4}, 10, 10), Collective::Kind::all_gather);
  REQUIRE(gathers.size() == 1);
  CHECK(gathers[0].what.bytes == 10 * 128'256 * 2);
  const std::vector<Attended> attended = {{9, 9}};
  CHECK(all_of<Collective>(step_work(model, {}, Batch{{}, 1, 1, attended}, {})).empty());
}

TEST_CASE("a norm over the heads of all ranks sums two numbers of 32 bits a token in every layer") {
  ModelSpec model = catalogued("llama-3.1-8b");
  const auto count = [&model](int tensor) {
    return collectives(token_work(model, {.tensor = tensor}, 0, 10, {}), Collective::Kind::all_reduce);
  };
  model.groups.front().softmax().qk_norm_full = true;
  const auto sums = count(4);
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].count == 32);
  CHECK(sums[0].what.bytes == 10 * 2 * 4);
  CHECK(sums[1].count == 64);  // those behind attention and feed-forward stay
  CHECK(count(1).empty());
  model.groups.front().softmax().qk_norm_full = false;
  model.groups.front().softmax().qk_norm = true;  // of each head alone: no rank needs another's
  CHECK(count(4).size() == 1);
}

TEST_CASE("a pipeline stage has its share of the layers and the head, and tokens are sent once between two") {
  const auto work = token_work(catalogued("llama-3.1-8b"), {.pipeline = 4}, 0, 10, {});
  for (const auto& gemm : all_of<Gemm>(work)) CHECK(gemm.count == 8);
  for (const auto& gemm : all_of<Gemm>(logit_work(catalogued("llama-3.1-8b"), {.pipeline = 4}, 10, 10)))
    CHECK(gemm.count == 0.25);
  // 10 layers of full attention and 52 with a window over eight stages: 62 / 8 of them, not 2 + 7.
  Batch one;
  one.decodes = 1;
  const std::vector<Attended> attended(2, {100, 100});
  one.attended = attended;
  double attentions = 0;
  for (const auto& attention : all_of<DecodeAttention>(attention_work(catalogued("gemma-3-27b"), {.pipeline = 8}, one)))
    attentions += attention.count;
  CHECK(attentions == 62.0 / 8);
  const auto sends = collectives(work, Collective::Kind::send);
  REQUIRE(sends.size() == 1);
  CHECK(4 * sends[0].count == 3);
  CHECK(sends[0].what.bytes == 10 * 4096 * 2);
}

TEST_CASE("no tokens, no rows, no sequences: no work") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  CHECK(token_work(model, {}, 0, 0, {}).empty());
  CHECK(logit_work(model, {}, 0, 0).empty());
  CHECK(attention_work(model, {}, Batch{}).empty());
  CHECK(step_work(model, {}, Batch{}, {}).empty());
}

TEST_CASE("layers that differ only in their window share all token work") {
  const auto work = token_work(catalogued("gemma-2-9b"), {}, 0, 1, {});
  for (const auto& gemm : all_of<Gemm>(work)) CHECK(gemm.count == 42);
  CHECK(elementwise(work, Kind::norm).front().count == 4 * 42);  // before and after attention and feed-forward
}

TEST_CASE("each KV law of the model has its own attention, with its own attended entries") {
  const ModelSpec model = catalogued("gemma-3-27b");
  CHECK(kv_laws(model) == std::vector<std::int64_t>{0, 1024});
  CHECK(kv_laws(catalogued("llama-3.1-8b")) == std::vector<std::int64_t>{0});
  CHECK(kv_laws(catalogued("mistral-7b")) == std::vector<std::int64_t>{4096});

  const std::vector<PrefillChunk> chunks = {{512, 4096, true}};
  const std::vector<Attended> attended = {{9000, 5000}, {2048, 1024}};
  const auto work = attention_work(model, {.tensor = 4}, Batch{chunks, 2, 1, attended});
  const auto decodes = all_of<DecodeAttention>(work);
  REQUIRE(decodes.size() == 2);
  for (const auto& [decode, count] : decodes) {
    const bool full = decode.window == 0;
    CHECK(decode.masks == !full);
    CHECK(count == (full ? 10 : 52));
    CHECK(decode.attended == attended[full ? 0 : 1]);
    CHECK(decode.sequences == 2);
    CHECK(decode.heads == 8);
    CHECK(decode.kv_heads == 4);
  }
  const auto prefills = all_of<PrefillAttention>(work);
  REQUIRE(prefills.size() == 2);
  for (const auto& [prefill, count] : prefills)
    CHECK(pairs(prefill) == (prefill.window == 0 ? causal_pairs(512, 4096) : 512.0 * 1024));
}

TEST_CASE("decodes without entries for every KV law are refused") {
  const std::vector<Attended> one = {{100, 100}};
  CHECK_THROWS_AS(attention_work(catalogued("gemma-2-9b"), {}, Batch{{}, 1, 1, one}), std::invalid_argument);
}

TEST_CASE("narrow activations are quantised before each GEMM, and the head takes 16 bits") {
  ModelSpec model = catalogued("llama-3.1-8b");
  const auto quantised = [&model](const char* format) {
    model.precision.activations = model.precision.weights = *format_named(format);
    double bytes = 0;
    for (const auto& [entry, count] : elementwise(token_work(model, {}, 0, 10, {}), Kind::quantise))
      bytes += count * entry.bytes;
    return bytes;
  };
  // Inputs of qkv, o, gate+up and down: 2 bytes read, half a byte and a scale for 16, or 1 byte, written ...
  CHECK(quantised("nvfp4") == 32 * 10 * (2 + 0.5 + 1.0 / 16) * (3 * 4096 + 14336));
  CHECK(quantised("fp8") == 32 * 10 * (3 * (3 * 4096 + 14336) + 4 * 4));  // ... with a scale for each token
  const auto work = token_work(model, {}, 0, 10, {});
  for (const auto& [gemm, count] : all_of<Gemm>(work)) CHECK(gemm.activations.name == "fp8");
  CHECK(elementwise(work, Kind::norm).front().what.bytes == 4 * 10 * 4096);
  CHECK(all_of<Gemm>(logit_work(model, {}, 1, 1)).front().what.activations.name == "bf16");
}

TEST_CASE("a learned position table replaces the rotation") {
  const auto work = token_work(catalogued("opt-13b"), {}, 0, 10, {});
  CHECK(elementwise(work, Kind::rope).empty());
  CHECK(elementwise(work, Kind::embedding).front().count == 2);
  CHECK(elementwise(work, Kind::activation).front().what.bytes == 4 * 10 * 20480);  // read and written, no gate
}

TEST_CASE("latent attention: decodes are absorbed, fresh prompts expanded, short chunks over long caches absorbed") {
  const ModelSpec model = catalogued("deepseek-v3");
  const std::vector<PrefillChunk> chunks = {{1000, 0, false}, {158, 1024, false}, {159, 1024, true}};
  const std::vector<Attended> attended = {{5000, 3000}};
  const auto work = attention_work(model, {.tensor = 8}, Batch{chunks, 4, 1, attended});

  const auto expansions = gemms(work);
  // Queries of all chunks and the 1,024 latents behind the last; 16 heads of nope 128 and v 128.
  CHECK(expansions == std::vector<Shape>{{1000 + 158 + 159 + 1024, 16 * 256, 512, 61}});
  const auto prefills = all_of<PrefillAttention>(work);
  REQUIRE(prefills.size() == 2);
  CHECK(prefills[0].what.chunks == std::vector<PrefillChunk>{chunks[0], chunks[2]});
  CHECK(prefills[0].what.kv_heads == 16);
  CHECK(prefills[0].what.head_dim == 192);
  CHECK(prefills[0].what.value_dim == 128);
  CHECK(prefills[1].what.chunks == std::vector<PrefillChunk>{chunks[1]});
  CHECK(prefills[1].what.kv_heads == 1);
  CHECK(prefills[1].what.head_dim == 576);
  CHECK(prefills[1].what.value_dim == 512);
  const auto decodes = all_of<DecodeAttention>(work);
  REQUIRE(decodes.size() == 1);
  CHECK(decodes[0].count == 61);
  CHECK(decodes[0].what.heads == 16);
  CHECK(decodes[0].what.kv_heads == 1);
  CHECK(decodes[0].what.head_dim == 576);
}

TEST_CASE("the absorbed expansion of decodes is token work, that of prompts is not") {
  const ModelSpec model = catalogued("deepseek-v2-lite");
  const Shape expansion{5, 16 * 256, 512, 27};
  const auto has = [&](const std::vector<Operator>& work) {
    const auto shapes = gemms(work);
    return std::find(shapes.begin(), shapes.end(), expansion) != shapes.end();
  };
  CHECK(has(token_work(model, {}, 0, 5, {})));
  CHECK_FALSE(has(token_work(model, {}, 5, 0, {})));
  const std::vector<PrefillChunk> chunk = {{5, 0, true}};
  CHECK(has(attention_work(model, {}, Batch{chunk, 0, 1, {}})));
}
