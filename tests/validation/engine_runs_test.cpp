// SPDX-License-Identifier: Apache-2.0
// Runs of the mini engine on a virtual machine, against the catalogue's device, which is fitted to kernels that were
// timed there in the same minutes (cpu_calibration_test.cpp). No constant comes from the runs.
#include <doctest/doctest.h>

#include <string>

#include "sim/validation/step_table.hpp"
#include "tests/support/engine_outcome.hpp"

using namespace llmscape;

namespace {

const std::string kFolder = "traces/measured/epyc-zen4-vm-2026-11-21-engine/";

YamlNode device() {
  YamlNode preset = YamlNode::mapping({});
  preset.set("preset", YamlNode::scalar("cpu-epyc-vm"));
  return preset;
}

traces::EngineRecord recorded(const std::string& model, Diagnostics& diagnostics) {
  return test::recorded_run(kFolder + model + ".json.gz", diagnostics);
}

}  // namespace

TEST_CASE("steps of a recorded engine take what the kernels say, and its requests queue as simulated") {
  for (const char* model : {"small", "medium", "large"}) {
    CAPTURE(model);
    const test::EngineOutcome out = test::engine_outcome(kFolder + model + ".json.gz", device());
    CHECK(out.error("step", "error_median") < 0.05);
    CHECK(out.error("step", "error_p95") < 0.12);
    CHECK(out.error("tpot", "mean") < 0.05);
    CHECK(out.error("ttft", "mean") < 0.03);
    CHECK(out.error("makespan", "mean") < 0.01);
  }
}

TEST_CASE("four fifths of an engine's steps correct the prices of the others") {
  for (const std::string model : {"small", "medium", "large"}) {
    CAPTURE(model);
    Diagnostics diagnostics;
    const auto record = recorded(model, diagnostics);
    const auto replay = test::replayed(record, device(), diagnostics);
    const auto steps = validation::measured_steps(record, *replay->scenario());
    const auto table = validation::step_table(steps, *replay->scenario(), model, {}, diagnostics);
    REQUIRE_MESSAGE(table, diagnostics.text(false));
    CHECK(table->device.with.model == model);
    CHECK(table->inside > 0.99);
    const auto &priced = table->comparisons[0], &tabled = table->comparisons[1];
    MESSAGE(model << ": held-out steps priced within " << *priced.error_median << ", corrected " << *tabled.error_median
                  << "; 90 % " << *priced.error_p90 << ", " << *tabled.error_p90);
    CHECK(*tabled.error_median < *priced.error_median + 0.001);
    CHECK(*tabled.error_p90 < 0.8 * *priced.error_p90);
  }
}
