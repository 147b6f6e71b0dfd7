// SPDX-License-Identifier: Apache-2.0
#include "sim/report/accuracy_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/catalog.hpp"
#include "base/process_pool.hpp"
#include "hardware/calibration/calibrate.hpp"
#include "hardware/device_entry.hpp"
#include "hardware/gpu/gpu.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/row_runs.hpp"
#include "sim/validation/steps.hpp"
#include "traces/kernel_tables.hpp"

namespace llmscape::report {
namespace {

namespace fs = std::filesystem;
using validation::Comparison;

struct Tables {
  const char* device;
  const char* folder;  // below kernels/
  const char* about;
  const char* sibling = nullptr;  // a device whose rows help to learn corrections, with its folder
  const char* sibling_folder = nullptr;
};
constexpr const char* kEngines =
    "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.24, SGLang 0.5.14, TensorRT-LLM 1.3.0rc20, NCCL 2.29; samples.";
constexpr std::array kTables = {
    Tables{"h100-sxm", "h100_sxm", "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.24, NCCL 2.29.", "h200", "h200_sxm"},
    Tables{"h200", "h200_sxm", kEngines, "h100-sxm", "h100_sxm"},
    Tables{"b200", "b200_sxm", kEngines, "gb200", "gb200"},
    Tables{"gb200", "gb200", kEngines, "b200", "b200_sxm"},
    Tables{"a100-80", "a100_sxm",
           "ai-dynamo/aiconfigurator @ 095f58a: vLLM 0.14, NCCL 2.27. Experts have skewed routing only."},
    Tables{"l40s", "l40s", "ai-dynamo/aiconfigurator @ 095f58a."},
    Tables{"rtx-pro-6000", "rtxpro6000", "casys-kaist/LLMServingSim @ 5daddb2: layers inside vLLM 0.19, three models."},
    Tables{"rtx-4090", "rtx4090", "casys-kaist/LLMServingSim @ 5daddb2: layers inside vLLM, one model."},
};

// Records of this project.
struct Records {
  const char* device;
  const char* kernels;  // below traces/measured
  const char* engine;   // folder of runs of the mini engine
  const char* about;
};
constexpr std::array kRecords = {
    Records{"cpu-epyc-vm", "epyc-zen4-vm-2026-11-21.json", "epyc-zen4-vm-2026-11-21-engine",
            "`llmscape bench --backend cpu --quick`, one thread of a Zen 4 virtual machine, thread CPU time."},
};

class Collector {
 public:
  Collector(const AccuracySources& sources, std::function<void(const std::string&)> about_to, Diagnostics& diagnostics)
      : sources_(sources), about_to_(std::move(about_to)), diagnostics_(diagnostics) {}

  AccuracyPage page() {
    for (const Tables& tables : kTables) {
      std::vector<hardware::Sibling> siblings;
      if (tables.sibling) siblings = sibling(tables.sibling, tables.sibling_folder);
      add_device(tables.device, {sources_.data / "kernels" / tables.folder}, tables.about, std::move(siblings));
    }
    add_records();
    add_vllm_run();
    add_deployments();
    add_batches("A100, static batches of 2023 and 2024", "llm_inference_bench_a100_mi250_gaudi2.csv",
                "inference_bench.yaml", "Framework",
                "argonne-lcf/LLM-Inference-Bench @ 4211f5d: one batch submitted at once, input as long as output; "
                "two constants of vLLM's host were fitted to other deployments of it.");
    add_batches(
        "A100, Llama-2-70B of Splitwise", "splitwise_a100.csv", "splitwise.yaml", "",
        "Mutinifni/splitwise-sim @ 8f99e7d: prefill of a batch and its mean decode step; no constant fitted to it. "
        "45 to 55 ms a token at batch 1 are the Python host of 2023, which is not modelled.");
    for (const std::string& name : catalog_names(sources_.catalogs.hardware)) add_catalogue(name);
    return std::move(page_);
  }

