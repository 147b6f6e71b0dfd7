// SPDX-License-Identifier: Apache-2.0
// A device known by the times of prompts and tokens: linear between its points, and loud beyond them.
#include "hardware/profile/profile_device.hpp"

#include <doctest/doctest.h>

#include "closed_form_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

std::shared_ptr<const Device> device_of(const std::string& prompts, Diagnostics& diagnostics) {
  const std::string yaml = "{kind: profile, name: p, model: llama-3.1-8b, prompts: " + prompts +
                           ", decode: {time_per_token: 25 ms, sequences: 20}, capacity: 1 TB, kv_tokens: 1000000, "
                           "idle_power: 100 W, busy_power: 1100 W}";
  return devices().read(read_yaml(std::make_shared<const SourceText>(SourceText{"inline", yaml}), diagnostics),
                        diagnostics);
}
constexpr const char* kPrompts =
    "[{tokens: 1000, time: 1 s, kv: 100 MB}, {tokens: 3000, time: 2 s, kv: 180 MB}, {tokens: 7000, time: 6 s, kv: 340 "
    "MB}]";

std::shared_ptr<const Device> profiled() {
  Diagnostics diagnostics;
  auto device = device_of(kPrompts, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return device;
}

TEST_CASE("a prompt takes the time between its neighbours, and its chunks add up to it") {
  const auto device = profiled();
  const auto steps = device->bind(llama_8b(), {}, {});
  CHECK(steps->step(Prompt(2000).batch).device.si() == approx(1.5));
  CHECK(steps->step(Prompt(3000).batch).device.si() == approx(2));
  const Seconds first = steps->step(Prompt(1500).batch).device, second = steps->step(Prompt(3500, 1500).batch).device;
  CHECK((first + second).si() == approx(4));
  CHECK(steps->range_warnings().empty());
  CHECK(as_profile(*device)->kv_bytes().at(2000) == approx(140e6));
}

TEST_CASE("all decodes take the time of a token; the energy is that above the idle device") {
  const auto steps = profiled()->bind(llama_8b(), {}, {});
  const Decodes one(1, 5000), all(20, 90000);
  CHECK(steps->step(one.batch).device.si() == approx(0.025));
  const StepCost cost = steps->step(all.batch);
  CHECK(cost.device.si() == approx(0.025));
  CHECK(total_energy(cost).si() == approx(1000 * 0.025));
  CHECK(total_time(cost).si() == approx(0.025));
  CHECK(cost.extrapolated == Seconds());
}

TEST_CASE("below a steep profile times and bytes fall in proportion to the length, not below 0") {
  Diagnostics diagnostics;
  const auto device =
      device_of("[{tokens: 1000, time: 1 s, kv: 100 MB}, {tokens: 2000, time: 3 s, kv: 300 MB}]", diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  CHECK(as_profile(*device)->seconds().at(600) == approx(0.6));
  CHECK(as_profile(*device)->seconds().at(100) == approx(0.1));
  CHECK(as_profile(*device)->kv_bytes().at(100) == approx(10e6));
}

TEST_CASE("what leaves the profile is extrapolated, counted and said") {
  const auto steps = profiled()->bind(llama_8b(), {}, {});
  const StepCost longer = steps->step(Prompt(9000).batch);
  CHECK(longer.device.si() == approx(8));
  CHECK(longer.extrapolated == longer.device);
  CHECK(steps->step(Prompt(500).batch).device.si() == approx(0.75));
  const Decodes crowd(30, 5000);
  const StepCost slower = steps->step(crowd.batch);
  CHECK(slower.device.si() == approx(0.025 * 1.5));
  CHECK(slower.extrapolated == slower.device);
  REQUIRE(steps->range_warnings().size() == 2);
  CHECK(steps->range_warnings()[0].find("from 1000 to 7000 tokens: a chunk that ends at 9000 tokens") !=
        std::string::npos);
  CHECK(steps->range_warnings()[1].find("20 sequences at most: 30") != std::string::npos);
}

TEST_CASE("the first chunk of a prompt that goes on into the profile is a part of what was measured") {
  const auto steps = profiled()->bind(llama_8b(), {}, {});
  Prompt first(500), second(1000, 500);
  first.chunks[0].ends_prompt = false;
  const StepCost begun = steps->step(first.batch), ended = steps->step(second.batch);
  CHECK(begun.extrapolated == Seconds());
  CHECK((begun.device + ended.device).si() == approx(1.25));  // of 1,500 tokens, between 1 s and 2 s
  CHECK(steps->range_warnings().empty());
  Prompt beyond(500, 7000);  // it goes on, but was never measured
  beyond.chunks[0].ends_prompt = false;
  CHECK(steps->step(beyond.batch).extrapolated > Seconds());
}

TEST_CASE("a profile speaks of its model and of one instance only") {
  const auto device = profiled();
  CHECK(device->problems(llama_8b(), {}).empty());
  CHECK(device->problems(llama_1b(), {}).size() == 1);
  CHECK(device->problems(llama_8b(), {.tensor = 2}).size() == 1);
}

TEST_CASE("a profile of one length, or whose lengths or times do not rise, is refused") {
  for (const char* prompts : {"[{tokens: 1000, time: 1 s, kv: 1 MB}]",
                              "[{tokens: 1000, time: 1 s, kv: 1 MB}, {tokens: 1000, time: 2 s, kv: 2 MB}]",
                              "[{tokens: 1000, time: 1 s, kv: 1 MB}, {tokens: 2000, time: 1 s, kv: 2 MB}]"}) {
    CAPTURE(prompts);
    Diagnostics diagnostics;
    CHECK(!device_of(prompts, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

}  // namespace
}  // namespace llmscape::hardware
