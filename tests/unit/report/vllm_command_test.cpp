// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/vllm_command.hpp"

#include <doctest/doctest.h>

#include "models/catalog.hpp"
#include "sim/cli/hugging_face_name.hpp"
#include "sim/cli/model_formats.hpp"

#include <tuple>

namespace llmscape::cli {
namespace {

std::string value(const VllmCommand& command, std::string_view key) {
  const YamlNode* found = command.serving.find(key);
  return found ? found->text : "";
}

}  // namespace

TEST_CASE("names of Hugging Face find their entry of the catalogue") {
  const std::vector<std::string> catalogue = models::model_names("models/catalog");
  const std::vector<std::pair<std::string, std::string>> names = {
      {"meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"},
      {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5-coder-7b"},
      {"Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"},
      {"google/gemma-2-9b-it", "gemma-2-9b"},
      {"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"},
      {"openai/gpt-oss-20b", "gpt-oss-20b"},
      {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b"},
      {"llama-3.1-8b", "llama-3.1-8b"},
      {"acme/unheard-of", ""},
  };
  for (const auto& [theirs, ours] : names) CHECK(catalogue_model(theirs, catalogue) == ours);
}

TEST_CASE("a version that the entry of the catalogue is not of is said, with what may differ") {
  CHECK(version_note("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b") ==
        "v0.3 of 'mistralai/Mistral-7B-Instruct-v0.3' is taken for the mistral-7b of the catalogue: 32768 tokens at "
        "most, a "
        "window of 4096; where its config.json says otherwise, name that with --model");
  CHECK(version_note("Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "qwen3-30b-a3b")
            .starts_with(
                "2507 of 'Qwen/Qwen3-30B-A3B-Instruct-2507-FP8' is taken for the qwen3-30b-a3b of the catalogue: 40960 "
                "tokens at most, no window"));
  for (const auto& [theirs, ours] :
       std::vector<std::pair<std::string, std::string>>{{"mistralai/Mistral-7B-Instruct-v0.1", "mistral-7b"},
                                                        {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b"},
                                                        {"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"},
                                                        {"Qwen/Qwen2.5-1.5B-Instruct", "qwen2.5-1.5b"},
                                                        {"meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"}})
    CHECK_MESSAGE(version_note(theirs, ours).empty(), theirs);
}

TEST_CASE("without chunked prefill a step holds the longest prompt") {
  const auto tokens = [](const std::string& flags, std::size_t assumed) {
    Diagnostics diagnostics;
    const auto command =
        read_vllm_command("vllm serve m --no-enable-chunked-prefill " + flags, VllmBatchDefaults(), diagnostics);
    REQUIRE(command);
    CHECK(command->sections.assumed.size() == assumed);
    return command->serving.find("batcher")->find("max_num_batched_tokens")->text;
  };
  CHECK(tokens("--max-model-len 32k", 0) == "32000");
  CHECK(tokens("--max-model-len 4096", 0) == "8192");
  CHECK(tokens("--max-model-len 32k --max-num-batched-tokens 16384", 0) == "16384");
  CHECK(tokens("", 1) == "8192");
}

TEST_CASE("a share may begin with its point") {
  Diagnostics diagnostics;
  const auto command = read_vllm_command("vllm serve m --gpu-memory-utilization .85", VllmBatchDefaults(), diagnostics);
  REQUIRE(command);
  CHECK(value(*command, "gpu_memory_utilization") == "0.85");
  CHECK_FALSE(read_vllm_command("vllm serve m --gpu-memory-utilization .", VllmBatchDefaults(), diagnostics));
}

TEST_CASE("which formats does the name of a checkpoint say?") {
  const std::vector<std::tuple<std::string, std::string, std::string>> names = {
      {"Qwen/Qwen3-32B-FP8", "fp8_block", ""},
      {"nvidia/Llama-3.1-70B-Instruct-FP8", "fp8", ""},
      {"nvidia/Qwen3-235B-A22B-NVFP4", "nvfp4", ""},
      {"hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "int4", ""},
      {"Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8", "int8", ""},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "int8", "int8"},
      {"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "int4", ""},
      {"meta-llama/Llama-3.1-8B-Instruct", "", ""},
  };
  const std::vector<std::string> catalogue = models::model_names("models/catalog");
  for (const auto& [name, weights, activations] : names) {
    CAPTURE(name);
    CHECK(formats_in_name(name).weights == weights);
    CHECK(formats_in_name(name).activations == activations);
    CHECK_FALSE(catalogue_model(name, catalogue).empty());
  }
}

TEST_CASE("hidden states of 32 bits have weights and KV entries of 32, where nothing quantises them") {
  const auto widened = [](const std::string& model, const std::string& key, const std::string& weights = "") {
    YamlNode formats = YamlNode::mapping({});
    formats.set("activations", YamlNode::scalar("fp32"));
    if (!weights.empty()) formats.set("weights", YamlNode::scalar(weights));
    Diagnostics diagnostics;
    widen_to_hidden_states(formats, "models/catalog/" + model + ".json", diagnostics);
    CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
    const YamlNode* found = formats.find(key);
    return found ? found->text : "";
  };
  CHECK(widened("llama-3.1-8b", "weights") == "fp32");
  CHECK(widened("llama-3.1-8b", "kv") == "fp32");
  CHECK(widened("llama-3.1-8b", "weights", "bf16") == "fp32");  // as a checkpoint is named
  CHECK(widened("llama-3.1-8b", "weights", "fp8") == "fp8");
  CHECK(widened("gpt-oss-20b", "weights").empty());
  CHECK(widened("gpt-oss-20b", "kv") == "fp32");
}

TEST_CASE("k is a thousand tokens and K 1,024, as vLLM reads them; what is no number is refused") {
  for (const auto& [text, tokens] :
       {std::pair("8192", "8192"), std::pair("32k", "32000"), std::pair("32K", "32768"), std::pair("25.6k", "25600")}) {
    Diagnostics diagnostics;
    const auto command = read_vllm_command("vllm serve m --max-model-len " + std::string(text), {}, diagnostics);
    REQUIRE(command);
    CHECK(value(*command, "max_model_len") == tokens);
  }
  for (const char* wrong : {"--max-model-len 1.5", "--max-model-len 99999999999999999999", "-tp 0",
                            "-tp 99999999999999999999", "--gpu-memory-utilization nan", "--max-num-seqs"}) {
    CAPTURE(std::string(wrong));
    Diagnostics diagnostics;
    CHECK_FALSE(read_vllm_command("vllm serve m " + std::string(wrong), {}, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

TEST_CASE("are data-parallel ranks kept, with and without expert parallelism?") {
  Diagnostics diagnostics;
  const auto dense = read_vllm_command("vllm serve m -tp 2 -pp 2 -dp 3", {}, diagnostics);
  REQUIRE(dense);
  CHECK(dense->devices == 12);
  CHECK(value(*dense, "pipeline_batches") == "2");  // one in each stage
  CHECK(value(*dense, "data_parallel") == "3");
  CHECK(value(*dense, "expert_parallel").empty());
  const auto routed = read_vllm_command("vllm serve m -tp 2 -dp 4 --enable-expert-parallel", {}, diagnostics);
  REQUIRE(routed);
  CHECK(routed->devices == 8);
  CHECK(value(*routed, "data_parallel") == "4");
  CHECK(value(*routed, "pipeline_batches").empty());
  CHECK(value(*routed, "expert_parallel") == "8");
}

TEST_CASE("quotes, broken lines and environment variables are read as a shell reads them") {
  Diagnostics diagnostics;
  const auto command =
      read_vllm_command("VLLM_USE_V1=1 vllm serve \\\n  'org/a model' \\\n  --port=80", {}, diagnostics);
  REQUIRE(command);
  CHECK(command->model == "org/a model");
  CHECK(diagnostics.sorted().empty());
}

TEST_CASE("a quote that never closes is pointed at, and one behind a backslash is a letter") {
  Diagnostics diagnostics;
  CHECK_FALSE(read_vllm_command("vllm serve m --download-dir /data/it's -tp 2", {}, diagnostics));
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.sorted()[0].where.column == 37);
  CHECK(diagnostics.sorted()[0].message == "the quote ' is never closed");
  Diagnostics fine;
  const auto command =
      read_vllm_command(R"(vllm serve m --download-dir /data/it\'s --speculative-config "{\"method\": \"ngram\", )"
                        R"(\"num_speculative_tokens\": 3}" -tp 2)",
                        {}, fine);
  REQUIRE_MESSAGE(command, fine.text(false));
  CHECK(value(*command, "tensor_parallel") == "2");
  CHECK(command->serving.find("speculation")->find("tokens")->text == "3");
}

TEST_CASE("an unknown flag before the model leaves it, where no other word is one") {
  for (const char* line :
       {"vllm serve --enable-prompt-tokens-details org/m", "vllm serve --frobnicate 7 --enable-it org/m -tp 2",
        "vllm serve --frobnicate 7 org/m", "vllm serve --frobnicate 7 --model org/m"}) {
    CAPTURE(std::string(line));
    Diagnostics diagnostics;
    const auto command = read_vllm_command(line, {}, diagnostics);
    REQUIRE_MESSAGE(command, diagnostics.text(false));
    CHECK(command->model == "org/m");
  }
  Diagnostics diagnostics;
  const auto guessed = read_vllm_command("vllm serve --enable-it org/m", {}, diagnostics);
  CHECK(guessed->sections.assumed ==
        std::vector<std::string>{"'org/m', which stands behind a flag that is not known, is the model"});
}

TEST_CASE("a switch may be turned off by its opposite") {
  Diagnostics diagnostics;
  const auto command = read_vllm_command(
      "vllm serve m --no-enforce-eager --no-enable-lora --no-trust-remote-code --no-enable-expert-parallel", {},
      diagnostics);
  REQUIRE(command);
  CHECK(diagnostics.text(false) == "");
  CHECK(value(*command, "cuda_graphs") == "true");
  CHECK_FALSE(command->serving.find("lora"));
  CHECK(read_vllm_command("vllm serve m --no-max-num-seqs 4", {}, diagnostics));
  CHECK(diagnostics.text(false).find("'--no-max-num-seqs' is not modelled") != std::string::npos);
}

TEST_CASE("a flag that is set to False is off, as vLLM before 0.9 took it") {
  const auto said = [](const std::string& flags, const char* key) {
    Diagnostics diagnostics;
    const auto command = read_vllm_command("vllm serve m " + flags, {}, diagnostics);
    REQUIRE(command);
    CHECK(diagnostics.sorted().empty());
    const YamlNode* batcher = command->serving.find("batcher");
    const YamlNode* found = batcher->find(key) ? batcher->find(key) : command->serving.find(key);
    return found ? found->text : "";
  };
  for (const char* off : {"=False", "=false", "=0", " False"}) {
    CAPTURE(std::string(off));
    CHECK(said("--enable-chunked-prefill" + std::string(off), "chunked_prefill") == "false");
    CHECK(said("--enable-prefix-caching" + std::string(off) + " -tp 2", "enable_prefix_caching") == "false");
    CHECK(said("--no-enable-prefix-caching" + std::string(off), "enable_prefix_caching") == "true");
    CHECK(said("--enforce-eager" + std::string(off), "cuda_graphs") == "true");
    CHECK(said("-tp 2 --enable-expert-parallel" + std::string(off), "expert_parallel").empty());
    CHECK(said("--trust-remote-code" + std::string(off), "chunked_prefill").empty());
  }
  CHECK(said("--enable-chunked-prefill=True", "chunked_prefill") == "true");
  CHECK(said("--enforce-eager", "cuda_graphs") == "false");
  Diagnostics diagnostics;
  CHECK_FALSE(read_vllm_command("vllm serve m --enforce-eager=maybe", {}, diagnostics));
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.sorted()[0].where.column == 14);
}

TEST_CASE("an unknown flag is pointed at and takes its value with it") {
  Diagnostics diagnostics;
  const auto command = read_vllm_command("vllm serve m --enable-eplb --eplb-config 4 -tp 2", {}, diagnostics);
  REQUIRE(command);
  CHECK(value(*command, "tensor_parallel") == "2");
  const auto warnings = diagnostics.sorted();
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].where.column == 14);
  CHECK(warnings[1].where.column == 28);
}

// 79.1 GiB of an H100 are 84.9e9 B; 44.5 GiB of an L40S 47.8e9 B. 8,192 tokens are enough for 910 sequences of 9.
TEST_CASE("steps are as large as vLLM makes them on the device, where the command does not say") {
  CHECK(vllm_batch_defaults("h100-sxm NVIDIA H100 SXM5 80 GB (Hopper)", Bytes(84.9e9)).max_num_batched_tokens == 8192);
  CHECK(vllm_batch_defaults("h100-sxm NVIDIA H100 SXM5 80 GB (Hopper)", Bytes(84.9e9)).max_num_seqs == 1024);
  for (const auto& [name, bytes] : {std::pair("a100-80 NVIDIA A100 SXM4 80 GB", 85.1e9), std::pair("l40s", 47.8e9)}) {
    CHECK(vllm_batch_defaults(name, Bytes(bytes)).max_num_batched_tokens == 2048);
    CHECK(vllm_batch_defaults(name, Bytes(bytes)).max_num_seqs == 256);
  }
  const auto sizes = [](const std::string& flags, const VllmBatchDefaults& otherwise) {
    Diagnostics diagnostics;
    const auto command = read_vllm_command("vllm serve m" + flags, otherwise, diagnostics);
    REQUIRE_MESSAGE(command, diagnostics.text(false));
    const YamlNode& batcher = *command->serving.find("batcher");
    return std::pair(batcher.find("max_num_batched_tokens")->text, batcher.find("max_num_seqs")->text);
  };
  using Sizes = std::pair<std::string, std::string>;
  CHECK(sizes("", {2048, 256}) == Sizes("2048", "256"));
  CHECK(sizes("", {8192, 1024}) == Sizes("8192", "1024"));
  CHECK(sizes(" --max-num-batched-tokens 512", {8192, 1024}) == Sizes("512", "512"));
  CHECK(sizes(" --max-num-seqs 64", {2048, 256}) == Sizes("2048", "64"));
  CHECK(sizes(" --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 8}'", {8192, 1024}) ==
        Sizes("8192", "910"));
}

TEST_CASE("a flag of several values is no second model, an image names its version, the environment is told of") {
  Diagnostics diagnostics;
  const auto command = read_vllm_command(
      "docker run -e VLLM_USE_V1=0 vllm/vllm-openai:v0.11.2 m --served-model-name a b --cudagraph-capture-sizes 1 2 4 "
      "-tp 2",
      {}, diagnostics);
  REQUIRE(command);
  CHECK(command->model == "m");
  CHECK(command->serving.find("tensor_parallel")->text == "2");
  CHECK(command->serving.find("engine")->find("name")->text == "vllm");
  CHECK(command->serving.find("engine")->find("version")->text == "0.11.2");
  CHECK(diagnostics.text(false).find("'VLLM_USE_V1=0' is not modelled and was left out") != std::string::npos);
}

TEST_CASE("graphs are those that vLLM's compilation captures, unless it runs eagerly") {
  const auto graphs = [](const std::string& flags) {
    Diagnostics diagnostics;
    const auto command = read_vllm_command("vllm serve m " + flags, {}, diagnostics);
    REQUIRE_MESSAGE(command, diagnostics.text(false));
    return std::pair(value(*command, "cuda_graphs"), diagnostics.text(false));
  };
  for (const auto& [theirs, ours] :
       std::vector<std::pair<std::string, std::string>>{{"\"NONE\"", "none"},
                                                        {"\"PIECEWISE\"", "piecewise"},
                                                        {"\"FULL\"", "full"},
                                                        {"\"full_decode_only\"", "full"},
                                                        {"\"FULL_AND_PIECEWISE\"", "full_and_piecewise"},
                                                        {"[2, 1]", "full_and_piecewise"},
                                                        {"null", ""}})
    CHECK(graphs("--compilation-config '{\"cudagraph_mode\": " + theirs + "}'") == std::pair(ours, std::string()));
  CHECK(graphs("--compilation-config.cudagraph_mode FULL") == std::pair(std::string("full"), std::string()));
  CHECK(graphs("--enforce-eager -cc '{\"cudagraph_mode\": \"FULL\"}'").first == "false");
  const auto [unknown, said] = graphs("-cc '{\"cudagraph_mode\": \"ALL\", \"level\": 3}'");
  CHECK(unknown.empty());
  CHECK(said.find("there is no cudagraph_mode '\"ALL\"'") != std::string::npos);
  Diagnostics diagnostics;
  const auto more = read_vllm_command("vllm serve m -cc '{\"level\": 3}'", {}, diagnostics);
  REQUIRE(more);
  CHECK(more->sections.assumed.back() == "of --compilation-config its graphs alone are read, not level");
  CHECK(graphs("--compilation-config 3").second.find("only the JSON of '--compilation-config' is read") !=
        std::string::npos);
}

}  // namespace llmscape::cli
