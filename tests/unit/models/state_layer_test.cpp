// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/state_layer.hpp"

#include "model_fixtures.hpp"
#include "models/hf_config.hpp"
#include "models/memory.hpp"
#include "models/model.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;

namespace state_layer_test {

// Qwen3-Next's: 16 key heads and 32 value heads of 128.
const StateLayer kGatedDelta{
    .form = StateForm::gated_delta, .heads = 32, .key_heads = 16, .key_dim = 128, .value_dim = 128, .state_bytes = 2};

TEST_CASE("a state is a matrix for each head and the last inputs of the convolution, at any length") {
  const SequenceState state = kGatedDelta.state({}, 1);
  CHECK(state.bytes_per_token == 0);
  CHECK(state.bytes_per_sequence == 32 * 128 * 128 * 2 + 3 * (2 * 16 * 128 + 32 * 128) * 2);  // 1,097,728
  CHECK(kGatedDelta.state({}, 4).bytes_per_sequence == state.bytes_per_sequence / 4);
}

TEST_CASE("parameters of one layer by hand: gated delta rule, Mamba 2, Kimi's delta attention") {
  const auto all = [](const StateLayer& layer, std::int64_t hidden) {
    std::int64_t sum = layer.inner_parameters(1);
    for (const Linear& linear : layer.projections(hidden, 1)) sum += linear.parameters();
    return sum;
  };
  // in_proj_qkvz, in_proj_ba, out_proj; conv1d, A_log, dt_bias, norm.
  CHECK(all(kGatedDelta, 2048) == 2048 * (4096 + 2 * 4096) + 2048 * 64 + 4096 * 2048 + 8192 * 4 + 2 * 32 + 128);
  // Nemotron-3 Nano: in_proj 4096 + 6144 + 64, out_proj; conv1d with bias; A_log, D, dt_bias; norm.
  const StateLayer mamba{.form = StateForm::mamba2, .heads = 64, .key_heads = 8, .key_dim = 128, .value_dim = 64};
  CHECK(all(mamba, 2688) == 2688 * (4096 + 6144 + 64) + 4096 * 2688 + 6144 * 5 + 3 * 64 + 4096);
  // q, k, v; b; f_a, f_b; g_a, g_b; o; conv1d; A_log, dt_bias, norm.
  const StateLayer kimi{.form = StateForm::kimi_delta, .heads = 32, .key_heads = 32, .key_dim = 128, .value_dim = 128};
  CHECK(all(kimi, 2304) ==
        2304 * 3 * 4096 + 2304 * 32 + 2 * (2304 * 128 + 128 * 4096) + 4096 * 2304 + 3 * 4096 * 4 + 32 + 4096 + 128);
}

TEST_CASE("does Qwen3-Next load, with the parameters that it has?") {
  llmscape::Diagnostics diagnostics;
  const auto model = read_hf_config(
      parsed(
          R"({"architectures": ["Qwen3NextForCausalLM"], "decoder_sparse_step": 1, "full_attention_interval": 4,
 "head_dim": 256, "hidden_size": 2048, "intermediate_size": 5120, "linear_conv_kernel_dim": 4,
 "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
 "max_position_embeddings": 262144, "mlp_only_layers": [], "moe_intermediate_size": 512, "num_attention_heads": 16,
 "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2,
 "shared_expert_intermediate_size": 512, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
 "vocab_size": 151936})"),
      "next", diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  // 12 x (query, its gate and output 3 x 2048 x 4096, K and V 2 x 2048 x 512, two norms of heads 512) + 36 x (inputs
  // 2048 x (2 x 2048 + 2 x 4096 + 2 x 32), convolution 4 x 8192, per head 2 x 32 + 128, output 4096 x 2048) + 48 x (513
  // experts of 3 x 2048 x 512, router 512 x 2048, gate of the shared one 2048, two norms 4096) + 2048 +
  // 2 x 151936 x 2048. Published: 80 billion, 3 active.
  CHECK(parameters(*model) == 79'674'391'296);
  CHECK(active_parameters(*model) == 3'563'764'480);
  CHECK(kv_bytes_per_token(*model) == 12 * 2 * 2 * 256 * 2);
}

TEST_CASE("the catalogue's hybrids: parameters, entries of a token and states of a sequence") {
  const ModelSpec nano = catalogued("nemotron-3-nano-30b-a3b");
  CHECK(nano.layers() == 52);
  CHECK(static_cast<double>(parameters(nano)) == approx(31.6e9).epsilon(0.001));       // published
  CHECK(static_cast<double>(active_parameters(nano)) == approx(3.2e9).epsilon(0.01));  // published, without embedding
  CHECK(kv_bytes_per_token(nano) == 6 * 2 * 2 * 128 * 2);
  CHECK(state_bytes_per_sequence(nano) == 23 * (64 * 64 * 128 * 4 + 3 * 6144 * 2));
  const ModelSpec qwen = catalogued("qwen3.5-35b-a3b");
  CHECK(kv_bytes_per_token(qwen) == 10 * 2 * 2 * 256 * 2);
  CHECK(state_bytes_per_sequence(qwen) == 30 * (32 * 128 * 128 * 4 + 3 * 8192 * 2));
  CHECK(memory_need(qwen, {.tensor = 2}, 1, 1).state_per_sequence.si() == state_bytes_per_sequence(qwen) / 2);
}

TEST_CASE(
    "a decode step updates each state once for each token, a prompt is scanned; attention sees its own layers only") {
  const ModelSpec nano = catalogued("nemotron-3-nano-30b-a3b");
  CHECK(kv_laws(nano) == std::vector<std::int64_t>{0});
  const std::vector<Operator> work = state_work(nano, {.tensor = 2}, {3, 600, 5, 10});
  REQUIRE(work.size() == 2);
  const auto& scan = std::get<StateUpdate>(work[0].what);
  CHECK(work[0].count == 23);
  CHECK(scan.scan);
  CHECK(scan.sequences == 3);
  CHECK(scan.tokens == 600);
  CHECK(scan.heads == 32);
  CHECK(scan.key_heads == 4);
  const auto& update = std::get<StateUpdate>(work[1].what);
  CHECK(update.sequences == 5);
  CHECK(update.tokens == 10);
  const std::vector<Attended> attended = {{1000, 300}};
  int attention = 0;
  for (const Operator& op : attention_work(nano, {}, {{}, 5, 1, attended})) attention += op.count;
  CHECK(attention == 6);
}

TEST_CASE("layers of one part pass one norm, one addition and one sum over tensor ranks") {
  const ModelSpec nano = catalogued("nemotron-3-nano-30b-a3b");
  int sums = 0, additions = 0;
  for (const Operator& op : token_work(nano, {.tensor = 2}, 0, 1, {})) {
    if (const auto* c = std::get_if<Collective>(&op.what); c && c->kind == Collective::Kind::all_reduce)
      sums += op.count;
    if (const auto* e = std::get_if<Elementwise>(&op.what); e && e->kind == Elementwise::Kind::add)
      additions += op.count;
  }
  CHECK(sums == 52);
  CHECK(additions == 52);
}

}  // namespace state_layer_test
