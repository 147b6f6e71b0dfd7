// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <array>
#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

const models::Format kSingle{"fp32", 4, 0, 0};

// A processor of round numbers.
Cpu plain_cpu() {
  Cpu cpu = dynamic_cast<const Cpu&>(*catalog_device("cpu-epyc-vm"));
  cpu.products = {{}, FlopsPerSecond(100e9), 5, BytesPerSecond(10e9), Seconds(1e-6)};
  const CpuAttention attention{{}, FlopsPerSecond(100e9), Seconds(1e-9), BytesPerSecond(10e9), Seconds(1e-6)};
  cpu.prefill_attention = cpu.decode_attention = attention;
  return cpu;
}

models::DecodeAttention decodes(std::int64_t sequences, std::int64_t context, int heads, int kv_heads) {
  models::DecodeAttention a;
  a.sequences = sequences;
  a.attended = {sequences * context, context};
  a.heads = heads;
  a.kv_heads = kv_heads;
  a.head_dim = 64;
  a.kv = kSingle;
  return a;
}

TEST_CASE("a product of few rows reads its weights, one of many computes, and each is launched") {
  const Cpu cpu = plain_cpu();
  // 1,000 x 1,000 weights are 400 us of reading; a row is 2e6 FLOP, 20 us, and five of them are computed meanwhile.
  const auto time = [&](std::int64_t rows) {
    return product_cost(cpu.products, 1, {rows, 1000, 1000, kSingle, kSingle}).time.si();
  };
  const auto reading = [](double rows) { return (4e6 + rows * 8000) / 10e9; };
  CHECK(time(1) == approx(1e-6 + reading(1)));
  CHECK(time(5) == approx(1e-6 + reading(5)));
  CHECK(time(8) == approx(1e-6 + reading(8) + 3 * 20e-6));
  CHECK(time(1000) == approx(1e-6 + reading(1000) + 995 * 20e-6));
}

TEST_CASE("threads share the bandwidth and multiply the rate") {
  Cpu cpu = plain_cpu();
  cpu.products.launch = Seconds();
  const auto time = [&](std::int64_t threads, std::int64_t rows) {
    return product_cost(cpu.products, threads, {rows, 2048, 2048, kSingle, kSingle}).time.si();
  };
  CHECK(time(2, 1) == approx(time(1, 1)).epsilon(0.01));
  const double reading = time(1, 1);
  CHECK(time(2, 10000) - reading == approx((time(1, 10000) - reading) / 2).epsilon(0.03));
}

TEST_CASE("a decode pays for keys and values, a tile of four rows at least, and the softmax of the rows it has") {
  const Cpu cpu = plain_cpu();
  const auto time = [&](int heads) { return attention_cost(cpu.decode_attention, 1, decodes(2, 992, heads, 1)).time; };
  // 992 entries of 512 bytes, and 8 more keys to fill half a block; 256 FLOP for each of four rows.
  const double reading = 992 * 512 / 10e9, dots = 1000 * 4 * 256 / 100e9, softmax = 1000 * 1e-9;
  CHECK(time(1).si() == approx(2 * (1e-6 + reading + dots + softmax)));
  CHECK(time(4).si() == approx(2 * (1e-6 + reading + dots + 4 * softmax)));
  CHECK(time(16).si() == approx(2 * (2e-6 + reading + 4 * dots + 16 * softmax)));
}

TEST_CASE("chunks of a prompt compute the same pairs, but each reads the keys before it again") {
  const Cpu cpu = plain_cpu();
  models::PrefillAttention whole, halves;
  whole.heads = halves.heads = 12;
  whole.kv_heads = halves.kv_heads = 1;
  whole.head_dim = halves.head_dim = 64;
  whole.kv = halves.kv = kSingle;
  whole.chunks = {{512, 0, true}};
  halves.chunks = {{256, 0, false}, {256, 256, true}};
  const KernelCost one = attention_cost(cpu.prefill_attention, 1, whole);
  const KernelCost two = attention_cost(cpu.prefill_attention, 1, halves);
  CHECK(one.flops == two.flops);
  CHECK((two.bytes - one.bytes).si() == 256 * 512);
  CHECK((two.time - one.time).si() == approx(256 * 512 / 10e9).epsilon(1e-6));
}

TEST_CASE("a decode step on a CPU reads the weights at its bandwidth") {
  const Cpu cpu = plain_cpu();
  models::ModelSpec model = llama_1b();
  const std::array attended = {equal_contexts(1, 16)};
  models::Batch batch;
  batch.decodes = 1;
  batch.attended = attended;
  const StepCost cost = cpu.bind(model, {}, {})->step(batch);
  // 1.2358e9 parameters of 2 bytes at 10 GB/s.
  CHECK(cost.device.si() == approx(2 * 1.2358e9 / 10e9).epsilon(0.03));
}

TEST_CASE("a CPU refuses to be one of several") {
  const auto cpu = catalog_device("cpu-epyc-vm");
  CHECK(cpu->problems(llama_1b(), {}).empty());
  CHECK(cpu->problems(llama_1b(), {2, 1, 1, 1}).size() == 1);
}

}  // namespace
}  // namespace llmscape::hardware
