// SPDX-License-Identifier: Apache-2.0
#include "model_fixtures.hpp"
#include "models/hf_config.hpp"
#include "models/memory.hpp"
#include "models/operator_list.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::models;
using llmscape::testing::approx;

namespace {

YamlNode quantised(const std::string& config) {
  return parsed(
      R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
 "num_attention_heads": 8, "vocab_size": 100, "max_position_embeddings": 512, "torch_dtype": "float16",
 "quantization_config": )" +
      config + "}");
}

Precision precision(const std::string& config) {
  Diagnostics diagnostics;
  const auto model = read_hf_config(quantised(config), "small", diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  return model->precision;
}

}  // namespace

TEST_CASE("block-scaled fp8 of DeepSeek-V3: a 4-byte scale per 128 x 128 weights, fp8 inputs, 16-bit embeddings") {
  const Precision p = catalogued("deepseek-v3").precision;
  CHECK(p.weights.bytes_with_scales() == 1 + 4.0 / 16384);
  CHECK(p.activations.name == "fp8");
  CHECK(p.embedding_weights().name == "bf16");
  CHECK(p.kv.name() == "bf16");
}

TEST_CASE("gptq and awq: grouped integers with a scale and a zero point, 16-bit inputs") {
  const Precision p = precision(R"({"quant_method": "gptq", "bits": 4, "group_size": 64})");
  CHECK(p.weights.name == "int4");
  CHECK(p.weights.bytes_with_scales() == 0.5 + 2.5 / 64);
  CHECK(p.activations.name == "fp16");
  CHECK(p.embedding_weights().name == "fp16");
  CHECK(precision(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})").weights.bytes_with_scales() == 1);
  CHECK(precision(R"({"quant_method": "awq", "bits": 4, "group_size": 128})").weights.bytes_with_scales() ==
        0.5 + 2.5 / 128);
}

TEST_CASE("compressed-tensors: weights and inputs of the first group") {
  const Precision w8a8 = precision(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
      "weights": {"num_bits": 8, "type": "float"}, "input_activations": {"num_bits": 8, "type": "float"}}}})");
  CHECK(w8a8.weights.name == "fp8");
  CHECK(w8a8.activations.name == "fp8");
  const Precision w4a16 = precision(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
      "weights": {"num_bits": 4, "type": "int", "symmetric": true, "group_size": 128}, "input_activations": null}}})");
  CHECK(w4a16.weights.bytes_with_scales() == 0.5 + 2.0 / 128);
  CHECK(w4a16.activations.name == "fp16");
}

TEST_CASE("a router that is left alone is no part of a feed-forward") {
  Diagnostics diagnostics;
  const auto config = [](const std::string& left) {
    return quantised(R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": [")" + left +
                     R"("]})");
  };
  REQUIRE(read_hf_config(config("model.layers.0.mlp.gate"), "small", diagnostics));
  CHECK(diagnostics.text(false).find("left as it was") == std::string::npos);
  REQUIRE(read_hf_config(config("model.layers.0.mlp.gate_proj"), "small", diagnostics));
  CHECK(diagnostics.text(false).find("left as it was") != std::string::npos);
}

TEST_CASE("compressed-tensors: KV entries in the format that the file names") {
  const auto kv = [](const std::string& scheme) {
    return precision(
               R"({"quant_method": "compressed-tensors", "kv_cache_scheme": )" + scheme +
               R"(, "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}}}})")
        .kv.name();
  };
  CHECK(kv("null") == "fp16");
  CHECK(kv(R"({"num_bits": 8, "type": "float", "strategy": "tensor"})") == "fp8");
  CHECK(kv(R"({"num_bits": 8, "type": "int"})") == "int8");
}

TEST_CASE("compressed-tensors by blocks are blocks, with sides of their own") {
  const Precision p = precision(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
      "targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "block",
      "block_structure": [128, 64]}, "input_activations": {"num_bits": 8, "type": "float"}}}})");
  CHECK(p.weights.name == "fp8_block");
  CHECK(p.weights.group == 128 * 64);
  CHECK(p.activations.name == "fp8");
}

