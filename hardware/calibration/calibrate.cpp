// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/calibrate.hpp"

#include "hardware/calibration/cpu_groups.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/gpu_fit.hpp"
#include "hardware/cpu.hpp"
#include "hardware/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace llmscape::hardware {
namespace {

// The engine whose kernels the device's own groups are: what the base says, whichever the tables are of; else vLLM or
// the first of these. The others get sets. Empty: the tables are of no engine.
std::string own_engine(const Gpu& base, const std::vector<std::string>& engines) {
  if (engines.empty() || !base.engine.empty()) return engines.empty() ? "" : base.engine;
  return std::ranges::find(engines, "vllm") != engines.end() ? "vllm" : engines.front();
}

// The board at rest, as the records read it with a context and buffers, which is what `idle_power` means; of several
// readings the mean. Nothing where it was not read, is held, or energy is not to be fitted.
std::optional<Watts> rest_of(const traces::KernelTables& tables, const CalibrationRequest& request) {
  const auto has = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (tables.rest.empty() || has(request.held, "idle")) return std::nullopt;
  if (!request.families.empty() && !has(request.families, "energy")) return std::nullopt;
  Watts sum;
  for (const Watts reading : tables.rest) sum += reading;
  return sum / static_cast<double>(tables.rest.size());
}

// The base with that power at rest; as it was after a warning where no board can draw so much.
std::shared_ptr<const Gpu> at_rest(std::shared_ptr<const Gpu> base, Watts rest, const traces::KernelTables& tables,
                                   const CalibrationRequest& request, YamlNode& device, Diagnostics& diagnostics) {
  if (rest <= Watts() || rest >= base->limit()) {
    diagnostics.warning({}, fmt::format("the power at rest ({:.4g} W) is left out: the base draws {:.4g} W at most",
                                        rest.si(), base->limit().si()));
    return base;
  }
  YamlNode idle;
  idle.set("value", YamlNode::scalar(fmt::format("{:.4g} W", rest.si())));
  idle.set("tag", YamlNode::scalar("measured"));
  idle.set("source",
           YamlNode::scalar(fmt::format("at rest with a context and buffers on {}: {}", tables.device, request.records),
                            true));
  YamlNode with = device;
  with.set("idle_power", std::move(idle));
  auto read = std::dynamic_pointer_cast<const Gpu>(devices().read(with, diagnostics));
  if (!read) return base;
  device = std::move(with);
  return read;
}

Calibration calibrate_gpu(const traces::KernelTables& tables, const Gpu& base, YamlNode device,
                          const CalibrationRequest& request) {
  Calibration calibration{std::move(device), {}};
  const std::vector<std::string> engines = engines_of(tables);
  const std::string own = own_engine(base, engines);
  calibration.reports = fit_gpu(tables, own, true, base, request, calibration.device);
  if (!own.empty() && !calibration.reports.empty()) calibration.device.set("engine", YamlNode::scalar(own));
  // The sets build on the device as it now is: what they lack is its own.
  Diagnostics fitted;
  const auto now = std::dynamic_pointer_cast<const Gpu>(devices().read(calibration.device, fitted));
  for (const std::string& engine : engines) {
    if (engine == own) continue;
    YamlNode* sets = calibration.device.find("kernel_sets");
    if (!sets) sets = &calibration.device.set("kernel_sets", YamlNode::mapping({}));
    YamlNode set = sets->find(engine) ? *sets->find(engine) : YamlNode::mapping({});
    auto reports = fit_gpu(tables, engine, false, now ? *now : base, request, set);
    if (!reports.empty()) sets->set(engine, std::move(set));
    std::ranges::move(reports, std::back_inserter(calibration.reports));
  }
  return calibration;
}

void report_nothing_to_fit(Diagnostics& diagnostics) {
  diagnostics.error(
      {}, fmt::format("nothing to fit: no family has {} rows of the wanted kind that count (docs/calibration.md)",
                      kFewestFittedRows));
}

// `backend`: of the harness that times kernels of such a device.
void check_backend(const traces::KernelTables& tables, const YamlNode& base, std::string_view backend,
                   Diagnostics& diagnostics) {
  if (!tables.backend.empty() && tables.backend != backend)
    diagnostics.error(
        base.where,
        fmt::format("the base is no device of these records: their backend is {}", in_quotes(tables.backend)),
        fmt::format("records for it are of 'llmscape bench --backend {}'", backend));
}

// A fit that says nothing of rows which it has not seen is none, however it is tagged: times in another unit, another
// device.
void check_fits(const std::vector<FamilyReport>& reports, Diagnostics& diagnostics) {
  constexpr double kMostMedian = 0.5;
  for (const FamilyReport& report : reports)
    if (report.held_out.rows > 0 && report.held_out.median > kMostMedian)
      diagnostics.error({},
                        fmt::format("{}: the fit is off by {:.0f} % in the median of rows that it has not seen: these "
                                    "are not the kernels of this base",
                                    report.family, 100 * report.held_out.median),
                        "check the base's data sheet and the unit of the times, or fit other families with --family");
}

std::optional<Calibration> calibrate_cpu(const traces::KernelTables& tables, const Cpu& cpu, YamlNode base,
                                         const CalibrationRequest& request, Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  check_backend(tables, base, "cpu", diagnostics);
  if (!tables.threads.empty() && tables.threads != std::to_string(cpu.threads))
    diagnostics.error(base.where,
                      fmt::format("the records are of {} thread, and the base has {}: what all threads read from "
                                  "memory cannot be told from them",
                                  tables.threads, cpu.threads),
                      fmt::format("use a base with threads: {}", tables.threads));
  for (const std::string& family : request.families)
    if (std::ranges::find(kCpuFamilies, family) == kCpuFamilies.end())
      diagnostics.error(
          {}, fmt::format("a CPU has no family {}: it has {}", in_quotes(family), fmt::join(kCpuFamilies, ", ")));
  if (!request.held.empty()) diagnostics.error({}, "--hold is of the energy, which is fitted of GPUs alone");
  if (!request.siblings.empty()) diagnostics.error({}, "--sibling helps with corrections, which GPUs alone have");
  if (diagnostics.errors() > before) return std::nullopt;
  CpuCalibration fit = fit_cpu(tables, {request.families, request.most_rows});
  if (fit.reports.empty()) {
    report_nothing_to_fit(diagnostics);
    return std::nullopt;
  }
  for (YamlNode::Entry& entry : groups_of(fit, fmt::format("{} on {}", request.records, tables.device)))
    base.set(entry.key, std::move(entry.value));
  return Calibration{std::move(base), std::move(fit.reports)};
}

}  // namespace

