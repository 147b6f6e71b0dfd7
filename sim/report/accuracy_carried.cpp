// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "hardware/calibration/carried_fits.hpp"
#include "sim/report/accuracy_parts.hpp"
#include "traces/kernel_tables.hpp"

namespace llmscape::report {
namespace {

// The first has given the half-widths of intervals (hardware/residuals.hpp); the others check them.
struct CarriedPair {
  const char *from, *to, *folder;  // of the kernels of `to`
};
constexpr std::array kPairs = {CarriedPair{"h200", "b200", "b200_sxm"}, CarriedPair{"a100-80", "h100-sxm", "h100_sxm"},
                               CarriedPair{"h100-sxm", "h200", "h200_sxm"}};
constexpr std::size_t kMostScoredRows = 1500;  // of a family

}  // namespace

void add_carried(const AccuracyTask& task, AccuracyPage& page) {
  for (const CarriedPair& pair : kPairs) {
    task.about_to(std::string("kernels of ") + pair.to + " by the fits of " + pair.from);
    const auto from = task.entry(pair.from), to = task.entry(pair.to);
    const auto tables =
        traces::read_kernel_tables({(task.sources.data / "kernels" / pair.folder).string()}, task.diagnostics);
    if (!from || !to || !tables) continue;
    const auto device = hardware::devices().read(hardware::carried(*from, *to), task.diagnostics);
    const auto* gpu = dynamic_cast<const hardware::Gpu*>(device.get());
    if (gpu) page.carried.push_back({pair.from, pair.to, hardware::score_kernels(*tables, *gpu, kMostScoredRows)});
  }
}

}  // namespace llmscape::report