TEST_CASE("compressed-tensors of several schemes: each part in the format of its own, whatever their order") {
  const std::string attention = R"({"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"},
      "input_activations": {"num_bits": 8, "type": "float"}})";
  const std::string dense = R"({"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "int", "group_size": 128},
      "input_activations": null})";
  const auto of = [](const std::string& groups, const std::string& ignored = R"("lm_head")") {
    return precision(R"({"quant_method": "compressed-tensors", "ignore": [)" + ignored + R"(], "config_groups": )" +
                     groups + "}");
  };
  for (const std::string& groups : {R"({"group_0": )" + attention + R"(, "group_1": )" + dense + "}",
                                    R"({"group_0": )" + dense + R"(, "group_1": )" + attention + "}"}) {
    const Precision both = of(groups);
    CHECK(both.weights.name == "int4");
    CHECK(both.attention_weights().name == "fp8");
    CHECK(both.output_weights().name == "fp8");
    CHECK(both.activations.name == "fp8");
    REQUIRE(both.own_inputs);
    CHECK(both.own_inputs->weights.name == "int4");
    CHECK(both.own_inputs->inputs.name == "fp16");
    CHECK_FALSE(both.head);
  }
  const Precision one = of(R"({"group_1": )" + dense + "}");
  CHECK(one.weights.name == "int4");
  CHECK(one.attention_weights().name == "fp16");
  CHECK(one.activations.name == "fp16");
  CHECK(of(R"({"group_1": )" + dense + "}", R"("re:.*\\.mlp\\..*")").weights.name == "fp16");
}

TEST_CASE("schemes that are told apart by more than their parts are named, and the most of them taken") {
  Diagnostics diagnostics;
  const auto model =
      read_hf_config(quantised(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {
          "group_0": {"targets": ["re:.*layers\\.0\\..*"], "weights": {"num_bits": 8, "type": "float"}},
          "group_1": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 128}}}})"),
                     "small", diagnostics);
  REQUIRE(model);
  CHECK(model->precision.weights.name == "int4");
  CHECK(diagnostics.text(false).find("formats of feed-forward differ from layer to layer") != std::string::npos);
  Diagnostics errors;
  CHECK_FALSE(read_hf_config(quantised(R"({"quant_method": "compressed-tensors", "config_groups": {
      "group_0": {"targets": ["re:("], "weights": {"num_bits": 8, "type": "float"}}}})"),
                             "small", errors));
  CHECK(errors.text(false).find("'re:(' is no regular expression") != std::string::npos);
}

TEST_CASE("one matrix of three that is left leaves a feed-forward as the other two are") {
  for (const auto& [list, format] : {std::pair(R"("re:.*down_proj")", "int4"), std::pair(R"("re:.*mlp.*")", "fp16"),
                                     std::pair(R"("re:.*up_proj", "re:.*gate_proj")", "fp16")}) {
    CAPTURE(list);
    Diagnostics diagnostics;
    const auto model = read_hf_config(
        quantised(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "ignore": [)" + std::string(list) + "]}"),
        "small", diagnostics);
    REQUIRE(model);
    CHECK(model->precision.weights.name == format);
    CHECK((diagnostics.text(false).find("one matrix of a feed-forward") != std::string::npos) ==
          (std::string_view(format) == "int4"));
  }
}

