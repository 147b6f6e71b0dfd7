// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "hardware/calibration/report.hpp"
#include "traces/kernel_record.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

inline constexpr std::array<std::string_view, 9> kFittableFamilies = {"gemm",
                                                                      "expert_gemm",
                                                                      "prefill_attention",
                                                                      "decode_attention",
                                                                      "latent_attention",
                                                                      "indexed_attention",
                                                                      "elementwise",
                                                                      "collectives",
                                                                      "energy"};

struct Gpu;

// A device of the same generation, described, with its own tables: what the same engine's kernels do there helps to
// learn corrections.
struct Sibling {
  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<const traces::KernelTables> tables;
};

struct CalibrationRequest {
  std::vector<std::string> families;  // of kFittableFamilies; empty: all that have rows
  std::size_t most_rows = 1500;       // of a family, drawn at random; the same ones every time
  std::string records;                // how `source` names what was read
  std::vector<Sibling> siblings{};
  // Of the energy: what stays as the base has it, because a board of the same chip was read better. Of kHoldable
  // ("idle": the power at rest), or the name of a format that the base has joules of dense work in.
  std::vector<std::string> held{};
};
inline constexpr std::array<std::string_view, 5> kHoldable = {"active", "memory", "padding", "compute", "idle"};

struct Calibration {
  YamlNode device;                    // the base's description with the fitted groups in place of its own
  std::vector<FamilyReport> reports;  // of the fitted families
};

// Fits every operator family for which the tables have enough rows to the figures of the base's data sheet; the other
// families keep what the base says of them. Kernels of several serving engines make sets of their own (`kernel_sets`).
// `base` is the description of a GPU without its `schema`, or of a CPU, which has kCpuFamilies and neither energy nor
// corrections to be fitted.
// Nothing after reporting: a base of another kind or with mistakes, or tables that serve no family.
std::optional<Calibration> calibrate(const traces::KernelTables& tables, const YamlNode& base,
                                     const CalibrationRequest& request, Diagnostics& diagnostics);

}  // namespace llmscape::hardware
