// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "hardware/device.hpp"
#include "hardware/fabric.hpp"
#include "hardware/retrieval/retrieval.hpp"
#include "models/kv_format.hpp"
#include "models/token_plan.hpp"
#include "sim/kernel/topology.hpp"
#include "sim/result/cost.hpp"
#include "sim/scenario/engine_defaults.hpp"
#include "sim/scenario/fault_config.hpp"
#include "sim/scenario/kv_windows.hpp"
#include "sim/scenario/lora.hpp"
#include "sim/scenario/speculation.hpp"
#include "sim/scenario/window_fields.hpp"
#include "sim/serving/batcher.hpp"
#include "sim/serving/controllers.hpp"
#include "sim/serving/gateway/gateway.hpp"
#include "sim/serving/kv/kv_places.hpp"
#include "sim/serving/router.hpp"
#include "workloads/workload.hpp"

namespace llmscape::scenario {

// Folders of ready descriptions.
struct Catalogs {
  std::filesystem::path models, hardware, workloads;
  // Where there is one, descriptions and models are read once and remembered by their path: the points of a sweep name
  // the same.
  struct ReadModel {
    std::optional<models::ModelSpec> model;
    std::set<std::filesystem::path> files;
  };
  struct Remembered {
    std::map<std::filesystem::path, YamlNode> descriptions;
    std::map<std::filesystem::path, ReadModel> models;
    TreeMemory trees;
  };
  std::shared_ptr<Remembered> remembered{};
};

struct ModelConfig {
  std::optional<std::string> preset;  // a name in the models' catalogue, or ...
  std::optional<std::string>
      hf_config;  // ... a config.json of Hugging Face, or a native model/1 file, from the scenario's folder
  // Number formats instead of the model's own; `weights` also those of attention, experts and embeddings, unless these
  // are named.
  std::optional<std::string> weights, activations, attention, experts, embeddings;
  std::optional<models::KvFormatConfig> kv;
  std::shared_ptr<const models::TokenPlan> token_plan;
};

struct HardwareConfig {
  std::vector<std::shared_ptr<const hardware::Device>> devices;
  hardware::FabricConfig fabric;
  std::shared_ptr<const kernel::Topology> topology;  // absent: racks and sites of the fabric
  std::optional<bool> collective_flows;              // collectives between nodes share links; absent: closed forms
  std::optional<hardware::Retrieval> retrieval;
};

struct AdmissionConfig {
  std::optional<std::int64_t> max_outstanding;
  std::optional<std::int64_t> max_waiting;
};

struct FrontEndConfig {
  Seconds per_call, per_token;
};

// What it takes until a replica that was off serves.
struct ColdStartConfig {
  Seconds boot;
  std::optional<BytesPerSecond> bandwidth;  // into one device; absent: its own load_bandwidth()
};

// What the replicas of a pool have in common.
struct EngineConfig : serving::KvPlaces {
  EngineChoice engine;
  std::int64_t tensor_parallel = 1, pipeline_parallel = 1, expert_parallel = 1, data_parallel = 1;
  models::ExpertExchange expert_exchange = models::ExpertExchange::all_gather;
  std::int64_t redundant_experts = 0;
  bool lock_step = false;  // data-parallel ranks of a mixture step together; set when the model is known
  std::int64_t pipeline_batches = 1;
  bool pipeline_chunks = false;
  std::shared_ptr<const serving::BatcherPolicy> batcher;
  std::shared_ptr<const serving::RouterPolicy> router;  // absent: by data_parallel, until pools are resolved
  std::int64_t block_size = 16;
  std::optional<std::int64_t> kv_blocks;
  double gpu_memory_utilization = 0.9;
  double kv_memory_share = 1;
  std::optional<std::int64_t> max_model_len;
  engine::CudaGraphs cuda_graphs = engine::CudaGraphs::full_and_piecewise;
  KvWindows kv_windows = KvWindows::pooled;
  serving::FirstToken first_token = serving::FirstToken::recomputed;
  std::optional<std::int64_t> max_cudagraph_capture_size;
  models::ExpertCoverage::Law expert_coverage = models::ExpertCoverage::Law::related;  // by workload.tokens
  std::optional<SpeculationConfig> speculation;
  std::optional<LoraConfig> lora;
  std::optional<ColdStartConfig> cold_start;
  // Of one rank; its data is 1 unless ranks step together.
  [[nodiscard]] models::ParallelPlan plan() const;
  // Of all data-parallel ranks that come together, whether they step together or not.
  [[nodiscard]] std::int64_t devices_of_ranks() const { return tensor_parallel * pipeline_parallel * data_parallel; }
  // Batches follow one another through the stages; else each passes them alone.
  [[nodiscard]] bool stages_shared() const { return pipeline_batches > 1 || pipeline_chunks; }
};

// Which calls a pool takes; all, if nothing is said.
struct AcceptanceConfig {
  std::optional<std::int64_t> longer_than, up_to;  // prompt tokens that are in no cache
  std::vector<std::string> classes;                // of SLO; none: any
  bool operator==(const AcceptanceConfig&) const = default;
};

// How several models use the same devices, one after the other.
struct TakeTurnsConfig {
  Seconds least_hold{1};
  std::int64_t resident = 1;  // models whose weights are in the devices' memory
  std::optional<BytesPerSecond> load_bandwidth;
};
inline constexpr const char* kMainModel = "main";

// Groups of devices that serve together. What a pool does not say of its engine is that of `serving`.
struct PoolConfig : EngineConfig {
  std::optional<std::string> name;
  std::vector<std::string> devices;  // names of groups; none: all
  serving::Role role = serving::Role::any;
  std::optional<std::string> model;  // one of the scenario's `models`; absent: its `model`
  AcceptanceConfig accepts;
  // Several that take turns on the same devices; kMainModel: the scenario's `model`. Resolved pools have one model
  // each, and this list where they share their devices.
  std::vector<std::string> models;
  TakeTurnsConfig take_turns;

