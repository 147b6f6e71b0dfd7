// SPDX-License-Identifier: Apache-2.0
#include "models/hf_config.hpp"

#include "model_fixtures.hpp"

using namespace llmscape;
using namespace llmscape::models;
using Messages = std::vector<std::string>;

namespace {

constexpr const char* kSmall = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 96,
 "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 100,
 "max_position_embeddings": 512, "torch_dtype": "float16"})";

// kSmall with these keys laid over it.
YamlNode small_with(const std::string& keys) { return merge(parsed(kSmall), parsed("{" + keys + "}")); }

ModelSpec read(const YamlNode& root) {
  Diagnostics diagnostics;
  const auto model = read_hf_config(root, "small", diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  return *model;
}

Messages errors_of(const YamlNode& root) {
  Diagnostics diagnostics;
  CHECK_FALSE(read_hf_config(root, "small", diagnostics));
  return messages(diagnostics);
}

int routed_layers(const ModelSpec& model) {
  int layers = 0;
  for (const LayerGroup& group : model.groups) layers += group.feed_forward.routed() ? group.count : 0;
  return layers;
}

}  // namespace

// Qwen3's card: 32,768 x 4 = 131,072 beside a stated 40,960; DeepSeek-V3's file: 4,096 x 40 = 163,840, as it states.
TEST_CASE("YaRN stretches a context to so many times the original one, other scalings are in what is stated") {
  const auto context = [](const std::string& stated, const std::string& scaling) {
    return read(small_with("\"max_position_embeddings\": " + stated + ", " + scaling)).max_position;
  };
  CHECK(context("40960", R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0,
      "original_max_position_embeddings": 32768})") == 131072);
  CHECK(context("163840", R"("rope_scaling": {"type": "yarn", "factor": 40,
      "original_max_position_embeddings": 4096})") == 163840);
  CHECK(context("32768", R"("rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e6})") == 131072);
  CHECK(context("131072", R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0,
      "original_max_position_embeddings": 8192})") == 131072);
  CHECK(context("512", R"("rope_scaling": null)") == 512);
}

TEST_CASE("the keys of a Llama are read, and unknown ones passed over") {
  const ModelSpec model = read(small_with(R"("rope_theta": 5e5, "auto_map": {"AutoModel": "x"}, "pretraining_tp": 1)"));
  CHECK(model.name == "small");
  CHECK(model.family == "llama");
  CHECK(model.hidden == 64);
  CHECK(model.layers() == 4);
  const SoftmaxAttention& attention = model.groups.front().softmax();
  CHECK(attention.heads == 8);
  CHECK(attention.kv_heads == 2);
  CHECK(attention.head_dim == 8);  // 64 / 8
  CHECK(model.groups.front().feed_forward.width == 96);
  CHECK(model.max_position == 512);
  CHECK_FALSE(model.tied_embeddings);
  CHECK(model.precision.weights.name == "fp16");
  CHECK(model.precision.kv.name() == "fp16");
}

TEST_CASE("a key that is null counts as absent") {
  const ModelSpec model = read(small_with(R"("num_key_value_heads": null, "head_dim": null, "sliding_window": null)"));
  CHECK(model.groups.front().softmax().kv_heads == 8);
  CHECK(model.groups.front().softmax().window == 0);
}

TEST_CASE("all mistakes of a file are reported at their places") {
  const YamlNode root = parsed(R"({"architectures": ["LlamaForCausalLM"],
"hidden_size": 0,
"intermediate_size": "96",
"num_hidden_layers": -4,
"num_attention_heads": 8.5,
"vocab_sise": 100,
"max_position_embeddings": 512,
"tie_word_embeddings": 1,
"torch_dtype": "int3"})");
  CHECK(errors_of(root) == Messages{"1:1: 'vocab_size' is missing (did you mean 'vocab_sise'?)",
                                    "2:16: 'hidden_size' must be a whole number from 1 to 20000000, not '0'",
                                    "3:22: 'intermediate_size' must be a whole number from 1 to 20000000, not '96'",
                                    "4:22: 'num_hidden_layers' must be a whole number from 1 to 20000000, not '-4'",
                                    "5:24: 'num_attention_heads' must be a whole number from 1 to 20000000, not '8.5'",
                                    "8:24: 'tie_word_embeddings' must be true or false",
                                    "9:16: unknown data type 'int3' (known: bfloat16, float16, float32)"});
}

TEST_CASE("heads must divide what they share") {
  CHECK(errors_of(small_with(R"("num_attention_heads": 9, "num_key_value_heads": 9)")) ==
        Messages{"1:25: 9 heads do not divide hidden_size 64, and there is no 'head_dim'"});
  CHECK(read(small_with(R"("num_attention_heads": 9, "num_key_value_heads": 9, "head_dim": 16)")).layers() == 4);
  CHECK(errors_of(small_with(R"("num_key_value_heads": 3)")) ==
        Messages{"1:25: 3 KV heads do not divide 8 attention heads"});
  // What is no number divides nothing: the 1 in its place is nobody's mistake.
  CHECK(errors_of(small_with(R"("hidden_size": NaN)")) ==
        Messages{"1:17: 'hidden_size' must be a whole number from 1 to 20000000, not 'NaN'"});
  CHECK(errors_of(small_with(R"("num_attention_heads": NaN, "num_key_value_heads": 8)")) ==
        Messages{"1:25: 'num_attention_heads' must be a whole number from 1 to 20000000, not 'NaN'"});
}

