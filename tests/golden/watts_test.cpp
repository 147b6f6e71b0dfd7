// SPDX-License-Identifier: Apache-2.0
// The table of watts in docs/hardware.md is what the catalogue's GPUs draw.
#include <fmt/format.h>

#include "tests/golden/golden_file.hpp"
#include "tests/unit/hardware/closed_form_cases.hpp"

namespace llmscape::hardware {
namespace {

// Mean watts of the board while the step of an 8B model runs on the device.
double watts(const Gpu& gpu, const models::Batch& batch) {
  const engine::EngineCost cost = step(gpu, llama_8b(), batch);
  return (total_energy(cost) / cost.device + gpu.idle_power()).si();
}

TEST_CASE("docs/hardware.md says what each GPU draws under prompts and under decodes, beside its data sheet") {
  std::string table =
      "\n| GPU | full prefill | decode, 128 sequences | at rest | limit of the data sheet | joules are |\n"
      "|---|---:|---:|---:|---:|---|\n";
  const Prompt prompt(8192);
  const Decodes decodes(128, 1024);
  for (const std::string& name : catalog_names(kCatalog)) {
    const auto device = catalog_device(name);
    const auto* gpu = dynamic_cast<const Gpu*>(device.get());
    if (!gpu || !gpu->problems(llama_8b(), {}).empty()) continue;  // no memory for the model
    CAPTURE(name);
    CHECK(watts(*gpu, prompt.batch) <= 1.0001 * gpu->tdp.value.si());
    table +=
        fmt::format("| `{}` | {:.0f} W | {:.0f} W | {:.0f} W | {:.0f} W | {} |\n", name, watts(*gpu, prompt.batch),
                    watts(*gpu, decodes.batch), gpu->idle_power().si(), gpu->tdp.value.si(), name_of(gpu->energy.tag));
  }
  test::check_golden_part("docs/hardware.md", "watts", table + "\n");
}

}  // namespace
}  // namespace llmscape::hardware