 private:
  std::optional<YamlNode> entry(const std::string& device) {
    return hardware::device_entry(sources_.catalogs.hardware, device, {}, diagnostics_);
  }

  std::vector<hardware::Sibling> sibling(const std::string& device, const std::string& folder) {
    const auto described = entry(device);
    auto gpu = described ? std::dynamic_pointer_cast<const hardware::Gpu>(std::shared_ptr<const hardware::Device>(
                               hardware::devices().read(*described, diagnostics_)))
                         : nullptr;
    auto tables = traces::read_kernel_tables({(sources_.data / "kernels" / folder).string()}, diagnostics_);
    if (!gpu || !tables) return {};
    return {{std::move(gpu), std::make_shared<const traces::KernelTables>(std::move(*tables))}};
  }

  void add_device(const std::string& device, const std::vector<fs::path>& paths, const std::string& about,
                  std::vector<hardware::Sibling> siblings = {}) {
    about_to_("kernels of " + device);
    std::vector<std::string> names;
    for (const fs::path& path : paths) names.push_back(path.string());
    const auto tables = traces::read_kernel_tables(names, diagnostics_);
    const auto base = entry(device);
    if (!tables || !base) return;
    const auto calibration = hardware::calibrate(*tables, *base, {{}, 1500, "", std::move(siblings)}, diagnostics_);
    if (calibration) page_.devices.push_back({device, about, calibration->reports});
  }

  void add_records() {
    for (const Records& records : kRecords) {
      add_device(records.device, {sources_.measured / records.kernels}, records.about);
      add_engine_runs(records);
    }
  }

  void add_engine_runs(const Records& records) {
    auto device = entry(records.device);
    if (!device) return;
    std::vector<fs::path> runs;
    for (const auto& file : fs::directory_iterator(sources_.measured / records.engine)) runs.push_back(file.path());
    std::ranges::sort(runs);
    for (const fs::path& path : runs) add_engine_run(path, *device);
  }

  void add_engine_run(const fs::path& path, YamlNode device) {
    const std::string model = path.filename().string().substr(0, path.filename().string().find('.'));
    about_to_("mini engine, " + model);
    const auto record = traces::read_engine_record(path.string(), diagnostics_);
    if (!record) return;
    const validation::Replay replay(*record, std::move(device), sources_.catalogs, diagnostics_);
    if (!replay.scenario()) return;
    RunAccuracy run;
    run.name = "Mini engine on a CPU, model " + model;
    run.about =
        "`llmscape engine` in thread CPU time: each step priced from what it computed, and its arrivals replayed, on "
        "the "
        "device fitted to the kernels above. No constant comes from the runs.";
    const auto& config = replay.scenario()->config;
    const auto steps = engine::bind(*config.hardware.devices.front(), replay.scenario()->model, config.serving.plan(),
                                    scenario::settings_of(config.serving));
    run.comparisons = validation::compare_steps(*record, *steps, models::kv_laws(replay.scenario()->model));
    if (auto simulated = validation::simulate(*replay.scenario(), diagnostics_)) {
      for (validation::RequestTimes& request : simulated->requests) request.queued = request.arrival;  // as the record
      auto requests = validation::compare_requests(std::move(simulated->requests), validation::request_times(*record),
                                                   {}, diagnostics_);
      if (requests) run.comparisons.insert(run.comparisons.end(), requests->begin(), requests->end());
    }
    page_.runs.push_back(std::move(run));
  }

