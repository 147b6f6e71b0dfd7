// SPDX-License-Identifier: Apache-2.0
// In which number formats a model is computed, by what is asked for and what the device multiplies; and what else a
// table says that a fit did not: the tail of unequal contexts, one server's slow ring.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hardware/gpu/fitted_range.hpp"
#include "hardware/precision.hpp"
#include "models/expert_coverage.hpp"
#include "models/memory.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

namespace precision_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

const models::Format kBf16{}, kFp8{"fp8", 1};

// One call of 8,192 prompt tokens and two tokens of answer.
std::string prompt_on(const std::string& device, const std::string& model, int devices = 1) {
  const std::string count = std::to_string(devices);
  return "schema: scenario/1\nmodel: {" + model + "}\nhardware: {devices: [{preset: " + device + ", count: " + count +
         "}]}\nserving: {tensor_parallel: " + count +
         ", max_model_len: 8200, batcher: {policy: vllm_v1, max_num_batched_tokens: 8192}}\n"
         "workload: {requests: 1, arrivals: {kind: closed_loop, users: 1}, stream: {kind: lengths, prompt: {kind: "
         "fixed, value: 8192}, output: {kind: fixed, value: 2}}}\n";
}

double gemm_seconds(const result::RunResult& result) {
  for (const auto& family : result.breakdown.steps.at(0).families)
    if (family.name == "gemm") return family.seconds;
  return 0;
}

}  // namespace