TEST_CASE(
    "ModelOpt's mixed precision: experts of 4 bits beside attention in fp8 have inputs of 16, and the head is its "
    "own") {
  const Precision p = precision(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
      "kv_cache_quant_algo": "NVFP4", "quantized_layers": {
      "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}, "model.layers.0.mlp.up_proj": {"quant_algo": "W4A16_NVFP4"},
      "lm_head": {"quant_algo": "W4A16_NVFP4"}}})");
  CHECK(p.weights.name == "nvfp4");
  CHECK(p.attention_weights().name == "fp8");
  CHECK(p.activations.name == "fp8");
  CHECK(inputs_of(p, p.weights).name == "fp16");
  CHECK(inputs_of(p, p.attention_weights()).name == "fp8");
  CHECK(p.head_weights().name == "nvfp4");
  CHECK(p.embedding_weights().name == "fp16");
  CHECK(p.kv.name() == "nvfp4");
  // By hand: a table of 100 x 64 in 2 bytes and one in 9 of 16 bytes.
  Diagnostics diagnostics;
  ModelSpec model =
      *read_hf_config(quantised(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})"), "small", diagnostics);
  const double before = memory_need(model, {}, 1, 1).weights.si(), streamed = streamed_weights(model).si();
  model.precision.head = p.head;
  CHECK(before - memory_need(model, {}, 1, 1).weights.si() == approx(6400 * (2 - 9. / 16)));
  CHECK(streamed - streamed_weights(model).si() == approx(6400 * (2 - 9. / 16)));
  const auto logits = all_of<Gemm>(logit_work(model, {}, 1, 1));
  const auto& [head, times] = logits.front();
  CHECK(head.weights.name == "nvfp4");
  CHECK_FALSE(precision(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "INT8"})").head);
  CHECK(precision(R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "INT8"})").kv.name() ==
        "int8");
}

TEST_CASE("a file of several models says at its top whether embedding and head are one") {
  const auto tied = [](const std::string& top, const std::string& nested) {
    Diagnostics diagnostics;
    const auto model = read_hf_config(parsed(R"({"architectures": ["Qwen3VLForConditionalGeneration"], )" + top +
                                             R"("torch_dtype": "bfloat16", "text_config": {)" + nested +
                                             R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
        "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 8, "vocab_size": 100,
        "max_position_embeddings": 512}})"),
                                      "small", diagnostics);
    REQUIRE_MESSAGE(model, diagnostics.text(false));
    return model->tied_embeddings;
  };
  CHECK(tied(R"("tie_word_embeddings": true, )", ""));
  CHECK_FALSE(tied(R"("tie_word_embeddings": true, )", R"("tie_word_embeddings": false, )"));
  CHECK_FALSE(tied("", ""));
}

TEST_CASE("compressed-tensors that leave the attention alone quantise the experts only, as Kimi-K2.5 does") {
  const Precision p = catalogued("kimi-k2.5").precision;
  CHECK(p.expert_weights().bytes_with_scales() == 0.5 + 2.0 / 32);
  CHECK(p.weights.name == "bf16");
  CHECK(p.activations.name == "bf16");
}

TEST_CASE("mxfp4 of GPT-OSS covers the experts alone") {
  const Precision p = catalogued("gpt-oss-120b").precision;
  CHECK(p.expert_weights().name == "mxfp4");
  CHECK(p.weights.name == "bf16");
}

TEST_CASE("modules that are left out keep their format: attention, its output, a feed-forward") {
  const auto with = [](const std::string& list) {
    return precision(R"({"quant_method": "fbgemm_fp8", "modules_to_not_convert": [)" + list + "]}");
  };
  const std::string inputs =
      R"("model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.k_proj", "model.layers.2.self_attn.v_proj")";
  Precision p = with(inputs);
  CHECK(p.weights.name == "fp8");
  CHECK(p.attention_weights().name == "fp16");
  CHECK(p.output_weights().name == "fp8");
  for (const std::string all : {R"("re:.*self_attn.*")", R"("model.layers.*.self_attn")", R"("self_attn")"}) {
    CAPTURE(all);
    p = with(all);
    CHECK(p.weights.name == "fp8");
    CHECK(p.output_weights().name == "fp16");
  }
  p = with(R"("lm_head", "re:.*mlp\\.(gate|up|down)_proj.*")");
  CHECK(p.weights.name == "fp16");
  CHECK(p.attention_weights().name == "fp8");
  // Routers, norms, towers for images, layers that predict further tokens: not of the parts.
  p = with(R"("model.layers.0.mlp.gate", "model.layers.1.self_attn.q_norm", "vision_tower.layers.0.self_attn*",
             "mtp.layers.0*", "model.layers.4*", "model.layers.5*")");
  CHECK(p.weights.name == "fp8");
  CHECK_FALSE(p.attention);
  CHECK_FALSE(p.attention_output);
}

