// SPDX-License-Identifier: Apache-2.0
// What a child of a sweep remembers from the points that it ran before does not show in the next one.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/process_pool.hpp"
#include "sim/explore/sweep.hpp"
#include "tests/cli/scratch.hpp"

using namespace llmscape;
using namespace llmscape::explore;

namespace {

// Axes of which some change the device or the engine and some only what arrives.
constexpr const char* kPlan =
    "schema: sweep/1\n"
    "base:\n"
    "  schema: scenario/1\n"
    "  model: qwen2.5-1.5b\n"
    "  hardware: {devices: [{name: gpu, preset: l4, count: 1}]}\n"
    "  serving: {batcher: {policy: vllm_v1, max_num_seqs: 16}}\n"
    "  workload: {preset: chat-1k, requests: 12}\n"
    "axes:\n"
    "  workload.arrivals.rate: [1 /s, 20 /s]\n"
    "  hardware.devices[gpu].count: [1, 2]\n"
    "  hardware.devices[gpu].hbm_bandwidth: [300 GB/s, 400 GB/s]\n"
    "  serving.batcher.max_num_seqs: [4, 16]\n"
    "  workload.tokens: [text, random]\n";

std::string of_child(const std::function<std::string()>& work) {
  const auto outcome = in_child<std::string>(work);
  REQUIRE_MESSAGE(outcome.answer, outcome.error);
  return *outcome.answer;
}

}  // namespace

TEST_CASE("points that run one after the other have the bytes of points that run alone") {
  llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  const auto plan = load_plan(scratch.file("plan.yaml", kPlan), {}, diagnostics);
  REQUIRE_MESSAGE(plan, diagnostics.text(false));
  const scenario::Catalogs alone = {"models/catalog", "hardware/catalog", "workloads/catalog"};
  scenario::Catalogs remembering = alone;
  remembering.remembered = std::make_shared<scenario::Catalogs::Remembered>();
  std::string each, in_turn;
  for (std::uint64_t i = 0; i < plan->size(); ++i)
    each += of_child([&] { return run_point(*plan, *plan->point(i), "", alone); });
  in_turn = of_child([&] {
    std::string all;
    for (std::uint64_t i = 0; i < plan->size(); ++i) all += run_point(*plan, *plan->point(i), "", remembering);
    return all;
  });
  CHECK(plan->size() == 32);
  CHECK(each == in_turn);
}
