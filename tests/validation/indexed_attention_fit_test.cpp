// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/indexed_attention_fit.hpp"

#include "hardware/device_entry.hpp"
#include "tests/support/approx.hpp"
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using llmscape::testing::approx;

// Attention to chosen entries, fitted to public tables of modules and judged on shapes that the fit has not seen.
namespace llmscape::hardware::indexed_attention_fit_test {
namespace {

std::shared_ptr<const Gpu> gpu(const std::string& name) {
  Diagnostics diagnostics;
  const auto entry = device_entry("hardware/catalog", name, {}, diagnostics);
  REQUIRE_MESSAGE(entry, diagnostics.text(false));
  auto device =
      std::dynamic_pointer_cast<const Gpu>(std::shared_ptr<const Device>(devices().read(*entry, diagnostics)));
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return device;
}

std::vector<traces::TimedIndexedAttention> modules(const std::string& device, const std::string& kv) {
  const std::string folder = std::string(std::getenv("LLMSCAPE_REFERENCE_DATA")) + "/kernels/" + device;
  Diagnostics diagnostics;
  const auto tables = traces::read_kernel_tables(
      {folder + "/dsa_context_module.csv.gz", folder + "/dsa_generation_module.csv.gz"}, diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  std::vector<traces::TimedIndexedAttention> all;
  for (const auto& r : tables->indexed_attention)
    if (r.kv_format == kv) all.push_back(r);
  return all;
}

}  // namespace

TEST_CASE("unseen modules of sparse attention on Hopper are met within 7 % over bf16 entries, 5 % over fp8 ones") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return;
  }
  for (const auto& [name, folder] : {std::pair{"h100-sxm", "h100_sxm"}, std::pair{"h200", "h200_sxm"}}) {
    CAPTURE(name);
    const auto device = gpu(name);
    const auto wide = fit_indexed_modules(*device, modules(folder, "bf16"), nullptr);
    REQUIRE(wide);
    CHECK(wide->report.held_out.mean < 0.07);
    const auto narrow = fit_indexed_modules(*device, modules(folder, "fp8"), &wide->parameters);
    REQUIRE(narrow);
    CHECK(narrow->report.held_out.mean < 0.05);
    // What the catalogue holds is what these rows say.
    const IndexedAttentionParameters& kept = device->indexed_attention.at("bf16");
    CHECK(wide->parameters.compute_efficiency == approx(kept.compute_efficiency).epsilon(0.02));
    CHECK(wide->parameters.launch.si() == approx(kept.launch.si()).epsilon(0.02));
  }
}

}  // namespace llmscape::hardware::indexed_attention_fit_test
