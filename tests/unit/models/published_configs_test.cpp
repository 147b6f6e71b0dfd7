// SPDX-License-Identifier: Apache-2.0
// Configurations of 2024 to 2026 as their authors publish them, where the reference data lies beside the checkout.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "models/catalog.hpp"
#include "models/memory.hpp"
#include "tests/support/approx.hpp"

namespace published_configs_test {

using namespace llmscape;
using namespace llmscape::models;
using llmscape::testing::approx;
namespace fs = std::filesystem;

namespace {

fs::path folder() {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  return data ? fs::path(data) / "models" : fs::path();
}

std::optional<ModelSpec> published(const std::string& name, Diagnostics& diagnostics) {
  return load_model_file(folder() / (name + "_config.json"), diagnostics);
}

// Counted matrix by matrix and layer by layer by a script that shares nothing with this program: parameters of the
// language part without its multi-token head, those of one token (the input embedding only where it is the head), bytes
// of a token's entries at 16 bits and of a sequence's states. Gemma-4's scalar of each layer is a buffer and not
// counted.
struct Counted {
  const char* name;
  std::int64_t parameters, active, entries, states;
};
constexpr std::array kCounted = {
    Counted{"Qwen--Qwen3-0.6B", 596049920, 596049920, 114688, 0},
    Counted{"Qwen--Qwen3-8B", 8190735360, 7568405504, 147456, 0},
    Counted{"Qwen--Qwen3-30B-A3B", 30532122624, 3041867776, 98304, 0},
    Counted{"Qwen--Qwen3-Coder-480B-A35B-Instruct", 480154875392, 34541270528, 253952, 0},
    Counted{"Qwen--Qwen3-VL-4B-Instruct", 4022468096, 4022468096, 147456, 0},
    Counted{"Qwen--Qwen3-VL-235B-A22B-Instruct", 235093634560, 21568433664, 192512, 0},
    Counted{"Qwen--Qwen3.5-27B", 26895998464, 25624600064, 65536, 153944064},
    Counted{"Qwen--Qwen3.5-35B-A3B", 34660610688, 2946429568, 20480, 64389120},
    Counted{"Qwen--Qwen3.5-122B-A10B", 122111526912, 9008449536, 24576, 153649152},
    Counted{"Qwen--Qwen3.5-397B-A17B", 396346350336, 16331922176, 30720, 192061440},
    Counted{"XiaomiMiMo--MiMo-7B-Base", 7622619136, 7001337856, 147456, 0},
    Counted{"deepseek-ai--DeepSeek-V3", 671026419200, 36625618432, 70272, 0},
    Counted{"MiniMaxAI--MiniMax-M2.5", 228689764864, 10415956480, 253952, 0},
    Counted{"meta-llama--Llama-4-Scout-17B-16E-Instruct", 107769861120, 16138408960, 196608, 0},
    Counted{"meta-llama--Llama-4-Maverick-17B-128E-Instruct", 400711848960, 16150205440, 196608, 0},
    Counted{"meta-llama--Meta-Llama-3.1-70B", 70553706496, 69503033344, 327680, 0},
    Counted{"mistralai--Mixtral-8x22B-v0.1", 140620634112, 38955423744, 229376, 0},
    Counted{"moonshotai--Kimi-K2.5", 1026408232448, 31687095808, 70272, 0},
    Counted{"nvidia--Llama-3_3-Nemotron-Super-49B-v1", 49867145216, 48816472064, 200704, 0},
    Counted{"nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 31577940288, 3227754816, 6144, 49082368},
    Counted{"nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8", 120668707840, 12233366528, 8192, 170229760},
    Counted{"nvidia--NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16", 549308993536, 54985101312, 12288, 407961600},
    Counted{"nvidia--Nemotron-H-56B-Base-8K", 56324350464, 55250608640, 40960, 459620352},
    Counted{"XiaomiMiMo--MiMo-V2-Flash", 308778780864, 14820985024, 222720, 0},
    Counted{"google--gemma-4-26B-A4B", 25233141760, 3822530560, 225280, 0},
    Counted{"nvidia--Gemma-4-31B-IT-NVFP4", 30697345280, 30697345280, 901120, 0},
    Counted{"stepfun-ai--Step-3.7-Flash", 195844508736, 10347744320, 184320, 0},
    Counted{"moonshotai--Kimi-K3", 2779481795168, 104186931808, 27648, 449372160},
    Counted{"openai--gpt-oss-120b", 116829156672, 5132849472, 73728, 0},
};

}  // namespace

TEST_CASE("which of 84 published configurations are read? 77, and a sentence for each of the others") {
  if (!fs::is_directory(folder())) return;
  int read = 0, all = 0;
  for (const auto& entry : fs::directory_iterator(folder())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_config.json") || name.find("hf_quant") != std::string::npos) continue;
    ++all;
    Diagnostics diagnostics;
    if (load_model_file(entry.path(), diagnostics)) {
      ++read;
      continue;
    }
    CAPTURE(name);
    CHECK(diagnostics.errors() == 1);
    CHECK(diagnostics.text(false).find("not modelled") != std::string::npos);
  }
  CHECK(all == 84);
  CHECK(read == 77);
}

TEST_CASE("parameters, entries and states of 29 of them are what a second count says") {
  if (!fs::is_directory(folder())) return;
  for (const Counted& counted : kCounted) {
    CAPTURE(counted.name);
    Diagnostics diagnostics;
    auto model = published(counted.name, diagnostics);
    REQUIRE(model);
    CHECK(parameters(*model) == counted.parameters);
    CHECK(active_parameters(*model) == counted.active);
    model->precision.kv = Format{};
    CHECK(kv_bytes_per_token(*model) == static_cast<double>(counted.entries));
    CHECK(state_bytes_per_sequence(*model) == static_cast<double>(counted.states));
  }
}

TEST_CASE("formats stand in the configuration, in its text model or in the file beside it") {
  if (!fs::is_directory(folder())) return;
  struct Stored {
    const char *name, *weights, *experts, *kv;
    double gigabytes;  // of weights, by the second count
  };
  for (const Stored& stored : {Stored{"nvidia--Llama-3.1-70B-Instruct-FP8", "fp8", "fp8", "fp8", 72.7},
                               Stored{"nvidia--Qwen3-235B-A22B-NVFP4", "nvfp4", "nvfp4", "fp8", 134.1},
                               Stored{"nvidia--DeepSeek-V3.1-NVFP4", "nvfp4", "nvfp4", "fp8", 386.4},
                               Stored{"nvidia--Kimi-K2.6-NVFP4", "bf16", "nvfp4", "fp8", 594.2},
                               Stored{"nvidia--Qwen3.5-397B-A17B-NVFP4", "bf16", "nvfp4", "fp8", 237.0},
                               Stored{"nvidia--Qwen3.6-35B-A3B-NVFP4", "nvfp4", "nvfp4", "fp8", 20.8},
                               Stored{"Qwen--Qwen3-32B-FP8-Static-PerTensor", "fp8", "fp8", "fp8", 34.3},
                               Stored{"nvidia--Gemma-4-26B-A4B-NVFP4", "bf16", "nvfp4", "fp8", 17.6},
                               Stored{"moonshotai--Kimi-K3", "bf16", "mxfp4", "bf16", 1559.9},
                               Stored{"stepfun-ai--Step-3.7-Flash-FP8", "fp8_block", "fp8_block", "bf16", 197.0},
                               Stored{"moonshotai--Kimi-K2.5", "bf16", "int4", "bf16", 594.2}}) {
    CAPTURE(stored.name);
    Diagnostics diagnostics;
    const auto model = published(stored.name, diagnostics);
    REQUIRE(model);
    CHECK(model->precision.weights.name == stored.weights);
    CHECK(model->precision.expert_weights().name == stored.experts);
    CHECK(model->precision.kv.name() == stored.kv);
    CHECK(memory_need(*model, {}, 1, 1).weights.si() / 1e9 == approx(stored.gigabytes).epsilon(0.003));
  }
}

TEST_CASE("what a checkpoint leaves out of quantisation keeps its bytes, by layers that leave it") {
  if (!fs::is_directory(folder())) return;
  struct Stored {
    const char *name, *weights, *attention, *output, *experts;
    double attention_bytes;  // added up from the layers' widths; 0: not looked at
  };
  // Kimi: 61 x (7168 x 1536 + 1536 x 64 x 192 + 7168 x 576 + 512 x 64 x 256) into attention, 61 x 64 x 128 x 7168 out.
  // DeepSeek: twice the heads.
  for (const Stored& stored :
       {Stored{"nvidia--Kimi-K2.5-NVFP4", "nvfp4", "bf16", "bf16", "nvfp4", 2 * (61 * 42'401'792. + 61 * 58'720'256.)},
        Stored{"nvidia--Kimi-K2.6-NVFP4", "bf16", "bf16", "bf16", "nvfp4", 2 * (61 * 42'401'792. + 61 * 58'720'256.)},
        Stored{"nvidia--DeepSeek-V3.1-NVFP4", "nvfp4", "bf16", "nvfp4", "nvfp4",
               2 * 61 * 69'664'768. + 0.5625 * 61 * 117'440'512.},
        Stored{"nvidia--GLM-5-NVFP4", "nvfp4", "bf16", "bf16", "nvfp4", 0},
        Stored{"nvidia--GLM-5.1-NVFP4", "bf16", "bf16", "bf16", "nvfp4", 0},
        Stored{"nvidia--MiniMax-M2.5-NVFP4", "bf16", "bf16", "bf16", "nvfp4", 0},
        Stored{"nvidia--Gemma-4-31B-IT-NVFP4", "nvfp4", "bf16", "bf16", "nvfp4", 0},
        Stored{"nvidia--Gemma-4-26B-A4B-NVFP4", "bf16", "bf16", "bf16", "nvfp4", 0},
        Stored{"nvidia--Qwen3.6-35B-A3B-NVFP4", "nvfp4", "fp8", "fp8", "nvfp4", 0},
        Stored{"zai-org--GLM-5-FP8", "fp8_block", "fp8_block", "fp8_block", "fp8_block", 0},
        Stored{"MiniMaxAI--MiniMax-M2.5", "fp8_block", "fp8_block", "fp8_block", "fp8_block", 0}}) {
    CAPTURE(stored.name);
    Diagnostics diagnostics;
    const auto model = published(stored.name, diagnostics);
    REQUIRE(model);
    const Precision& p = model->precision;
    CHECK(p.weights.name == stored.weights);
    CHECK(p.attention_weights().name == stored.attention);
    CHECK(p.output_weights().name == stored.output);
    CHECK(p.expert_weights().name == stored.experts);
    for (const LayerGroup& group : model->groups) CHECK_FALSE((group.own_attention || group.own_dense));
    if (stored.attention_bytes == 0) continue;
    ModelSpec none = *model;  // without the attention's weights
    none.precision.attention = none.precision.attention_output = Format{"none", 0};
    const double norms = 61 * (1536. + 512.) * p.attention_weights().bytes_with_scales();
    CHECK(memory_need(*model, {}, 1, 1).weights.si() - memory_need(none, {}, 1, 1).weights.si() ==
          approx(stored.attention_bytes + norms).epsilon(1e-12));
  }
}

TEST_CASE("Nemotron-3-Nano-NVFP4 keeps all attention and six of its 23 Mamba layers in 16 bits") {
  if (!fs::is_directory(folder())) return;
  Diagnostics diagnostics;
  const auto model = published("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", diagnostics);
  REQUIRE(model);
  int attention = 0, states = 0, others = 0;
  for (const LayerGroup& group : model->groups) {
    if (group.own_attention) CHECK(group.own_attention->name == "bf16");
    if (!group.own_attention) others += has_mixer(group.mixer) ? group.count : 0;
    else (std::holds_alternative<StateLayer>(group.mixer) ? states : attention) += group.count;
  }
  CHECK(attention == 6);
  CHECK(states == 6);
  CHECK(others == 17);
}

TEST_CASE("what is read as something else is said: chunks, images") {
  if (!fs::is_directory(folder())) return;
  const std::map<std::string, std::string> said = {
      {"meta-llama--Llama-4-Scout-17B-16E-Instruct", "attention in chunks is not modelled"},
      {"moonshotai--Kimi-K3", "outputs of earlier blocks of 12 layers is not modelled"},
      {"Qwen--Qwen3-VL-8B-Instruct", "images cost nothing"},
      {"MiniMaxAI--MiniMax-M2.5", "bfloat16 is taken"}};
  for (const auto& [name, sentence] : said) {
    CAPTURE(name);
    Diagnostics diagnostics;
    CHECK(published(name, diagnostics));
    CHECK(diagnostics.text(false).find(sentence) != std::string::npos);
  }
}

TEST_CASE("GLM-5.2 scores in three layers and every fourth one after them, and shares the choice in the others") {
  if (!fs::is_directory(folder())) return;
  Diagnostics diagnostics;
  const auto model = published("zai-org--GLM-5.2", diagnostics);
  REQUIRE(model);
  int scoring = 0, all = 0;
  for (const LayerGroup& group : model->groups) {
    const auto& index = std::get<LatentAttention>(group.mixer).index;
    REQUIRE(index);
    CHECK(index->entries == 2048);
    all += group.count;
    if (index->heads > 0) scoring += group.count;
  }
  CHECK(all == 78);
  CHECK(scoring == 21);
}

}  // namespace published_configs_test
