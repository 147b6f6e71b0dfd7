// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu.hpp"
#include "hardware_fixtures.hpp"

#include <array>

namespace llmscape::hardware {
namespace {

const models::Format kSingle{"fp32", 4, 0, 0};

Cpu catalog_cpu() { return dynamic_cast<const Cpu&>(*catalog_device("cpu-epyc-vm")); }

TEST_CASE("one thread's products of 2,048 x 2,048 come within 15 % of what oneDNN took") {
  const Cpu cpu = catalog_cpu();
  const std::array<std::pair<std::int64_t, double>, 5> measured = {
      {{1, 0.56}, {4, 0.50}, {16, 1.03}, {64, 2.68}, {256, 9.5}}};
  for (const auto& [rows, milliseconds] : measured) {
    CAPTURE(rows);
    const Seconds time = cpu.product_cost({rows, 2048, 2048, kSingle, kSingle}).time;
    CHECK(time.si() * 1e3 == doctest::Approx(milliseconds).epsilon(0.15));
  }
}

TEST_CASE("threads share the bandwidth and multiply the rate") {
  Cpu cpu = catalog_cpu();
  const models::Gemm few{1, 2048, 2048, kSingle, kSingle}, many{256, 2048, 2048, kSingle, kSingle};
  const Seconds one_few = cpu.product_cost(few).time, one_many = cpu.product_cost(many).time;
  cpu.threads = 2;
  CHECK(cpu.product_cost(few).time == one_few);
  CHECK(cpu.product_cost(many).time.si() == doctest::Approx(one_many.si() / 2));
}

TEST_CASE("a decode step on a CPU reads the weights at its bandwidth") {
  const auto cpu = catalog_device("cpu-epyc-vm");
  models::ModelSpec model = llama_1b();
  const std::array attended = {equal_contexts(1, 16)};
  models::Batch batch;
  batch.decodes = 1;
  batch.attended = attended;
  const StepCost cost = cpu->bind(model, {}, {})->step(batch);
  // 1.2358e9 parameters of 2 bytes at 30 GB/s are 82.4 ms, but a row and 12 of overhead are 136 ms of work.
  CHECK(cost.device.si() == doctest::Approx(2 * 13 * 1.2358e9 / 236e9).epsilon(0.03));
}

TEST_CASE("a CPU refuses to be one of several") {
  const auto cpu = catalog_device("cpu-epyc-vm");
  CHECK(cpu->problems(llama_1b(), {}).empty());
  CHECK(cpu->problems(llama_1b(), {2, 1, 1, 1}).size() == 1);
}

}  // namespace
}  // namespace llmscape::hardware