TEST_CASE("run.json has the format of attention and of its output, as the summary prints them") {
  const auto run =
      run_on_event_queue(*scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: fp8, attention: bf16")));
  const auto json = nlohmann::json::parse(result::to_json(run))["precision"][0];
  CHECK(json["weights"] == "fp8");
  CHECK(json["attention"] == "bf16");
  CHECK(json["attention_output"] == "bf16");
}

TEST_CASE("a format of experts has no effect on a dense model, and that is said") {
  const auto warned = [](const std::string& model) {
    const auto scenario = scenario_of(prompt_on("h100-sxm", model + ", experts: mxfp4"));
    return std::ranges::count(scenario->warnings, "model.experts has no effect: llama-3.1-8b has no routed experts");
  };
  CHECK(warned("preset: llama-3.1-8b") == 1);
  CHECK(warned("preset: gpt-oss-20b") == 0);
  const auto run = run_on_event_queue(*scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, experts: mxfp4")));
  CHECK(run.precision.at(0).experts == "bf16");
}

TEST_CASE("what are quantised weights multiplied with, on which device?") {
  struct Row {
    const char *device, *model, *activations;
    bool emulated;
    int devices = 1;
  };
  const Row rows[] = {
      {"h100-sxm", "preset: llama-3.1-8b, weights: fp8", "fp8", false},  // W8A8 from Ada and Hopper on
      {"l40s", "preset: llama-3.1-8b, weights: fp8", "fp8", false},
      {"a100-80", "preset: llama-3.1-8b, weights: fp8", "bf16", true},     // Marlin, W8A16
      {"b200", "preset: llama-3.1-8b, weights: nvfp4", "nvfp4", false},    // W4A4
      {"h100-sxm", "preset: llama-3.1-8b, weights: nvfp4", "bf16", true},  // W4A16
      {"h100-sxm", "preset: llama-3.1-8b, weights: int4", "bf16", false},  // AWQ, GPTQ
      {"a100-80", "preset: llama-3.1-8b, weights: int8", "int8", false},   // SmoothQuant
      {"b200", "preset: gpt-oss-20b", "bf16", false},                      // the checkpoint's W4A16
      {"b200", "preset: gpt-oss-20b, activations: mxfp8", "mxfp8", false},
      {"h100-sxm", "preset: llama-3.1-8b, weights: fp8, activations: bf16", "bf16", false},  // the user's word
      {"h200", "preset: minimax-m2.5", "fp8", false, 8},                                     // the checkpoint's W8A8,
      {"a100-80", "preset: minimax-m2.5", "bf16", true, 8},                                  // where it can be had
  };
  for (const Row& row : rows) {
    CAPTURE(row.device);
    CAPTURE(row.model);
    const auto scenario = scenario_of(prompt_on(row.device, row.model, row.devices));
    REQUIRE(scenario);
    CHECK(scenario->model.precision.activations.name == row.activations);
    CHECK(scenario->warnings.empty() != row.emulated);
  }
}

TEST_CASE("attention that a scenario keeps in 16 bits is read at two bytes a weight beside fp8, and not quantised") {
  const auto all = scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: fp8"));
  const auto wide = scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: fp8, attention: bf16"));
  REQUIRE(all);
  REQUIRE(wide);
  CHECK(wide->model.precision.activations.name == "fp8");  // of the feed-forward
  CHECK(hardware::in_words(wide->model.precision) == "weights fp8, attention bf16, activations fp8, KV bf16");
  // 32 layers of 4,096 x (4,096 + 2 x 1,024) into attention and 4,096 x 4,096 out of it.
  const double weights = 32.0 * 4096 * (4096 + 2 * 1024 + 4096);
  CHECK(models::streamed_weights(wide->model).si() - models::streamed_weights(all->model).si() == weights);
  // At the peaks of an H100 2 x 8,192 x 1.34e9 flop take 11 ms longer in bf16; kernels of both reach unlike shares.
  const double more = gemm_seconds(run_on_event_queue(*wide)) - gemm_seconds(run_on_event_queue(*all));
  CHECK(more == approx(2 * 8192 * weights * (1 / 989.4e12 - 1 / 1978.9e12)).epsilon(0.2));
}

TEST_CASE("which formats are refused, because no kernel of the device runs them?") {
  CHECK(holds(mistakes(prompt_on("a100-80", "preset: llama-3.1-8b, kv: nvfp4")), "no kernels for KV in nvfp4"));
  CHECK(holds(mistakes(prompt_on("v100", "preset: llama-3.2-1b, weights: nvfp4")), "no kernels for nvfp4 weights"));
  CHECK(holds(mistakes(prompt_on("a100-80", "preset: llama-3.1-8b, weights: fp8, activations: fp8")),
              "does not multiply fp8 inputs"));
  CHECK(holds(mistakes(prompt_on("h100-sxm", "preset: llama-3.1-8b, activations: fp8")), "has no effect"));
}

TEST_CASE(
    "are fp8 weights multiplied in bf16 by other kinds of devices, too? it is stated, and narrow inputs without units "
    "are") {
  const auto told = [](const std::string& device, const std::string& formats) {
    return run_on_event_queue(*scenario_of(prompt_on(device, "preset: llama-3.2-1b" + formats)));
  };
  const auto emulated = [](const result::RunResult& result) {
    return std::ranges::any_of(result.warnings, [](const std::string& w) { return holds(w, "states no rate"); });
  };
  // A TPU v5e states 197 Tflop/s in bf16 and 393 Top/s in int8, a Gaudi 2 432 in bf16 and 865 in fp8.
  const auto weights = told("tpu-v5e", ", weights: fp8"), inputs = told("tpu-v5e", ", weights: fp8, activations: fp8"),
             integers = told("tpu-v5e", ", weights: int8, activations: int8");
  CHECK(weights.precision.at(0).words == "weights fp8, activations bf16, KV bf16");
  CHECK_FALSE(emulated(weights));
  CHECK(emulated(inputs));
  CHECK_FALSE(emulated(integers));
  CHECK(gemm_seconds(inputs) == approx(gemm_seconds(weights)).epsilon(0.01));
  // Weights of a decode (973 MB of layers, 263 MB of logits) and of the prompt's logits come at 0.75 x 819 GB/s in
  // either, and 65 operators of a step take 1 us more each.
  const double fixed = (973.1e6 + 2 * 262.7e6) / (0.75 * 819e9) + 2 * 65e-6;
  CHECK(gemm_seconds(integers) - fixed == approx((gemm_seconds(weights) - fixed) * 197 / 393).epsilon(1e-3));
  const auto gaudi = told("gaudi2", ", weights: fp8, activations: fp8");
  CHECK_FALSE(emulated(gaudi));
  CHECK_FALSE(emulated(told("gaudi3", ", weights: fp8, activations: fp8")));  // at the rate of bf16, and stated
  // A rate that is stated and not used is told; where there is none nothing is.
  const auto unused = [](const result::RunResult& result) {
    return std::ranges::any_of(result.warnings,
                               [](const std::string& w) { return holds(w, "is used with 'activations"); });
  };
  CHECK(unused(told("gaudi2", ", weights: fp8")));
  CHECK_FALSE(unused(gaudi));
  CHECK_FALSE(unused(weights));
  CHECK(unused(told("tpu-v5e", ", weights: int8")));
  CHECK(gemm_seconds(gaudi) == approx(gemm_seconds(told("gaudi2", ", weights: fp8")) * 432 / 865).epsilon(0.02));
  CHECK(emulated(told("sn40l", ", weights: fp8, activations: fp8")));
  CHECK(holds(mistakes(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: fp8, activations: int8")),
              "nothing multiplies fp8 weights with int8 inputs"));
}

TEST_CASE("how much faster is a large GEMM in fp8 than in bf16 on an H100?") {
  const hardware::Gpu gpu = hardware::catalog_gpu("h100-sxm");
  const auto seconds = [&](const models::Format& format) {
    return hardware::gemm_cost(gpu, gpu.gemm_of(format, format), {8192, 8192, 8192, format, format}).time.si();
  };
  // The table's times in fp8 are with the kernel that finds the inputs' scales: reads of two bytes, writes of one.
  REQUIRE(gpu.elementwise.scales);
  const double scales =
      hardware::scales_cost(gpu, *gpu.elementwise.scales, 8192, 8192, 8192.0 * (3 * 8192 + 4)).time.si();
  // 2 x 8192^3 = 1.0995e12 FLOP at 1,979 Tflop/s: 555.6 us at least. Timed by vLLM 0.24 (ai-dynamo/aiconfigurator @
  // 095f58a, h100_sxm, gemm): 836.1 us in fp8, 1,541.7 us in bf16.
  CHECK(seconds(kFp8) >= 555.6e-6);
  CHECK((seconds(kFp8) + scales) / seconds(kBf16) == approx(836.1 / 1541.7).epsilon(0.03));
}

TEST_CASE("is a prompt sooner answered with weights in fp8?") {
  const auto wide = run_on_event_queue(*scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b")));
  const auto narrow =
      run_on_event_queue(*scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: fp8, embeddings: bf16")));
  // 32 layers of 218.1e6 parameters, 2 x 8,192 FLOP each: 115.6 ms at 989.5 Tflop/s, 57.8 ms at 1,979.
  CHECK(gemm_seconds(wide) >= 0.1156);
  CHECK(gemm_seconds(narrow) >= 0.0578);
  CHECK(gemm_seconds(narrow) < 0.75 * gemm_seconds(wide));  // at least half of what the peaks allow
  CHECK(narrow.latency["ttft_s"]->mean < wide.latency["ttft_s"]->mean);
  CHECK(narrow.precision.at(0).words == "weights fp8, embeddings bf16, activations fp8, KV bf16");
  CHECK(narrow.extrapolated == approx(wide.extrapolated));
  // What is stated as it was anyway changes nothing.
  const auto stated = run_on_event_queue(*scenario_of(prompt_on("h100-sxm", "preset: llama-3.1-8b, weights: bf16")));
  CHECK(stated.latency["ttft_s"]->mean == wide.latency["ttft_s"]->mean);
}

TEST_CASE("does a result call a kernel fitted that nobody has timed?") {
  const auto emulated = run_on_event_queue(*scenario_of(prompt_on("a100-80", "preset: llama-3.1-8b, weights: nvfp4")));
  CHECK(emulated.extrapolated > 0.5);
  const auto says = [&](const char* part) {
    return std::ranges::any_of(emulated.warnings, [&](const std::string& text) { return holds(text, part); });
  };
  CHECK(says("W4A16"));
  CHECK(says("was not timed"));
  const auto kv = run_on_event_queue(*scenario_of(prompt_on("l4", "preset: llama-3.1-8b, kv: fp8")));
  CHECK(std::ranges::any_of(kv.warnings, [](const auto& text) { return holds(text, "KV in fp8"); }));
}

TEST_CASE("is KV in fp8 held to the range of its own kernel?") {
  hardware::Gpu gpu = hardware::catalog_gpu("h100-sxm");
  gpu.decode_attention_by_kv.at("fp8").longest_context = 1000;
  hardware::FittedRange range(gpu);
  models::DecodeAttention a;
  a.sequences = 4, a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  a.attended = {8000, 2000};
  CHECK(range.check(a));
  a.kv = kFp8;
  CHECK_FALSE(range.check(a));
}

TEST_CASE("how many experts does a step of random tokens read, against one of text?") {
  const auto run = [](const std::string& tokens) {
    return run_on_event_queue(
        *scenario_of("schema: scenario/1\nmodel: qwen3-30b-a3b\nhardware: {devices: [{preset: h100-sxm}]}\n"
                     "workload: {" +
                     tokens +
                     "requests: 16, arrivals: {kind: closed_loop, users: 16}, stream: {kind: lengths, "
                     "prompt: {kind: fixed, value: 1}, output: {kind: fixed, value: 500}}}\n"));
  };
  const auto text = run(""), random = run("tokens: random, "), skewed = run("tokens: skewed, ");
  CHECK(text.tokens_of == "text");
  CHECK(random.tokens_of == "random");
  // 16 decodes: 0.644 of 128 experts by a uniform router, 0.362 by the published coverage of text.
  CHECK(random.work.expert_bytes / text.work.expert_bytes == approx(0.644 / 0.362).epsilon(0.02));
  CHECK(skewed.work.expert_bytes < random.work.expert_bytes);
  CHECK(random.latency["tpot_s"]->mean > 1.3 * text.latency["tpot_s"]->mean);
}

TEST_CASE("how many of 128 experts do 32 tokens touch, if some are more popular?") {
  const models::ExpertCoverage skewed{models::ExpertCoverage::Law::skewed};
  // 256 rows over a range of 25.6 about evenly in logarithms: 0.264 to 6.75 an expert, (1 - 0.264 + ln 6.75) / ln 25.6.
  CHECK(models::expert_share(skewed, 128, 8, 0, 32) == approx(0.816).epsilon(2e-3));
  CHECK(models::expert_share(skewed, 128, 8, 0, 1) == approx(8.0 / 128));
  CHECK(models::expert_share(skewed, 128, 8, 0, 32) <
        models::expert_share({models::ExpertCoverage::Law::uniform}, 128, 8, 0, 32));
}

TEST_CASE("where does the key go that said how many experts are touched?") {
  const std::string old =
      "schema: scenario/1\nmodel: qwen3-30b-a3b\nhardware: {devices: [{preset: h100-sxm}]}\n"
      "serving: {expert_coverage: uniform}\nworkload: {requests: 1, arrivals: {kind: closed_loop, users: 1}, stream: "
      "{kind: lengths, prompt: {kind: fixed, value: 1}, output: {kind: fixed, value: 5}}}\n";
  CHECK(holds(mistakes(old), "workload: {tokens: random}"));
}

TEST_CASE("what does one long context among short ones cost an RTX 4090?") {
  const hardware::Gpu gpu = hardware::catalog_gpu("rtx-4090");
  models::DecodeAttention a;
  a.sequences = 64, a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  // Skew table of casys-kaist/LLMServingSim @ 5daddb2, three launches each: 56 decodes over 2,048 entries and 8 over
  // 8,192, mean 2,816: (2866.8 - 2499.6) / 3 us more than with equal ones; 63 over 1,024 and one over 4,096: 82.2 us.
  a.attended = {64 * 2816, 8192};
  CHECK(hardware::attention_tail(gpu.decode_attention, a).si() == approx(122.4e-6).epsilon(0.1));
  a.attended = {64 * 1072, 4096};
  CHECK(hardware::attention_tail(gpu.decode_attention, a).si() == approx(82.2e-6).epsilon(0.3));
}

TEST_CASE("what does an all-reduce over eight L40S cost beside one over four?") {
  const auto& links = hardware::catalog_gpu("l40s").links;
  const auto seconds = [&](int ranks) {
    return hardware::collective_time(links, {models::Collective::Kind::all_reduce, 64e6, ranks}).si();
  };
  // The same links, 2 x 7/8 of the tensor through each rank in place of 2 x 3/4.
  CHECK(seconds(8) / seconds(4) == approx((7.0 / 8) / (3.0 / 4)).epsilon(0.02));
}

}  // namespace precision_test