  // One measured vLLM run, on the device by its layer tables and on the catalogue's.
  void add_vllm_run() {
    const std::string host =
        "per_step: 126 us, per_request: 4 us, graph_launch: 10 us, per_kernel: 22 us, per_compiled_kernel: 5 us";
    const std::string tables =
        "{kind: table, name: rtx-pro-6000-layers, tables: " + (sources_.data / "kernels/rtxpro6000").string() +
        ", capacity: 95 GiB, runtime_reserve: 1 GB, idle_power: 35 W, busy_power: 600 W, links: "
        "{bandwidth: 40 GB/s, latency: 3 us}, host: {" +
        host;
    const std::string about =
        "Llama-3.1-8B on one RTX PRO 6000, vLLM 0.19, 300 requests of ShareGPT (casys-kaist/LLMServingSim @ 5daddb2), "
        "replayed. ";
    add_vllm_run("vLLM run, device by its layer tables", about + "Nothing fitted to the run.", tables + "}}");
    add_vllm_run("vLLM run, layer tables and one host constant",
                 about + "One declared constant: 4 ms of host time in every prefill step.",
                 tables + ", per_prefill_step: 4 ms}}");
    add_vllm_run("vLLM run, catalogue's device",
                 about + "Kernel parameters fitted to the same tables; nothing to the run.", "{preset: rtx-pro-6000}");
  }

