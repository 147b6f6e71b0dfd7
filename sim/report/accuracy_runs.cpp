// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "hardware/calibration/calibrate.hpp"
#include "sim/report/accuracy_parts.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/steps.hpp"
#include "traces/kernel_tables.hpp"

namespace llmscape::report {
namespace {

namespace fs = std::filesystem;

// Records of this project: where the engine ran, and what its steps and arrivals are held against.
struct EngineRuns {
  const char *records, *where, *by, *about;
};
constexpr EngineRuns kOnCpu = {
    "epyc-zen4-vm-2026-11-21-engine", "a CPU", "",
    "`llmscape engine` in thread CPU time: each step priced from what it computed, and its arrivals replayed, on the "
    "device fitted to the kernels above. No constant comes from the runs."};
constexpr const char* kGpu = "h100-sxm";
constexpr const char* kGpuKernels = "h100-sxm-2026-11-26.json.gz";
constexpr EngineRuns kOnGpu = {"h100-sxm-2026-11-26-engine", "an H100", ", by its kernels",
                               "`llmscape engine --backend cuda` on one H100, Llama-3.1-8B and Llama-3.2-1B: each step "
                               "priced from what it computed, "
                               "and its arrivals replayed, on a device fitted to nothing but the kernels and watts "
                               "that `llmscape bench` measured on "
                               "the same board in the same minutes. No constant comes from the runs; that watts at "
                               "work pause during launches was seen in their watts."};
constexpr EngineRuns kOnCatalogued = {kOnGpu.records, kOnGpu.where, ", by the catalogue",
                                      "The same run on the catalogue's device, whose kernels are fitted to other "
                                      "people's tables of vLLM's: what is left is "
                                      "how unlike the kernels of the two engines are."};

void add_engine_run(const AccuracyTask& task, const EngineRuns& runs, const fs::path& path, YamlNode device,
                    AccuracyPage& page) {
  const std::string model = path.filename().string().substr(0, path.filename().string().find('.'));
  task.about_to("mini engine, " + model);
  const auto record = traces::read_engine_record(path.string(), task.diagnostics);
  if (!record) return;
  const validation::Replay replay(*record, std::move(device), task.sources.catalogs, task.diagnostics);
  if (!replay.scenario()) return;
  RunAccuracy run;
  run.name = fmt::format("Mini engine on {}, {}{}", runs.where, model, runs.by);
  run.about = runs.about;
  const auto& config = replay.scenario()->config;
  const auto steps = engine::bind(*config.hardware.devices.front(), replay.scenario()->model, config.serving.plan(),
                                  scenario::settings_of(config.serving));
  run.comparisons = validation::compare_steps(*record, *steps, models::kv_laws(replay.scenario()->model));
  if (auto simulated = validation::simulate(*replay.scenario(), task.diagnostics)) {
    const auto energy = validation::compare_energy(simulated->result, *record);
    for (validation::RequestTimes& request : simulated->requests) request.queued = request.arrival;  // as the record
    auto requests = validation::compare_requests(std::move(simulated->requests), validation::request_times(*record), {},
                                                 task.diagnostics);
    if (requests) run.comparisons.insert(run.comparisons.end(), requests->begin(), requests->end());
    run.comparisons.insert(run.comparisons.end(), energy.begin(), energy.end());
  }
  page.runs.push_back(std::move(run));
}

// One measured vLLM run, on the device by its layer tables or on the catalogue's.
void add_vllm_run(const AccuracyTask& task, const std::string& name, const std::string& about,
                  const std::string& device, AccuracyPage& page) {
  task.about_to(name);
  const fs::path folder = task.sources.data / "measured" / "vllm_rtxpro6000_llama31_8b";
  const std::string text =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [" + device +
      "]}\nserving: {batcher: {policy: vllm_v1, max_num_seqs: 128, max_num_batched_tokens: 2048}}\n"
      "workload: {replay: {trace: " +
      (folder / "workload.jsonl.gz").string() + "}}\n";
  auto tree = read_yaml(std::make_shared<const SourceText>(SourceText{name, text}), task.diagnostics);
  const auto scenario =
      scenario::read_scenario(std::move(tree), {}, {}, std::nullopt, task.sources.catalogs, task.diagnostics);
  if (!scenario) return;
  auto simulated = validation::simulate(*scenario, task.diagnostics);
  auto measured = validation::read_request_times((folder / "requests.jsonl").string(), task.diagnostics);
  if (!simulated || !measured) return;
  RunAccuracy run;
  run.name = name;
  run.about = about;
  run.courses = validation::compare_loads(simulated->requests, validation::loads(*measured));
  run.notes.push_back(fmt::format("{} prompt tokens found in the prefix cache (vLLM: 19,520) in {} steps (about 2,388)",
                                  simulated->result.tokens.reused, simulated->result.steps));
  if (auto requests =
          validation::compare_requests(std::move(simulated->requests), std::move(*measured), {}, task.diagnostics))
    run.comparisons = std::move(*requests);
  page.runs.push_back(std::move(run));
}

void add_runs(const AccuracyTask& task, const EngineRuns& runs, const YamlNode& device, AccuracyPage& page) {
  std::vector<fs::path> paths;
  for (const auto& file : fs::directory_iterator(task.sources.measured / runs.records)) paths.push_back(file.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) add_engine_run(task, runs, path, device, page);
}

}  // namespace

void add_engine_runs(const AccuracyTask& task, AccuracyPage& page) {
  if (const auto cpu = task.entry("cpu-epyc-vm")) add_runs(task, kOnCpu, *cpu, page);
  const auto gpu = task.entry(kGpu);
  const auto kernels = traces::read_kernel_tables({(task.sources.measured / kGpuKernels).string()}, task.diagnostics);
  if (!gpu || !kernels) return;
  hardware::CalibrationRequest request;
  request.records = kGpuKernels;
  if (const auto fit = hardware::calibrate(*kernels, *gpu, request, task.diagnostics))
    add_runs(task, kOnGpu, fit->device, page);
  add_runs(task, kOnCatalogued, *gpu, page);
}

void add_vllm_runs(const AccuracyTask& task, AccuracyPage& page) {
  const std::string host =
      "per_step: 126 us, per_request: 4 us, graph_launch: 10 us, per_kernel: 22 us, per_compiled_kernel: 5 us";
  const std::string tables =
      "{kind: table, name: rtx-pro-6000-layers, tables: " + (task.sources.data / "kernels/rtxpro6000").string() +
      ", capacity: 95 GiB, runtime_reserve: 1 GB, idle_power: 35 W, busy_power: 600 W, links: "
      "{bandwidth: 40 GB/s, latency: 3 us}, host: {" +
      host;
  const std::string about =
      "Llama-3.1-8B on one RTX PRO 6000, vLLM 0.19, 300 requests of ShareGPT (casys-kaist/LLMServingSim @ 5daddb2), "
      "replayed. ";
  add_vllm_run(task, "vLLM run, device by its layer tables", about + "Nothing fitted to the run.", tables + "}}", page);
  add_vllm_run(task, "vLLM run, layer tables and one host constant",
               about + "One declared constant: 4 ms of host time in every prefill step.",
               tables + ", per_prefill_step: 4 ms}}", page);
  add_vllm_run(task, "vLLM run, catalogue's device",
               about + "Kernel parameters fitted to the same tables; nothing to the run.", "{preset: rtx-pro-6000}",
               page);
}

}  // namespace llmscape::report
