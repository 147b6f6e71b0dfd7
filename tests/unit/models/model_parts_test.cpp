// SPDX-License-Identifier: Apache-2.0
#include "models/model_parts.hpp"

#include "model_fixtures.hpp"
#include "models/memory.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;

namespace {

double weights(const ModelSpec& model) { return memory_need(model, {}, 1, 1).weights.si(); }

}  // namespace

TEST_CASE("the parts of a model hold its weights and KV entries, all of them and once") {
  for (const char* name : {"llama-3.1-8b", "llama-3.2-3b", "deepseek-v3", "gpt-oss-20b"}) {
    CAPTURE(name);
    const ModelSpec model = catalogued(name);
    const int layers = model.layers();
    const std::vector<ModelSpec> parts = {layers_of(model, 0, 5), layers_of(model, 5, 7),
                                          layers_of(model, 12, layers - 12)};
    double held = 0, kv = 0;
    for (const ModelSpec& part : parts) {
      held += weights(part);
      kv += kv_bytes_per_token(part);
    }
    CHECK(parts[1].layers() == 7);
    CHECK(kv == approx(kv_bytes_per_token(model)));
    // But for the embedding's table, which no part counts: the last has the head.
    const double table =
        static_cast<double>(table_parameters(model)) * model.precision.embedding_weights().bytes_with_scales();
    CHECK(held == approx(weights(model) - (model.tied_embeddings ? 0 : table)));
    CHECK(weights(layers_of(model, 0, layers)) == weights(model));
  }
}

TEST_CASE("layers of groups are spread evenly: every other layer of gpt-oss has a window") {
  const ModelSpec model = catalogued("gpt-oss-20b");  // 12 layers with a window, 12 without
  REQUIRE(model.groups.size() == 2);
  const ModelSpec part = layers_of(model, 6, 8);
  CHECK(part.groups.at(0).count == 4);
  CHECK(part.groups.at(1).count == 4);
  CHECK(layers_of(model, 3, 1).groups.size() == 1);
}

TEST_CASE("attention alone keeps the KV cache and next to nothing of the weights") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const ModelSpec part = attention_alone(model, 2);
  CHECK(kv_bytes_per_token(part) == kv_bytes_per_token(model));
  CHECK(weights(part) < 1e-3 * weights(model));
  CHECK(problems({.tensor = 2}, part).empty());
  CHECK(kv_laws(part) == kv_laws(model));
}

TEST_CASE("without a context the weights stay and there is one KV law") {
  const ModelSpec model = catalogued("gpt-oss-20b");
  const ModelSpec part = without_context(model);
  CHECK(weights(part) == weights(model));
  CHECK(kv_laws(part) == std::vector<std::int64_t>{1});
}