  void add_vllm_run(const std::string& name, const std::string& about, const std::string& device) {
    about_to_(name);
    const fs::path folder = sources_.data / "measured" / "vllm_rtxpro6000_llama31_8b";
    const std::string text =
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [" + device +
        "]}\nserving: {batcher: {policy: vllm_v1, max_num_seqs: 128, max_num_batched_tokens: 2048}}\n"
        "workload: {replay: {trace: " +
        (folder / "workload.jsonl.gz").string() + "}}\n";
    auto tree = read_yaml(std::make_shared<const SourceText>(SourceText{name, text}), diagnostics_);
    const auto scenario =
        scenario::read_scenario(std::move(tree), {}, {}, std::nullopt, sources_.catalogs, diagnostics_);
    if (!scenario) return;
    auto simulated = validation::simulate(*scenario, diagnostics_);
    auto measured = validation::read_request_times((folder / "requests.jsonl").string(), diagnostics_);
    if (!simulated || !measured) return;
    RunAccuracy run{name, about, {}, validation::compare_loads(simulated->requests, validation::loads(*measured)), {}};
    run.notes.push_back(
        fmt::format("{} prompt tokens found in the prefix cache (vLLM: 19,520) in {} steps (about 2,388)",
                    simulated->result.tokens.reused, simulated->result.steps));
    if (auto requests =
            validation::compare_requests(std::move(simulated->requests), std::move(*measured), {}, diagnostics_))
      run.comparisons = std::move(*requests);
    page_.runs.push_back(std::move(run));
  }

  std::optional<validation::MeasuredTable> rows(const char* table, validation::RowKind kind, const char* mapping) {
    const fs::path mappings = sources_.measured.parent_path().parent_path() / "tests/validation/rows";
    return validation::read_measured_table(sources_.data / "measured" / table, kind, mappings / mapping, diagnostics_);
  }

  static std::vector<const validation::RowPoint*> all_of(const std::vector<validation::RowPoint>& points) {
    std::vector<const validation::RowPoint*> all;
    for (const auto& point : points) all.push_back(&point);
    return all;
  }

  void add_deployments() {
    // Levels of concurrency with fewer rows say nothing about rank.
    constexpr std::int64_t kLeastRowsToRank = 10;
    about_to_("closed-loop deployments");
    const auto table = rows("silicon_dev.csv.gz", validation::RowKind::deployment, "silicon.yaml");
    if (!table) return;
    const auto wanted = rows_to_predict(*table);
    const auto points = simulate_rows(*table, wanted, {}, sources_.catalogs, default_jobs());
    RunAccuracy run{
        "Closed-loop deployments, H100 and H200",
        "183 public points of vLLM, TensorRT-LLM and SGLang (ai-dynamo/aiconfigurator @ 095f58a), each simulated "
        "from its columns; nothing fitted to them.",
        compare_points(*table, all_of(points)),
        {},
        {}};
    double least_rank = 1;
    for (const auto& group : group_points(points, {"users"}))
      for (const Comparison& c : compare_points(*table, group.points))
        if (c.metric == "rate" && c.count >= kLeastRowsToRank) least_rank = std::min(least_rank, c.rank.value_or(0));
    run.notes.push_back(
        fmt::format("rank correlation of the throughput within one concurrency: at least {:.3f}", least_rank));
    for (const auto& row : table->rows)
      if (row.left_out) run.notes.push_back("left out: " + row.name + ": " + *row.left_out);
    page_.runs.push_back(std::move(run));
    for (const bool odd : {true, false}) add_host_constants(*table, wanted, odd);
  }

  // Fitted on one half of the deployments of each engine, scored on the other: what a host does is a property of the
  // engine that runs there.
  void add_host_constants(const validation::MeasuredTable& table,
                          const std::vector<const validation::MeasuredRow*>& wanted, bool odd) {
    const std::vector<std::string> alike = {"model",         "hardware",      "tensor_parallel", "expert_parallel",
                                            "data_parallel", "prompt_tokens", "output_tokens"};
    about_to_("closed-loop deployments with host constants");
    std::map<std::string, std::vector<const validation::MeasuredRow*>> by_engine;
    for (const auto* row : wanted)
      if (const auto engine = row->value("engine")) by_engine[validation::text_of(*engine)].push_back(row);
    std::string fitted;
    std::vector<validation::RowPoint> points;
    for (const auto& [engine, rows] : by_engine) {
      const auto constants = fit_host_constants(table, half_of(rows, alike, odd), sources_.catalogs, default_jobs());
      auto scored =
          simulate_rows(table, half_of(rows, alike, !odd), constants.overrides(), sources_.catalogs, default_jobs());
      std::ranges::move(scored, std::back_inserter(points));
      fitted += fmt::format("{}{}: {:g} ms in every prefill step, {:g} ms and {:g} us per prompt token in front of it",
                            fitted.empty() ? "" : "; ", engine, constants.per_prefill_step_ms, constants.per_call_ms,
                            constants.per_token_us);
    }
    page_.runs.push_back({fmt::format("Closed-loop deployments, three host constants, {} half", odd ? "even" : "odd"),
                          fmt::format("Fitted end to end on the other half of each engine's deployments. {}.", fitted),
                          compare_points(table, all_of(points)),
                          {},
                          {}});
  }

  // Metrics have the name of their software behind them where the table has several.
  void add_batches(const std::string& name, const char* file, const char* mapping, const std::string& software,
                   const std::string& about) {
    about_to_(name);
    const auto table = rows(file, validation::RowKind::batch, mapping);
    if (!table) return;
    const auto points = simulate_rows(*table, rows_to_predict(*table), {}, sources_.catalogs, default_jobs());
    RunAccuracy run{name, about, {}, {}, {}};
    const std::vector<std::string> by = software.empty() ? std::vector<std::string>{} : std::vector{software};
    for (const auto& group : group_points(points, by))
      for (Comparison& c : compare_points(*table, group.points)) {
        if (!software.empty()) c.metric += ", " + group.name;
        run.comparisons.push_back(std::move(c));
      }
    std::ranges::sort(run.comparisons, {}, &Comparison::metric);
    for (const Comparison& c : run.comparisons)
      run.notes.push_back(fmt::format("{}: the largest error is that of {}, {:.3g} s predicted, {:.3g} s measured",
                                      c.metric, c.worst.front().name, c.worst.front().predicted,
                                      c.worst.front().measured));
    page_.runs.push_back(std::move(run));
  }

  void add_catalogue(const std::string& name) {
    if (const auto tree = entry(name))
      if (auto device = hardware::devices().read(*tree, diagnostics_)) page_.catalogue.push_back(std::move(device));
  }

  const AccuracySources& sources_;
  std::function<void(const std::string&)> about_to_;
  Diagnostics& diagnostics_;
  AccuracyPage page_;
};

}  // namespace

AccuracyPage measure_accuracy(const AccuracySources& sources, const std::function<void(const std::string&)>& about_to,
                              Diagnostics& diagnostics) {
  return Collector(sources, about_to, diagnostics).page();
}

}  // namespace llmscape::report
