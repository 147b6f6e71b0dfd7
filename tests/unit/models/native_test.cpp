// SPDX-License-Identifier: Apache-2.0
#include "models/native.hpp"

#include "model_fixtures.hpp"
#include "models/format.hpp"

using namespace llmscape;
using namespace llmscape::models;

namespace {

constexpr const char* kLlama = R"(schema: model/1
source: the same figures as Llama-3.1-8B
hidden: 4096
vocabulary: 128256
max_position: 131072
weights: int8
groups:
  - count: 32
    attention: {heads: 32, kv_heads: 8, head_dim: 128}
    feed_forward: {width: 14336}
)";

std::vector<std::string> errors_of(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(read_native_model(parsed(text), "mine", diagnostics));
  return messages(diagnostics);
}

// A model with this one layer group.
std::string with_group(const std::string& attention, const std::string& feed_forward) {
  return "schema: model/1\nhidden: 64\nvocabulary: 100\nmax_position: 10\ngroups:\n  - count: 1\n    attention: {" +
         attention + "}\n    feed_forward: {" + feed_forward + "}\n";
}

}  // namespace

TEST_CASE("a native model says the same as the config.json of the same shape") {
  Diagnostics diagnostics;
  const auto model = read_native_model(parsed(kLlama), "mine", diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  const ModelSpec llama = catalogued("llama-3.1-8b");
  CHECK(parameters(*model) == parameters(llama));
  CHECK(model->groups.front().mixer == llama.groups.front().mixer);
  CHECK(model->groups.front().feed_forward == llama.groups.front().feed_forward);
  CHECK(model->precision.weights == *format_named("int8"));
  CHECK(model->precision.kv == *format_named("bf16"));
}

TEST_CASE("what a kind of attention needs is asked for") {
  CHECK(errors_of(with_group("heads: 4, head_dim: 16", "width: 1")).size() == 1);
  CHECK(errors_of(with_group("heads: 4, kv_heads: 3, head_dim: 16", "width: 1")) ==
        std::vector<std::string>{"7:16: 3 KV heads do not divide 4 heads"});
  CHECK(errors_of(with_group("kind: mla, heads: 4", "width: 1")).size() == 4);
}

TEST_CASE("a layer is dense or routed, not both and not neither") {
  const std::string attention = "heads: 4, kv_heads: 4, head_dim: 16";
  CHECK(errors_of(with_group(attention, "gated: false")).size() == 1);
  CHECK(errors_of(with_group(attention, "width: 1, experts: 4, experts_per_token: 2, expert_width: 8")).size() == 1);
  CHECK(errors_of(with_group(attention, "experts: 4, experts_per_token: 5")).size() == 2);
}

TEST_CASE("unknown keys, missing keys and unknown formats are reported together") {
  const auto errors = errors_of("schema: model/1\nhiden: 64\nvocabulary: 0\nmax_position: 10\nkv: fp7\ngroups: []\n");
  CHECK(errors.size() == 4);  // hiden is unknown, hidden is missing, vocabulary and kv are out of range
}

TEST_CASE("a model without layers or too large to count is refused") {
  CHECK(errors_of("schema: model/1\nhidden: 64\nvocabulary: 100\nmax_position: 10\ngroups: []\n").size() == 1);
  CHECK(errors_of(with_group("heads: 10000000, kv_heads: 1, head_dim: 10000000", "width: 1")).size() == 1);
}
