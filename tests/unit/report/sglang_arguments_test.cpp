// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sglang_arguments.hpp"

#include <doctest/doctest.h>

namespace llmscape::cli {
namespace {

std::string text_at(const YamlNode& node, std::string_view key) {
  const YamlNode* found = node.find(key);
  return found ? found->text : "";
}

}  // namespace

TEST_CASE("arguments of SGLang's server: formats, engine and batcher") {
  std::vector<std::string> notes;
  const SglangArguments read = read_sglang_arguments({{"quantization", "fp8"},
                                                      {"kv_cache_dtype", "fp8_e4m3"},
                                                      {"dtype", "auto"},
                                                      {"stream_interval", "10"},
                                                      {"page_size", "64"},
                                                      {"tp_size", "2"},
                                                      {"disable_overlap_schedule", "True"},
                                                      {"disable_cuda_graph", "True"},
                                                      {"disable_radix_cache", "False"},
                                                      {"schedule_policy", "fcfs"}},
                                                     notes);
  CHECK(notes.empty());
  CHECK(text_at(read.formats, "weights") == "fp8");
  CHECK(text_at(read.formats, "kv") == "fp8");
  CHECK(text_at(read.formats, "activations").empty());
  CHECK(text_at(*read.serving.find("engine"), "stream_interval") == "10");
  CHECK(text_at(read.serving, "block_size") == "64");
  CHECK(text_at(read.serving, "cuda_graphs") == "false");
  CHECK(text_at(*read.serving.find("batcher"), "overlap_schedule") == "false");
  CHECK(text_at(*read.serving.find("batcher"), "radix_cache").empty());
  CHECK(read.devices == 2);
}

TEST_CASE("arguments of SGLang's server that change a time and are not read are told") {
  std::vector<std::string> notes;
  read_sglang_arguments({{"schedule_policy", "lof"}, {"quantization", "w8a8_int8"}, {"speculative_algorithm", "None"}},
                        notes);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "no number format is known for quantization 'w8a8_int8': the model's own is kept");
  CHECK(notes[1] == "not modelled and left out: schedule_policy lof");
}

TEST_CASE("chunked_prefill_size -1 of SGLang's: prompts are cut where max_prefill_tokens ends a step") {
  for (const auto& [most, size] : {std::pair("None", "16384"), std::pair("40000", "40000")}) {
    std::vector<std::string> notes;
    const auto read = read_sglang_arguments({{"chunked_prefill_size", "-1"}, {"max_prefill_tokens", most}}, notes);
    CHECK(text_at(*read.serving.find("batcher"), "chunked_prefill_size") == size);
    REQUIRE(!notes.empty());
    CHECK(notes[0].find("-1 does not cut prompts") != std::string::npos);
  }
}

TEST_CASE("dp_size counts replicas of SGLang's, and with attention in ranks those within tp_size devices") {
  std::vector<std::string> notes;
  const SglangArguments replicas = read_sglang_arguments({{"tp_size", "2"}, {"dp_size", "2"}}, notes);
  CHECK(replicas.devices == 4);
  CHECK(text_at(replicas.serving, "tensor_parallel") == "2");
  CHECK(text_at(replicas.serving, "data_parallel").empty());
  CHECK(text_at(replicas.serving, "router") == "round_robin");
  const SglangArguments ranks =
      read_sglang_arguments({{"tp_size", "8"}, {"dp_size", "4"}, {"enable_dp_attention", "True"}}, notes);
  CHECK(ranks.devices == 8);
  CHECK(text_at(ranks.serving, "tensor_parallel") == "2");
  CHECK(text_at(ranks.serving, "data_parallel") == "4");
  CHECK(notes.empty());
}

}  // namespace llmscape::cli