TEST_CASE("do GLM-4.6, Mistral-Small-3.2 and Phi-3.5-MoE load, with the parameters that they have?") {
  const ModelSpec glm = read(parsed(
      R"({"architectures": ["Glm4MoeForCausalLM"], "attention_bias": true, "head_dim": 128, "hidden_size": 5120,
 "intermediate_size": 12288, "max_position_embeddings": 202752, "moe_intermediate_size": 1536, "n_routed_experts": 160,
 "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "num_attention_heads": 96,
 "num_hidden_layers": 92, "num_key_value_heads": 8, "num_nextn_predict_layers": 1, "use_qk_norm": true,
 "vocab_size": 151552, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})"));
  CHECK(routed_layers(glm) == 89);
  // 92 x (query and output 2 x 5120 x 12288, K and V 2 x 5120 x 1024, biases 14336, two norms of heads 256, two of the
  // layer 10240) + 89 x (161 experts of 3 x 5120 x 1536, router 160 x 5120 + 160) + 3 x 3 x 5120 x 12288 + 5120 +
  // 2 x 151552 x 5120. Published: 357 billion with the layer of multi-token prediction, some 4 billion; 32 active.
  CHECK(parameters(glm) == 352'797'829'024);
  CHECK(active_parameters(glm) == 32'856'319'904);

  const ModelSpec mistral = read(parsed(
      R"({"architectures": ["Mistral3ForConditionalGeneration"], "torch_dtype": "bfloat16", "model_type": "mistral3",
 "text_config": {"head_dim": 128, "hidden_size": 5120, "intermediate_size": 32768, "max_position_embeddings": 131072,
 "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "sliding_window": null,
 "vocab_size": 131072}, "vision_config": {"hidden_size": 1024}})"));
  // 40 x (2 x 5120 x 4096 + 2 x 5120 x 1024 + 3 x 5120 x 32768 + 10240) + 5120 + 2 x 131072 x 5120: 24 billion with the
  // encoder of pictures.
  CHECK(parameters(mistral) == 23'572'403'200);

  for (const char* name : {"PhiMoEForCausalLM", "PhimoeForCausalLM"}) {
    const ModelSpec phi = read(
        parsed(std::string(R"({"architectures": [")") + name +
               R"("], "attention_bias": true, "hidden_size": 4096, "intermediate_size": 6400, "num_attention_heads": 32,
 "max_position_embeddings": 131072, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
 "num_local_experts": 16, "sliding_window": 131072, "vocab_size": 32064, "torch_dtype": "bfloat16"})"));
    // 32 x (2 x 4096 x 4096 + 2 x 4096 x 1024 + biases 10240 + 16 experts of 3 x 4096 x 6400 + router 16 x 4096 + two
    // norms with biases 16384) + 8192 + 2 x 32064 x 4096. Published: 42 billion, 6.6 active.
    CHECK(parameters(phi) == 41'873'121'280);
    CHECK(active_parameters(phi) == 6'509'633'536);
    CHECK(phi.groups.front().softmax().window == 0);
  }
}

TEST_CASE("an unknown architecture lists the known ones, and none is suggested by its spelling") {
  const auto errors = errors_of(small_with(R"("architectures": ["LlamaForCasualLM"])"));
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("architecture 'LlamaForCasualLM' is not known; known: LlamaForCausalLM, MistralForCausalLM") !=
        std::string::npos);
  CHECK(errors[0].find("did you mean") == std::string::npos);
  CHECK(errors[0].find("schema model/1") != std::string::npos);
  CHECK(errors_of(parsed("{}")).size() == 1);
  CHECK(errors_of(parsed("[1, 2]")).size() == 1);
  CHECK(errors_of(small_with(R"("architectures": [])")).size() == 1);
}

TEST_CASE("biases and norms follow the family") {
  const auto layer = [](const std::string& keys) { return read(small_with(keys)).groups.front(); };
  CHECK(layer(R"("attention_bias": true)").softmax().output_bias);
  CHECK(layer(R"("mlp_bias": true)").feed_forward.bias);
  const LayerGroup qwen2 = layer(R"("architectures": ["Qwen2ForCausalLM"])");
  CHECK(qwen2.softmax().qkv_bias);
  CHECK_FALSE(qwen2.softmax().output_bias);
  const LayerGroup qwen3 = layer(R"("architectures": ["Qwen3ForCausalLM"])");
  CHECK(qwen3.softmax().qk_norm);
  CHECK(qwen3.softmax().head_dim == 128);  // the class's default, not 64 / 8
  CHECK(layer(R"("architectures": ["Gemma2ForCausalLM"])").norms == 4);
}

TEST_CASE("windows go to the layers that the family gives them") {
  const auto windowed = [](const std::string& keys) {
    int layers = 0;
    for (const LayerGroup& group : read(small_with(keys)).groups)
      layers += group.softmax().window == 128 ? group.count : 0;
    return layers;
  };
  const std::string window = R"("sliding_window": 128, )";
  CHECK(windowed(window + R"("architectures": ["MistralForCausalLM"])") == 4);
  CHECK(windowed(window + R"("architectures": ["Gemma2ForCausalLM"])") == 2);
  CHECK(windowed(window + R"("architectures": ["Gemma3ForCausalLM"], "sliding_window_pattern": 4)") == 3);
  CHECK(windowed(window + R"("architectures": ["Qwen2ForCausalLM"], "max_window_layers": 3)") == 0);
  CHECK(windowed(window +
                 R"("architectures": ["Qwen2ForCausalLM"], "use_sliding_window": true, "max_window_layers": 3)") == 1);
  const std::string types =
      R"("layer_types": ["full_attention", "full_attention", "full_attention", "sliding_attention"])";
  CHECK(windowed(window + types) == 1);
  CHECK(errors_of(small_with(window + R"("layer_types": ["full_attention", "linear_attention"])")).size() == 2);
  CHECK(errors_of(small_with(types)).size() == 1);  // a window that nothing gives
}

TEST_CASE("routed layers are those that the family's keys choose") {
  const std::string qwen =
      R"("architectures": ["Qwen3MoeForCausalLM"], "num_experts": 16, "moe_intermediate_size": 32, )";
  CHECK(routed_layers(read(small_with(qwen + R"("num_experts_per_tok": 2, "decoder_sparse_step": 2)"))) == 2);
  CHECK(routed_layers(read(small_with(qwen + R"("num_experts_per_tok": 2, "mlp_only_layers": [0])"))) == 3);
  CHECK(errors_of(small_with(qwen + R"("num_experts_per_tok": 17)")).size() == 1);
  const std::string deepseek =
      R"("architectures": ["DeepseekV3ForCausalLM"], "n_routed_experts": 16, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, "n_shared_experts": 3, "kv_lora_rank": 16, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8,
      "v_head_dim": 8, "q_lora_rank": null, )";
  const ModelSpec model = read(small_with(deepseek + R"("first_k_dense_replace": 1)"));
  CHECK(routed_layers(model) == 3);
  CHECK(model.groups.back().feed_forward.shared_width == 96);
  CHECK(std::get<LatentAttention>(model.groups.back().mixer).q_rank == 0);
  CHECK(routed_layers(read(small_with(deepseek + R"("moe_layer_freq": 2)"))) == 2);
}

TEST_CASE("a text model nested beside a vision model is read from its own keys") {
  const YamlNode root = parsed(R"({"architectures": ["Gemma3ForConditionalGeneration"], "torch_dtype": "bfloat16",
    "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024},
    "vision_config": {"hidden_size": 1152}})");
  const ModelSpec model = read(root);
  CHECK(model.hidden == 2560);
  CHECK(model.groups.front().softmax().heads == 8);  // Gemma3TextConfig's own
  CHECK(model.tied_embeddings);
  CHECK(errors_of(parsed(R"({"architectures": ["Gemma3ForConditionalGeneration"], "text_config": 5})")).size() == 1);
}

TEST_CASE("a model too large to count is refused") {
  CHECK(errors_of(small_with(R"("hidden_size": 8000000, "intermediate_size": 10000000, "num_hidden_layers": 10000)"))
            .size() == 1);
}

TEST_CASE("whatever stands in a key, reading ends with a model or with errors") {
  const char* const values[] = {"0",    "-1", "1.5",   "1e400", "99999999999999999999", "\"\"", "\"x\"", "null",
                                "true", "[]", "[[1]]", "{}"};
  for (const char* name : {"deepseek-v3", "gemma-3-4b", "gpt-oss-20b", "opt-13b", "qwen1.5-moe-a2.7b", "smollm3-3b"}) {
    Diagnostics reading;
    const YamlNode whole = read_yaml_file(std::string("models/catalog/") + name + ".json", reading);
    for (const auto& entry : whole.entries)
      for (const char* value : values) {
        CAPTURE(name);
        CAPTURE(entry.key);
        CAPTURE(value);
        YamlNode changed = whole;
        changed.set(entry.key, parsed(std::string("{\"x\": ") + value + "}").entries.front().value);
        Diagnostics diagnostics;
        const auto model = read_hf_config(changed, "changed", diagnostics);
        CHECK(model.has_value() != diagnostics.has_errors());
        if (model) CHECK(parameters(*model) > 0);
      }
  }
}