  // Models on each of its devices.
  [[nodiscard]] std::int64_t tenants() const { return std::max<std::int64_t>(1, std::ssize(models)); }
};

struct ServingConfig : EngineConfig {
  std::vector<PoolConfig> pools;  // none: one of all devices
  serving::Placement placement = serving::Placement::in_order;
  std::int64_t retries = 3;
  std::vector<std::shared_ptr<const serving::ControllerPolicy>> controllers;  // of the fleet, as they act in turn
  bool kv_by_layer = true;  // KV transfers move entries as their layers are computed
  FrontEndConfig front_end;
  AdmissionConfig admission;
  std::int64_t retrieval_servers = 0;
  bool streaming_input = false;  // prompts that come in versions are computed as they come
};

// Limits that a request must meet, all of them, to count as good.
struct Slo {
  std::optional<Seconds> ttft, tpot, e2e;
};

struct SloConfig {
  std::optional<Seconds> ttft, tpot, e2e;  // of requests without a class
  std::map<std::string, Slo> classes;      // by the name that a workload's mixture gives
};

struct ScenarioConfig {
  ModelConfig model;
  std::map<std::string, ModelConfig> models;  // others, by the name that pools and workloads use
  HardwareConfig hardware;
  ServingConfig serving;
  workloads::WorkloadConfig workload;
  SloConfig slo;
  std::optional<result::CostConfig> cost;
  FaultsConfig faults;
  metrics::WindowConfig window;
  std::optional<Seconds> horizon;  // the run stops here, finished or not
  std::int64_t seed = 1;
};
const Fields<ScenarioConfig>& scenario_fields();
const Fields<PoolConfig>& pool_fields();
// What results and controllers call the pool: its name, or those of its groups.
std::string name_of(const PoolConfig& pool);

// A scenario read, completed and checked against itself: nothing in it can fail any more but the trace.
struct Scenario {
  ScenarioConfig config;
  models::ModelSpec model;
  std::vector<std::string> model_names;             // "" for `model`, then by name
  std::vector<models::ModelSpec> models;            // in the same order
  std::map<std::string, models::ModelSpec> drafts;  // models that make drafts, by the name that pools use
  std::vector<std::string> slo_classes;             // the unnamed class first, then by name
  std::vector<Slo> slos;                            // one for each class
  std::vector<PoolConfig> pools;                    // at least one
  // What a group of devices serves, by index of the model and name of the group: the formats may differ.
  std::map<std::pair<int, std::string>, models::ModelSpec> served;
  std::vector<std::string> warnings;  // for the result: what runs in another way than it is asked for
  serving::FleetPlan fleet;           // their replicas
  std::filesystem::path folder;       // relative paths start here
  YamlNode resolved;                  // as it was read: presets and defaults spelled out, each value with its origin
  SourceRange workload_where, where_trace, where_format;  // the section; a replayed trace and its format

  // What the workload needs to know of the rest.
  [[nodiscard]] workloads::WorkloadContext workload_context() const;
  [[nodiscard]] int model_index(const PoolConfig& pool) const;
  // Index of the group of devices with this name, which there is.
  [[nodiscard]] std::size_t group_of(const std::string& name) const;
  // A replica may go from one pool to another.
  [[nodiscard]] bool replicas_convert() const;
  [[nodiscard]] const models::ModelSpec& model_of(const PoolConfig& pool) const {
    return models[static_cast<std::size_t>(model_index(pool))];
  }
  // The same in the formats that these devices of the pool serve it in.
  [[nodiscard]] const models::ModelSpec& model_on(const PoolConfig& pool, const hardware::Device& device) const {
    const auto found = served.find({model_index(pool), device.name});
    return found == served.end() ? model_of(pool) : found->second;
  }
};

// Reports those overrides, typed to be laid in this order, that a later one, at the same path or above it, or the seed
// replaces.
void report_overridden(std::vector<std::string> overrides, std::optional<std::int64_t> seed, Diagnostics& diagnostics);

// Reads the scenario file, lays presets and overrides ("a.b=c") into it, and checks it: model against plan against
// devices. `seed` replaces the file's own. Nothing after reporting.
std::optional<Scenario> load_scenario(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                                      std::optional<std::int64_t> seed, const Catalogs& catalogs,
                                      Diagnostics& diagnostics);
// The same of a tree whose relative paths start from `folder`.
std::optional<Scenario> read_scenario(YamlNode root, const std::filesystem::path& folder,
                                      const std::vector<std::string>& overrides, std::optional<std::int64_t> seed,
                                      const Catalogs& catalogs, Diagnostics& diagnostics);

// Writes bare names as the mappings that they stand for. Models are read by their own reader, so theirs is no preset of
// the field table.
void spell_out_scenario(YamlNode& root);

// Loads a preset of a catalogue, "hardware", "nodes", "links", "hosts", "dram" or "workloads"; a name that ends in
// .yaml is a description of the user's own, in `folder`.
PresetLoader preset_loader(const Catalogs& catalogs, const std::filesystem::path& folder = {});

}  // namespace llmscape::scenario
