// SPDX-License-Identifier: Apache-2.0
#include "sim/live/llama.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "models/catalog.hpp"
#include "models/native.hpp"
#include "sim/live/weights.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::live;
using llmscape::testing::approx;

namespace {

models::ModelSpec model_of(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto root = read_yaml(std::make_shared<const SourceText>(SourceText{"model", yaml}), diagnostics);
  const auto model = models::read_native_model(root, "model", diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  return *model;
}

// The catalogue's model, or why the engine does not compute it.
std::string obstacle(const char* name) {
  Diagnostics diagnostics;
  const auto model = models::load_model("models/catalog", name, {}, diagnostics);
  REQUIRE(model);
  std::string reason;
  const bool computed = llama_shape(*model, reason).has_value();
  CHECK(computed == reason.empty());
  return reason;
}

}  // namespace

TEST_CASE("Llama models are Llama-shaped, others say why not") {
  CHECK(obstacle("llama-3.2-1b") == "");
  CHECK(obstacle("llama-3.1-8b") == "");
  CHECK(obstacle("qwen2.5-0.5b") == "it has biases");
  CHECK(obstacle("qwen3-0.6b") == "it has norms over queries and keys");
  CHECK(obstacle("mixtral-8x7b") == "it has routed experts");
  CHECK(obstacle("deepseek-v3") == "it has latent attention");
  CHECK(obstacle("gemma-3-1b").starts_with("it has"));
}

TEST_CASE("a shape described as a model is the same model") {
  Diagnostics diagnostics;
  const auto published = models::load_model("models/catalog", "llama-3.2-1b", {}, diagnostics);
  std::string reason;
  const auto shape = llama_shape(*published, reason);
  REQUIRE(shape);
  const models::ModelSpec again = model_of(model_yaml(*shape, "fp32"));
  CHECK(models::parameters(again) == 1235814400);  // Llama-3.2-1B
  CHECK(again.precision.weights.name == "fp32");
  CHECK(again.precision.kv.name() == "fp32");
  CHECK(model_yaml(*llama_shape(again, reason), "bf16") == model_yaml(*shape, "bf16"));
}

TEST_CASE("the sizes can be computed and grow") {
  std::int64_t before = 0;
  for (const Size& size : sizes()) {
    CAPTURE(size.name);
    const models::ModelSpec model = model_of(model_yaml(size.shape, "fp32"));
    std::string reason;
    CHECK(llama_shape(model, reason));
    CHECK(models::parameters(model) > before);
    before = models::parameters(model);
  }
}

TEST_CASE("random weights have the spread of their inputs and differ between tensors") {
  const LlamaShape& shape = sizes().front().shape;
  const auto values = values_of(random_tensor(shape, Tensor::down, 1));
  CHECK(values.size() == 256 * 768);
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double n = static_cast<double>(values.size());
  CHECK(std::abs(sum / n) < 4 * std::sqrt(1.0 / 768 / n));  // four standard errors
  CHECK(squares / n == approx(1.0 / 768).epsilon(0.01));
  CHECK(values != values_of(random_tensor(shape, Tensor::down, 0)));
  CHECK(values_of(random_tensor(shape, Tensor::head)) == values_of(random_tensor(shape, Tensor::embedding)));
  for (const float v : values_of(random_tensor(shape, Tensor::final_norm))) CHECK(std::abs(v - 1) <= 0.1F);
}