std::optional<Calibration> calibrate(const traces::KernelTables& tables, const YamlNode& base,
                                     const CalibrationRequest& request, Diagnostics& diagnostics) {
  const auto device = devices().read(base, diagnostics);
  if (const auto* cpu = dynamic_cast<const Cpu*>(device.get())) {
    const int before = diagnostics.errors();
    auto calibration = calibrate_cpu(tables, *cpu, base, request, diagnostics);
    if (calibration) check_fits(calibration->reports, diagnostics);
    return diagnostics.errors() > before ? std::nullopt : calibration;
  }
  const auto* gpu = dynamic_cast<const Gpu*>(device.get());
  if (device && !gpu) diagnostics.error(base.where, "only GPUs and CPUs can be calibrated");
  if (gpu) check_backend(tables, base, "cuda", diagnostics);
  if (!gpu || diagnostics.has_errors()) return std::nullopt;
  for (const std::string& name : request.held)
    if (std::ranges::find(kHoldable, name) == kHoldable.end() && !gpu->energy.own_compute(name))
      diagnostics.error(
          {}, fmt::format("nothing to hold under {}: the base has active, memory, padding, compute, idle, and "
                          "joules of dense work by format",
                          in_quotes(name)));
  if (diagnostics.has_errors()) return std::nullopt;
  YamlNode described = base;
  auto rested = std::dynamic_pointer_cast<const Gpu>(device);
  if (const auto rest = rest_of(tables, request))
    rested = at_rest(std::move(rested), *rest, tables, request, described, diagnostics);
  Calibration calibration = calibrate_gpu(tables, *rested, std::move(described), request);
  if (calibration.reports.empty()) report_nothing_to_fit(diagnostics);
  check_fits(calibration.reports, diagnostics);
  return diagnostics.has_errors() ? std::nullopt : std::optional(std::move(calibration));
}

}  // namespace llmscape::hardware
