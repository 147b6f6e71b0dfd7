// SPDX-License-Identifier: Apache-2.0
#include "models/format.hpp"
#include "models/kv_format.hpp"
#include "sim/scenario/gateway_fields.hpp"

namespace llmscape::scenario {

namespace {

const Fields<ModelConfig>& model_fields() {
  static const Fields<ModelConfig> fields = [] {
    Fields<ModelConfig> f("model", "the model that is served; a bare name is a preset");
    f.add("preset", &ModelConfig::preset, "name of a model of the catalogue: `llmscape list models`");
    f.add("hf_config", &ModelConfig::hf_config, "path of a Hugging Face config.json, or of a model/1 file");
    f.add("weights", &ModelConfig::weights,
          "number format of the weights, those of attention, experts, embedding and head included; the model's own if "
          "absent")
        .one_of(models::format_names());
    f.add("activations", &ModelConfig::activations, "number format of the activations; the model's own if absent")
        .one_of(models::format_names());
    f.add_group("kv", &ModelConfig::kv, models::kv_format_fields(),
                "number format of the KV cache; the model's own if absent")
        .or_bare("keys");
    f.add("attention", &ModelConfig::attention,
          "number format of the projections around attention or a state, where it is another than that of the weights")
        .one_of(models::format_names());
    f.add("experts", &ModelConfig::experts,
          "number format of routed experts, where it is another than that of the weights")
        .one_of(models::format_names());
    f.add("embeddings", &ModelConfig::embeddings,
          "number format of embedding and head, where it is another than that of the weights")
        .one_of(models::format_names());
    f.add_family("token_plan", &ModelConfig::token_plan, models::token_plans(),
                 "what of the model each token passes, attends to and leaves in the KV cache")
        .otherwise("full");
    f.check([](const ModelConfig& c, const YamlNode& node, Diagnostics& d) {
      if (c.preset.has_value() == c.hf_config.has_value())
        d.error(node.where, "a model is given by 'preset' or by 'hf_config', and only one of them");
    });
    return f;
  }();
  return fields;
}

const Fields<HardwareConfig>& hardware_fields() {
  static const Fields<HardwareConfig> fields = [] {
    Fields<HardwareConfig> f("hardware", "what the model is served on");
    f.add_family("devices", &HardwareConfig::devices, hardware::devices(),
                 "groups of equal devices; each group is cut into replicas of the parallel plan's size")
        .preset_from("hardware")
        .required();
    f.add_group("fabric", &HardwareConfig::fabric, hardware::fabric_config_fields(),
                "where the groups stand, and the links between them");
    f.add_family("topology", &HardwareConfig::topology, kernel::topologies(),
                 "the switches and cables between their nodes; absent: racks and sites of 'fabric'");
    f.add("collective_flows", &HardwareConfig::collective_flows,
          "collectives that leave a node are flows that share its links with KV transfers and each other, and a step "
          "ends when they have; absent: they take what closed forms say, and nobody is in their way");
    f.add_group("retrieval", &HardwareConfig::retrieval, hardware::retrieval_fields(),
                "hosts that search for a workload's queries");
    f.check([](const HardwareConfig& c, const YamlNode& node, Diagnostics& d) {
      if (c.devices.empty()) d.error(node.where, "'devices' must name at least one");
    });
    return f;
  }();
  return fields;
}

const Fields<ColdStartConfig>& cold_start_fields() {
  static const Fields<ColdStartConfig> fields = [] {
    Fields<ColdStartConfig> f("cold_start", "how long a replica takes from off until it serves");
    f.add("boot", &ColdStartConfig::boot, "before and beside the weights: machine, container, engine, graphs")
        .required()
        .at_least(0);
    f.add("bandwidth", &ColdStartConfig::bandwidth,
          "into one device from where the weights are (disk, remote store); absent: from its host's memory, as the "
          "device's load_bandwidth says")
        .above(0);
    return f;
  }();
  return fields;
}

// The fields that pools lay over those of `serving`.
template <class T>
void add_engine_fields(Fields<T>& f) {
  using engine::CudaGraphs;
  using serving::FirstToken;
  f.add_group("engine", &T::engine, engine_fields(), "the serving engine and its version, which choose other defaults");
  f.add("tensor_parallel", &T::tensor_parallel, "devices that share every layer").between(1, 1024);
  f.add("pipeline_parallel", &T::pipeline_parallel, "stages of consecutive layers").between(1, 256);
  f.add("pipeline_batches", &T::pipeline_batches,
        "batches that are under way in the stages of a pipeline at once; each comes from a stream with a queue and a "
        "share of the KV pool of its own, a replica to routers and results (vLLM's virtual engines); 1: a batch passes "
        "the stages alone")
      .between(1, 256);
  f.add("pipeline_chunks", &T::pipeline_chunks,
        "the next chunk of a prompt enters the first stage as soon as the one before has left it, where no decodes are "
        "in the step (chunked pipeline parallelism)");
  f.add("expert_parallel", &T::expert_parallel, "ranks that share the experts of a layer").between(1, 1024);
  f.add("redundant_experts", &T::redundant_experts,
        "copies of experts in each layer, beyond one of each: what expert_parallel ranks divide are all of them (EPLB)")
      .between(0, 4096);
  f.add("data_parallel", &T::data_parallel,
        "ranks with queues and KV pools of their own; those of a mixture share its experts and step together")
      .between(1, 1024);
  f.add_enum(
      "expert_exchange", &T::expert_exchange,
      {{"allgather_reducescatter", models::ExpertExchange::all_gather},
       {"all_to_all", models::ExpertExchange::all_to_all}},
      "how tokens reach the experts of other ranks: all of them gathered (vLLM's default), or sent to where they go "
      "(DeepEP)");
  f.add_family("batcher", &T::batcher, serving::batchers(), "what a step computes; absent: the engine's")
      .otherwise("vllm_v1");
  f.add_family("router", &T::router, serving::routers(),
               "which replica serves a call; absent: least_tokens, or vllm_data_parallel where there are ranks");
  f.add("block_size", &T::block_size, "tokens in a KV block").between(1, 1024);
  f.add("kv_blocks", &T::kv_blocks, "KV blocks of a replica, where they are known; else by the memory formula")
      .at_least(1);
  f.add("gpu_memory_utilization", &T::gpu_memory_utilization, "share of a device's memory that the engine may use")
      .above(0)
      .at_most(1);
  f.add("kv_memory_share", &T::kv_memory_share,
        "share of what weights and activations leave of it that the KV pool takes (TensorRT-LLM's "
        "free_gpu_memory_fraction, with gpu_memory_utilization 1)")
      .above(0)
      .at_most(1);
  f.add("max_model_len", &T::max_model_len, "longest prompt and answer in tokens; the model's own if absent")
      .at_least(2);
  f.add_enum(
      "cuda_graphs", &T::cuda_graphs,
      {{"none", CudaGraphs::none},
       {"piecewise", CudaGraphs::piecewise},
       {"full", CudaGraphs::full},
       {"full_and_piecewise", CudaGraphs::full_and_piecewise}},
      "what is captured as graphs: nothing (each operator is launched from Python), the pieces of layers between "
      "attentions, steps of decodes alone as a whole, or both; `true`: as the engine does, `false`: none");
  f.add("max_cudagraph_capture_size", &T::max_cudagraph_capture_size,
        "largest captured batch; min(512, 2 x the most sequences) if absent, as vLLM")
      .between(1, 65536);
  f.add_enum(
      "kv_windows", &T::kv_windows,
      {{std::string(name_of(KvWindows::ignored)), KvWindows::ignored},
       {std::string(name_of(KvWindows::pooled)), KvWindows::pooled},
       {std::string(name_of(KvWindows::split)), KvWindows::split},
       {std::string(name_of(KvWindows::ratio)), KvWindows::ratio}},
      "KV memory of layers with a sliding window beside layers without: kept whole, blocks of one pool, a pool of "
      "each by what it can use, or 0.8 tokens for each of the others'");
  f.add_enum("first_token", &T::first_token,
             {{"recomputed", FirstToken::recomputed},
              {"transferred", FirstToken::transferred},
              {"prefill", FirstToken::prefill}},
             "after a KV transfer: a decoder computes the last prompt token again, the first token comes with "
             "the KV entries, or the prefill replica answers it");
  serving::KvPlaces::add_fields(f);
  f.add_group("speculation", &T::speculation, speculation_fields(), "speculative decoding; absent: none");
  f.add_group("lora", &T::lora, lora_fields(), "low-rank adapters that calls carry; absent: none");
  f.add_group("cold_start", &T::cold_start, cold_start_fields(),
              "how long a replica takes to start: needed where one may");
}

const Fields<AcceptanceConfig>& acceptance_fields() {
  static const Fields<AcceptanceConfig> fields = [] {
    Fields<AcceptanceConfig> f("accepts", "which calls a pool takes; all, if nothing is said");
    f.add("longer_than", &AcceptanceConfig::longer_than,
          "only calls with more prompt tokens than this that no cache holds (selective offload by length)")
        .at_least(0);
    f.add("up_to", &AcceptanceConfig::up_to, "only calls with at most as many prompt tokens that no cache holds")
        .at_least(0);
    f.add("classes", &AcceptanceConfig::classes, "only calls of these SLO classes");
    f.check([](const AcceptanceConfig& c, const YamlNode& node, Diagnostics& d) {
      if (c.longer_than && c.up_to && *c.longer_than >= *c.up_to)
        d.error(node.where, "no prompt is longer than 'longer_than' and within 'up_to'");
    });
    return f;
  }();
  return fields;
}

const Fields<TakeTurnsConfig>& take_turns_fields() {
  static const Fields<TakeTurnsConfig> fields = [] {
    Fields<TakeTurnsConfig> f("take_turns", "how several models use the same devices, one after the other");
    f.add("least_hold", &TakeTurnsConfig::least_hold,
          "a model that has work keeps the devices for at least this long before another one's calls are served")
        .at_least(0);
    f.add("resident", &TakeTurnsConfig::resident,
          "models whose weights stay in the devices' memory; the others' are loaded when their turn comes")
        .between(1, 1000);
    f.add("load_bandwidth", &TakeTurnsConfig::load_bandwidth,
          "into the memory of each device, from where weights are kept; the device's own if absent")
        .above(0);
    return f;
  }();
  return fields;
}

const Fields<ServingConfig>& serving_fields() {
  static const Fields<ServingConfig> fields = [] {
    Fields<ServingConfig> f("serving", "the serving engine: parallel plan, batcher, router, KV cache");
    add_engine_fields(f);
    f.add_group("pools", &ServingConfig::pools, pool_fields(), "what groups of devices do; absent: all do everything");
    f.add_enum("placement", &ServingConfig::placement,
               {{"in_order", serving::Placement::in_order}, {"least_loaded", serving::Placement::least_loaded}},
               "which of the pools that take a call is sent it: the first that has a replica that serves, or the one "
               "with the fewest outstanding tokens per replica");
    f.add_family("controllers", &ServingConfig::controllers, serving::controllers(),
                 "what starts, drains and converts replicas while the scenario runs")
        .otherwise("[]");
    f.add("retries", &ServingConfig::retries,
          "times that a call is tried again after its replica was lost, then it fails")
        .between(0, 1000);
    f.add("kv_by_layer", &ServingConfig::kv_by_layer,
          "a KV transfer from a prefill to a decode pool moves entries as their layers are computed, not when the "
          "prompt is done");
    f.add_group("front_end", &ServingConfig::front_end, front_end_fields(),
                "what a call passes before an engine sees it");
    f.add_group("admission", &ServingConfig::admission, admission_fields(), "how many calls are let in");
    f.add("retrieval_servers", &ServingConfig::retrieval_servers,
          "servers of the retrieval station, where calls queue; 0: nobody waits there")
        .between(0, 1e6);
    f.add(
        "streaming_input", &ServingConfig::streaming_input,
        "a call whose prompt is still being retrieved is sent with what is there, and each later version as it comes; "
        "false: it is sent when all of it is there");
    return f;
  }();
  return fields;
}

const Fields<Slo>& slo_class_fields() {
  static const Fields<Slo> fields = [] {
    Fields<Slo> f("slo_class", "limits of one class of requests");
    f.add("ttft", &Slo::ttft, "longest time to the first token").above(0);
    f.add("tpot", &Slo::tpot, "longest time per output token").above(0);
    f.add("e2e", &Slo::e2e, "longest time to the last token").above(0);
    return f;
  }();
  return fields;
}

const Fields<SloConfig>& slo_fields() {
  static const Fields<SloConfig> fields = [] {
    Fields<SloConfig> f("slo", "limits that a request without a class must meet, all of them, to count as good");
    f.add("ttft", &SloConfig::ttft, "longest time to the first token").above(0);
    f.add("tpot", &SloConfig::tpot, "longest time per output token").above(0);
    f.add("e2e", &SloConfig::e2e, "longest time to the last token").above(0);
    f.add_group("classes", &SloConfig::classes, slo_class_fields(),
                "limits of named classes, for mixtures: they stand for those of 'slo' itself");
    return f;
  }();
  return fields;
}

}  // namespace

const Fields<PoolConfig>& pool_fields() {
  static const Fields<PoolConfig> fields = [] {
    using serving::Role;
    Fields<PoolConfig> f("pool",
                         "groups of devices that serve together; the engine's other settings are those of 'serving'");
    f.add("name", &PoolConfig::name, "what results call it; the names of its groups if absent");
    f.add("devices", &PoolConfig::devices, "names of groups of devices; absent: all");
    f.add("model", &PoolConfig::model, "which of the scenario's 'models' it serves; absent: 'model'");
    f.add("models", &PoolConfig::models,
          "several of the scenario's models (main: its 'model') that use the same devices in turns");
    f.add_group("take_turns", &PoolConfig::take_turns, take_turns_fields(), "how they take turns");
    f.add_group("accepts", &PoolConfig::accepts, acceptance_fields(), "which calls it takes; absent: all");
    f.add_enum("role", &PoolConfig::role, {{"any", Role::any}, {"prefill", Role::prefill}, {"decode", Role::decode}},
               "prefill: prompts and first tokens, which a decode pool goes on with");
    add_engine_fields(f);
    return f;
  }();
  return fields;
}

models::ParallelPlan EngineConfig::plan() const {
  return {static_cast<int>(tensor_parallel),
          static_cast<int>(pipeline_parallel),
          static_cast<int>(expert_parallel),
          lock_step ? static_cast<int>(data_parallel) : 1,
          expert_exchange,
          static_cast<int>(redundant_experts)};
}

const Fields<ScenarioConfig>& scenario_fields() {
  static const Fields<ScenarioConfig> fields = [] {
    Fields<ScenarioConfig> f("scenario", "a model, served on hardware, under a workload");
    f.add_group("model", &ScenarioConfig::model, model_fields(), "the model that is served").required();
    f.add_group("models", &ScenarioConfig::models, model_fields(),
                "further models, by the name that pools and workloads use; calls that name none are for 'model'");
    f.add_group("hardware", &ScenarioConfig::hardware, hardware_fields(), "what it is served on").required();
    f.add_group("serving", &ScenarioConfig::serving, serving_fields(), "the serving engine");
    f.add_group("workload", &ScenarioConfig::workload, workloads::workload_fields(), "what arrives")
        .preset_from("workloads")
        .required();
    f.add_group("slo", &ScenarioConfig::slo, slo_fields(), "what counts as good");
    f.add_group("cost", &ScenarioConfig::cost, result::cost_fields(),
                "what it costs: your own prices, here or in a file of prices (schema prices/1): cost: prices.yaml")
        .preset_from("prices");
    f.add_group("faults", &ScenarioConfig::faults, faults_fields(), "what breaks, and when it is repaired");
    f.add_group("window", &ScenarioConfig::window, window_fields(),
                "the part of the run that rates, costs, joules, power and busy shares are taken from");
    f.check(&check_window);
    f.add("horizon", &ScenarioConfig::horizon, "simulated time at which the run stops, finished or not").above(0);
    f.add("seed", &ScenarioConfig::seed, "seed of every random stream").at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::scenario