TEST_CASE("layers that differ from most are groups with formats of their own") {
  Diagnostics diagnostics;
  const auto model =
      read_hf_config(quantised(R"({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.3.mlp.down_proj",
      "model.layers.3.mlp.gate_proj", "model.layers.3.mlp.up_proj", "self_attn"]})"),
                     "small", diagnostics);
  REQUIRE(model);
  CHECK(diagnostics.text(false).empty());
  const Precision& p = model->precision;
  CHECK(p.weights.name == "fp8");
  REQUIRE(model->groups.size() == 2);
  CHECK(model->groups[0].count == 1);
  CHECK(model->groups[0].dense_weights(p).name == "fp16");
  CHECK(model->groups[1].count == 3);
  CHECK(model->groups[1].dense_weights(p).name == "fp8");
  for (const LayerGroup& group : model->groups) CHECK(group.output_weights(p).name == "fp16");
  // By hand: attention 4 x 4 x 64 x 64 of two bytes, three feed-forwards of 3 x 64 x 96 of one byte and one of two,
  // two norms of 64 beside each and one at the end, two tables of 100 x 64 of two bytes.
  const double attention = 2 * 4 * 4 * 64 * 64., dense = (3 * 1 + 1 * 2) * (3 * 64 * 96.);
  const double norms = (3 * 1 + 1 * 2) * 2 * 64. + 64, tables = 2 * 2 * 100 * 64.;
  CHECK(memory_need(*model, {}, 1, 1).weights.si() == attention + dense + norms + tables);
  int wide = 0;
  for (const auto& [gemm, count] : all_of<Gemm>(token_work(*model, {}, 0, 1, {})))
    wide += gemm.weights.name == "fp16" ? count : 0;
  CHECK(wide == 4 * 2 + 2);  // queries, keys and values, and outputs; one feed-forward
}

TEST_CASE("most layers leave the attention: the one that does not is a group of its own") {
  const auto with = [](const std::string& list) {
    Diagnostics diagnostics;
    const auto model = read_hf_config(quantised(R"({"quant_method": "fp8", "modules_to_not_convert": [)" + list + "]}"),
                                      "small", diagnostics);
    REQUIRE(model);
    return *model;
  };
  const ModelSpec model =
      with(R"("model.layers.0*", "model.layers.1.self_attn*", "model.layers.2.self_attn.*", "model.layers.7*")");
  std::vector<std::string> formats;  // of each layer: attention and feed-forward
  for (const LayerGroup& group : model.groups)
    formats.insert(formats.end(), static_cast<std::size_t>(group.count),
                   group.attention_weights(model.precision).name + " " + group.dense_weights(model.precision).name);
  std::ranges::sort(formats);
  // Which of the layers that are alike is left out of one part and of the other is not kept.
  CHECK(std::ranges::count_if(formats, [](const auto& f) { return f.starts_with("fp16"); }) == 3);
  CHECK(std::ranges::count_if(formats, [](const auto& f) { return f.ends_with("fp16"); }) == 1);
}

TEST_CASE("methods and widths that nobody knows are errors at their place") {
  for (const char* config :
       {R"({"quant_method": "gptk", "bits": 4})", R"({"quant_method": "gptq", "bits": 16})",
        R"({"quant_method": "fp8", "weight_block_size": 128})", R"({"quant_method": "compressed-tensors"})", "7"}) {
    CAPTURE(config);
    Diagnostics diagnostics;
    CHECK_FALSE(read_hf_config(quantised(config), "small", diagnostics));
    CHECK(diagnostics.errors() == 1);
    CHECK(diagnostics.sorted().front().where.line == 3);
  }
}
