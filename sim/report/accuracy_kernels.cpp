// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/process_pool.hpp"
#include "hardware/calibration/calibrate.hpp"
#include "hardware/gpu/gpu.hpp"
#include "sim/report/accuracy_parts.hpp"
#include "traces/kernel_tables.hpp"

namespace llmscape::report {
namespace {

struct Tables {
  const char* device;
  const char* folder;  // below kernels/; of a record of this project, its file below traces/measured
  const char* about;
  const char* sibling = nullptr;  // a device whose rows help to learn corrections, with its folder
  const char* sibling_folder = nullptr;
  bool own_record = false;
  const char* name = nullptr;  // on the page, where it is not the device's
};
constexpr const char* kEngines =
    "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.24, SGLang 0.5.14, TensorRT-LLM 1.3.0rc20, NCCL 2.29; samples.";
// The phases of times of up to 200 us within 2.05 us have a mean vector of 0.49 to 0.81; an H200's 0.03 to 0.06.
constexpr const char* kEnginesInSteps =
    "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.24, SGLang 0.5.14, TensorRT-LLM 1.3.0rc20, NCCL 2.29; samples. "
    "Times of attention come in steps of 2.05 us: a time between two of them is off by 1.9 to 3.5 % in the mean of a "
    "table by that alone.";
constexpr std::array kTables = {
    Tables{"h100-sxm", "h100_sxm", "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.24, NCCL 2.29.", "h200", "h200_sxm"},
    Tables{"h200", "h200_sxm", kEngines, "h100-sxm", "h100_sxm"},
    Tables{"b200", "b200_sxm", kEnginesInSteps, "gb200", "gb200"},
    Tables{"gb200", "gb200", kEnginesInSteps, "b200", "b200_sxm"},
    Tables{"a100-80", "a100_sxm",
           "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.14, NCCL 2.27. Experts have skewed routing only."},
    Tables{"l40s", "l40s", "ai-dynamo/aiconfigurator @ 095f58a."},
    Tables{"rtx-pro-6000", "rtxpro6000", "casys-kaist/LLMServingSim @ 5daddb2: layers inside vLLM 0.19, three models."},
    Tables{"rtx-4090", "rtx4090", "casys-kaist/LLMServingSim @ 5daddb2: layers inside vLLM, one model."},
    Tables{"cpu-epyc-vm", "epyc-zen4-vm-2026-11-21.json",
           "`llmscape bench --backend cpu --quick`, one thread of a Zen 4 virtual machine, thread CPU time.", nullptr,
           nullptr, true},
    Tables{"h100-sxm", "h100-sxm-2026-11-26.json.gz",
           "`llmscape bench --backend cuda`: cuBLASLt 13.1 and kernels of this project, watts of steady loops.",
           nullptr, nullptr, true, "h100-sxm, kernels of this project"},
};

constexpr std::size_t kMostFittedRows = 1500;  // of a family

// What a child found.
struct Fitted {
  std::vector<hardware::FamilyReport> reports;
  std::string problem;
  template <class Message>
  void cross(Message& m) {
    m(reports, problem);
  }
};

std::vector<hardware::Sibling> sibling(const AccuracyTask& task, const Tables& tables) {
  if (!tables.sibling) return {};
  const auto described = task.entry(tables.sibling);
  auto gpu = described ? std::dynamic_pointer_cast<const hardware::Gpu>(std::shared_ptr<const hardware::Device>(
                             hardware::devices().read(*described, task.diagnostics)))
                       : nullptr;
  auto timed =
      traces::read_kernel_tables({(task.sources.data / "kernels" / tables.sibling_folder).string()}, task.diagnostics);
  if (!gpu || !timed) return {};
  return {{std::move(gpu), std::make_shared<const traces::KernelTables>(std::move(*timed))}};
}

Fitted fit(const AccuracySources& sources, const Tables& tables) {
  Diagnostics diagnostics;
  const AccuracyTask task{sources, [](const std::string&) {}, diagnostics};
  const auto folder = tables.own_record ? sources.measured : sources.data / "kernels";
  const auto timed = traces::read_kernel_tables({(folder / tables.folder).string()}, diagnostics);
  const auto base = task.entry(tables.device);
  Fitted fitted;
  if (timed && base)
    if (auto calibration =
            hardware::calibrate(*timed, *base, {{}, kMostFittedRows, "", sibling(task, tables)}, diagnostics))
      fitted.reports = std::move(calibration->reports);
  if (diagnostics.has_errors()) fitted.problem = diagnostics.text(false);
  return fitted;
}

}  // namespace

void add_kernels(const AccuracyTask& task, AccuracyPage& page) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < kTables.size(); ++i) numbers.push_back(i);
  std::vector<Fitted> fitted(kTables.size());
  ProcessPool<std::size_t, Fitted> pool(
      [&](const std::size_t& i) {
        task.about_to(std::string("kernels of ") + kTables[i].device);
        return fit(task.sources, kTables[i]);
      },
      {default_jobs(), {}, {}});
  pool.run(numbers, [&](const std::size_t& i, TaskOutcome<Fitted> outcome) {
    fitted[i] = outcome.answer ? std::move(*outcome.answer) : Fitted{{}, outcome.error};
    return true;
  });
  for (std::size_t i = 0; i < kTables.size(); ++i)
    if (!fitted[i].problem.empty())
      task.diagnostics.error({}, std::string("kernels of ") + kTables[i].device + ": " + fitted[i].problem);
    else
      page.devices.push_back(
          {kTables[i].name ? kTables[i].name : kTables[i].device, kTables[i].about, std::move(fitted[i].reports)});
}

}  // namespace llmscape::report
