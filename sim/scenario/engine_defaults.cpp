// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/engine_defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "sim/scenario/engine_versions.hpp"

namespace llmscape::scenario {
namespace {

// From a version on, an engine does this unless told otherwise; a later row replaces an earlier one's value, an empty
// one takes it back.
struct Default {
  std::string_view engine, from, key, value;
};

// Sources: the release notes and configuration of each engine. vLLM: CUDA graphs since 0.2.7; engine v1 with piecewise
// graphs since 0.8, hybrid KV cache groups since 0.10, FULL_AND_PIECEWISE since 0.11
// (CompilationConfig.cudagraph_mode), asynchronous scheduling since 0.14 (SchedulerConfig.async_scheduling). SGLang:
// overlap scheduler since 0.4, swa_full_tokens_ratio 0.8. TensorRT-LLM: the PyTorch flow with its overlap scheduler
// since 1.0. First tokens of disaggregated serving: vLLM's decoders compute the last prompt token again
// (num_external_computed_tokens = prompt - 1), SGLang and TensorRT-LLM send the first token with the KV entries.
// vLLM's engine v1 has all sequences of a step in one call of attention; v0 called it for prompts and for decodes, as
// TensorRT-LLM (context and generation phase) and SGLang do, Sarathi's authors did, and Orca by request (all from
// memory but Orca's and Sarathi's, whose papers say so).
// transformers: padded batches without anything captured, a DynamicCache that torch.cat makes anew in each step, logits
// of the last token alone since 4.45 (num_logits_to_keep of generate; all of them before), scaled_dot_product_attention
// (before 4.36 eager).
// First reports under a stream interval n (default 1 in all three): vLLM's output processor and TensorRT-LLM's executor
// send the first token at once; SGLang's scheduler sends when the length of the answer is a multiple of n, newer ones
// when it is one more than that (scheduler_output_processor_mixin.py; that 0.5 is the first of them is from memory).
// The host of vLLM before engine v1, beside that of the catalogue's devices: fitted end to end, on every other
// deployment of argonne-lcf/LLM-Inference-Bench @ 4211f5d (vLLM of 2024 on A100s; tests/validation/rows/
// inference_bench.yaml leaves these out of all scores). On the other half the error of a batch's latency falls from
// 15.3 to 4.5 % in the median; fitted on that half, the constants are 600 and 74 us, and the error here falls from 12.9
// to 4.7 %. TensorRT-LLM of the same time needs none. Engine v1 before its workers' inputs and outputs were overlapped
// too: the same on the 104 rows of ml-energy/leaderboard @ 0cd52da (vLLM 0.11.1 with asynchronous scheduling, H100s),
// by model and number of devices. Fitted on seven deployments, gaps between tokens of the other seven are 4.8 % off
// (20.5 % without); on those, 1.0 ms and 48 us, and the seven are 5.4 % off (17.4 %). That table's own rows are scored
// without them. Rows of 0.16 and 0.18 show none; 0.8 to 0.10 are taken to be like 0.11.
constexpr std::array kDefaults = {
    Default{"vllm", "0", "batcher", "vllm_v0"},
    Default{"vllm", "0", "attention", "flash_separate"},
    Default{"vllm", "0", "cuda_graphs", "none"},
    Default{"vllm", "0", "asynchronous", "false"},
    Default{"vllm", "0", "kv_windows", "ignored"},
    Default{"vllm", "0", "first_token", "recomputed"},
    Default{"vllm", "0", "first_report", "at_once"},
    Default{"vllm", "0", "per_step", "600 us"},
    Default{"vllm", "0", "per_sequence", "82 us"},
    Default{"vllm", "0.2.7", "cuda_graphs", "full"},
    Default{"vllm", "0.8", "batcher", "vllm_v1"},
    Default{"vllm", "0.8", "attention", ""},
    Default{"vllm", "0.8", "cuda_graphs", "piecewise"},
    Default{"vllm", "0.8", "per_step", "1.1 ms"},
    Default{"vllm", "0.8", "per_sequence", "38 us"},
    Default{"vllm", "0.10", "kv_windows", "pooled"},
    Default{"vllm", "0.11", "cuda_graphs", "full_and_piecewise"},
    Default{"vllm", "0.14", "asynchronous", "true"},
    Default{"vllm", "0.14", "per_step", "0 s"},
    Default{"vllm", "0.14", "per_sequence", "0 s"},
    Default{"vllm", "0.19", "", ""},
    Default{"sglang", "0", "batcher", "sglang"},
    Default{"sglang", "0", "attention", "flash_separate"},
    Default{"sglang", "0", "cuda_graphs", "full"},
    Default{"sglang", "0", "asynchronous", "false"},
    Default{"sglang", "0", "kv_windows", "ratio"},
    Default{"sglang", "0", "first_token", "transferred"},
    Default{"sglang", "0", "first_report", "with_interval"},
    Default{"sglang", "0.4", "asynchronous", "true"},
    Default{"sglang", "0.5", "first_report", "at_once"},
    Default{"tensorrt_llm", "0", "batcher", "trtllm"},
    Default{"tensorrt_llm", "0", "attention", "flash_separate"},
    Default{"tensorrt_llm", "0", "cuda_graphs", "full"},
    Default{"tensorrt_llm", "0", "asynchronous", "false"},
    Default{"tensorrt_llm", "0", "kv_windows", "split"},
    Default{"tensorrt_llm", "0", "first_token", "transferred"},
    Default{"tensorrt_llm", "0", "first_report", "at_once"},
    Default{"tensorrt_llm", "1.0", "asynchronous", "true"},
    Default{"orca", "0", "batcher", "orca"},
    Default{"orca", "0", "attention", "flash_separate"},
    Default{"orca", "0", "cuda_graphs", "none"},
    Default{"orca", "0", "kv_windows", "ignored"},
    Default{"orca", "0", "first_token", "prefill"},
    Default{"orca", "0", "first_report", "at_once"},
    Default{"sarathi", "0", "batcher", "sarathi"},
    Default{"sarathi", "0", "attention", "flash_separate"},
    Default{"sarathi", "0", "cuda_graphs", "none"},
    Default{"sarathi", "0", "kv_windows", "ignored"},
    Default{"sarathi", "0", "first_token", "prefill"},
    Default{"sarathi", "0", "first_report", "at_once"},
    Default{"transformers", "0", "batcher", "static"},
    Default{"transformers", "0", "cuda_graphs", "none"},
    Default{"transformers", "0", "kv_windows", "ignored"},
    Default{"transformers", "0", "first_token", "prefill"},
    Default{"transformers", "0", "kv_cache", "concatenated"},
    Default{"transformers", "0", "attention", "eager"},
    Default{"transformers", "0", "logits", "all"},
    Default{"transformers", "4.36", "attention", "flash"},
    Default{"transformers", "4.45", "logits", "last"},
};

// Batchers that are of one engine alone; the version is what is taken where only the batcher is named.
struct Home {
  std::string_view batcher, engine, version;
};
constexpr std::array kHomes = {Home{"vllm_v0", "vllm", "0.6"}, Home{"vllm_v1", "vllm", "0.19"},
                               Home{"sglang", "sglang", "0.5"}, Home{"trtllm", "tensorrt_llm", "1.0"}};

// It runs the batches that it is given: any batcher may stand for whoever calls it.
constexpr std::string_view kWithoutScheduler = "transformers";

// Where a batcher says that steps are planned while another runs.
struct Switch {
  std::string_view batcher, key;
};
constexpr std::array kAsynchronous = {Switch{"vllm_v1", "async_scheduling"}, Switch{"layered", "async_scheduling"},
                                      Switch{"sglang", "overlap_schedule"}, Switch{"trtllm", "overlap_scheduler"}};

// These begin with whole prompts only: their decoders cannot compute the last token of one whose entries have come.
constexpr std::array<std::string_view, 4> kWholePrompts = {"vllm_v0", "orca", "trtllm", "static"};

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Default& row : kDefaults)
    if (std::ranges::find(names, row.engine) == names.end()) names.emplace_back(row.engine);
  return names;
}

std::string newest(std::string_view engine) {
  std::string_view version = "0";
  for (const Default& row : kDefaults)
    if (row.engine == engine) version = row.from;
  return std::string(version);
}

std::map<std::string_view, std::string_view> defaults_of(std::string_view engine, std::string_view version) {
  std::map<std::string_view, std::string_view> all;
  for (const Default& row : kDefaults)
    if (row.engine == engine && !row.key.empty() && compare_versions(row.from, version) <= 0) all[row.key] = row.value;
  std::erase_if(all, [](const auto& said) { return said.second.empty(); });
  return all;
}

// A scalar of the mapping as written; nothing if it is not there.
std::optional<std::string> text_of(const YamlNode& node, std::string_view key) {
  const YamlNode* value = node.find(key);
  return value && value->is_scalar() ? std::optional(value->text) : std::nullopt;
}

std::int64_t number_of(const YamlNode& node, std::string_view key) {
  const std::string text = text_of(node, key).value_or("1");
  std::int64_t number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

YamlNode scalar(std::string_view text, std::string_view origin, bool quoted = false) {
  YamlNode node = YamlNode::scalar(std::string(text), quoted);
  node.origin = origin;
  return node;
}

// vLLM plans ahead neither through a pipeline nor beside drafts, but those that heads or a last layer of the model
// itself make (EAGLE, MTP); SGLang's and TensorRT-LLM's overlap do not ask.
bool may_overlap(const YamlNode& engine, std::string_view name) {
  if (name != "vllm") return true;
  if (number_of(engine, "pipeline_parallel") > 1) return false;
  const YamlNode* speculation = engine.find("speculation");
  if (!speculation || !speculation->is_mapping() || text_of(*speculation, "tokens") == "0") return true;
  const YamlNode* draft = speculation->find("draft");
  return draft && draft->find("share");
}

void write_mode(YamlNode& engine, std::string_view usual) {
  YamlNode* graphs = engine.find("cuda_graphs");
  if (!graphs || !graphs->is_scalar()) return;
  if (graphs->text == "false") graphs->text = "none";
  if (graphs->text == "true") graphs->text = usual == "none" ? "full" : std::string(usual);
}

void lay(YamlNode& engine, Diagnostics& diagnostics) {
  const YamlNode* batcher = engine.find("batcher");
  if (batcher && !batcher->is_mapping())
    return;  // its fields say what is wrong, as they do of a policy that is no word
  const std::optional<std::string> policy = batcher ? text_of(*batcher, "policy") : std::nullopt;
  if (batcher && batcher->find("policy") && !policy) return;
  const auto home = std::ranges::find(kHomes, policy.value_or(""), &Home::batcher);
  YamlNode* named = engine.find("engine");
  if (named && !named->is_mapping()) return;  // its fields say what is wrong
  const bool said = named != nullptr;
  const std::string name = said && text_of(*named, "name") ? *text_of(*named, "name")
                           : home != kHomes.end()          ? std::string(home->engine)
                                                           : "vllm";
  const std::vector<std::string> known = engine_names();
  if (std::ranges::find(known, name) == known.end()) return;
  const std::string version = said && text_of(*named, "version")             ? *text_of(*named, "version")
                              : home != kHomes.end() && home->engine == name ? std::string(home->version)
                                                                             : newest(name);
  if (!is_version(version)) return;
  if (policy && home != kHomes.end() && home->engine != name && name != kWithoutScheduler)
    diagnostics.error(batcher->find("policy")->where, fmt::format("{} does not schedule as '{}' does", name, *policy),
                      fmt::format("engine: {{name: {}}}", home->engine));
  const auto defaults = defaults_of(name, version);
  const std::string origin = said ? fmt::format("engine {} {}", name, version) : "default";

  if (!said) named = &engine.set("engine", YamlNode::mapping(engine.where));
  if (!named->find("name")) named->set("name", scalar(name, origin));
  if (!named->find("version")) named->set("version", scalar(version, origin, true));
  for (const std::string_view key : {"kv_cache", "attention", "logits"})
    if (defaults.contains(key) && !named->find(key)) named->set(std::string(key), scalar(defaults.at(key), origin));
  if (const auto first = defaults.find("first_report"); first != defaults.end() &&
                                                        text_of(*named, "stream_interval").value_or("1") != "1" &&
                                                        !named->find("first_report"))
    named->set("first_report", scalar(first->second, origin));
  // A batcher alone says how steps are planned, not whose host plans them.
  for (const std::string_view key : {"per_step", "per_sequence"})
    if (const auto cost = defaults.find(key);
        said && cost != defaults.end() && cost->second != "0 s" && !named->find(key))
      named->set(key, scalar(cost->second, origin + ", fitted end to end"));
  if (!batcher) engine.set("batcher", YamlNode::mapping(engine.where));
  YamlNode& scheduler = *engine.find("batcher");
  if (!policy) scheduler.set("policy", scalar(defaults.at("batcher"), origin));
  const std::string_view schedules = policy ? std::string_view(*policy) : defaults.at("batcher");
  const auto ahead = std::ranges::find(kAsynchronous, schedules, &Switch::batcher);
  if (ahead != kAsynchronous.end() && defaults.contains("asynchronous") && !scheduler.find(ahead->key)) {
    const bool overlaps = defaults.at("asynchronous") == "true" && may_overlap(engine, name);
    scheduler.set(ahead->key, scalar(overlaps ? "true" : "false", origin));
  }
  const bool whole = std::ranges::find(kWholePrompts, schedules) != kWholePrompts.end();
  if (const YamlNode* first = engine.find("first_token"); whole && first && first->text == "recomputed")
    diagnostics.error(first->where,
                      fmt::format("'{}' begins with whole prompts: it cannot go on with one whose last "
                                  "token is left to compute",
                                  schedules),
                      "first_token: transferred");
  for (const std::string_view key : {"cuda_graphs", "kv_windows", "first_token"})
    if (!engine.find(key)) {
      const bool impossible = whole && defaults.at(key) == "recomputed";
      engine.set(key, scalar(impossible ? "prefill" : defaults.at(key), origin));
    }
  write_mode(engine, defaults.at("cuda_graphs"));
}

}  // namespace

std::string_view engine_default(std::string_view engine, std::string_view version, std::string_view key) {
  const auto defaults = defaults_of(engine, version);
  const auto value = defaults.find(key);
  return value == defaults.end() ? std::string_view() : value->second;
}

const Fields<EngineChoice>& engine_fields() {
  static const Fields<EngineChoice> fields = [] {
    Fields<EngineChoice> f("engine", "the serving engine, which chooses what the scenario leaves open");
    f.add("name", &EngineChoice::name,
          "which; absent: the one whose batcher is used, vLLM where that is of none (orca, sarathi, static, layered, "
          "streaming)")
        .one_of(engine_names());
    f.add("version", &EngineChoice::version,
          "its version, as a text of numbers (\"0.13\"); absent: the newest whose defaults are known");
    f.add("kernels", &EngineChoice::kernels,
          "which of the devices' kernel sets it runs, where back ends were chosen that are not its defaults "
          "(vllm_marlin: VLLM_MXFP4_USE_MARLIN); absent: its own");
    using models::KvCacheForm, models::AttentionForm, models::LogitRows;
    f.add_enum(
        "kv_cache", &EngineChoice::kv_cache,
        {{"paged", KvCacheForm::paged}, {"static", KvCacheForm::slots}, {"concatenated", KvCacheForm::concatenated}},
        "where KV entries lie: in blocks; in a slot of max_model_len tokens for each sequence, which decodes read "
        "to its end; in a tensor that each step reads and writes once more, with its new entries");
    f.add_enum(
        "attention", &EngineChoice::attention,
        {{"flash", AttentionForm::flash},
         {"flash_separate", AttentionForm::flash_separate},
         {"eager", AttentionForm::eager}},
        "prompts and decodes of a step in one kernel where the device's takes both (FlashAttention 2), or always "
        "in a kernel each, or GEMMs and a softmax between which all scores are written to memory and read; "
        "absent: as the version does");
    f.add_enum("logits", &EngineChoice::logits, {{"last", LogitRows::last}, {"all", LogitRows::all}},
               "the head computes those that a token is drawn from, or those of all tokens of a step");
    f.add_enum("sampling", &EngineChoice::sampling,
               {{"streamed", models::Sampling::streamed}, {"sorted", models::Sampling::sorted}},
               "tokens are drawn from logits that are read once, or sorted first: top-p in vLLM's PyTorch sampler");
    f.add("stream_interval", &EngineChoice::stream_interval,
          "tokens of an answer that are sent to its user together (--stream-interval); 1: each as it comes")
        .between(1, 100000);
    f.add_enum(
        "first_report", &EngineChoice::first_report,
        {{"at_once", EngineChoice::FirstReport::at_once}, {"with_interval", EngineChoice::FirstReport::with_interval}},
        "whether the first token is sent by itself or waits for a whole interval; absent: as the version does");
    f.add("per_step", &EngineChoice::per_step,
          "what its host takes for a step, beside what the device's 'host' says; absent: as the version does")
        .at_least(0);
    f.add("per_sequence", &EngineChoice::per_sequence,
          "the same for each sequence of a step: sampling, detokenising, block tables")
        .at_least(0);
    f.check([](const EngineChoice& engine, const YamlNode& node, Diagnostics& d) {
      if (const YamlNode* first = node.find("first_report");
          first && engine.stream_interval == 1 && engine.first_report == EngineChoice::FirstReport::with_interval)
        d.error(first->where, "'first_report' has no effect without 'stream_interval': each token is sent as it comes",
                "stream_interval: 10");
      const YamlNode* version = node.find("version");
      if (version && !is_version(engine.version))
        d.error(version->where, fmt::format("'version' is numbers with points between them, not '{}'", engine.version),
                "version: \"0.13\"");
    });
    return f;
  }();
  return fields;
}

void lay_engine_defaults(YamlNode& root, Diagnostics& diagnostics) {
  if (!root.is_mapping()) return;
  YamlNode* serving = root.find("serving");
  if (!serving) serving = &root.set("serving", YamlNode::mapping(root.where));
  if (serving->kind == YamlNode::Kind::null) *serving = YamlNode::mapping(serving->where);
  if (!serving->is_mapping()) return;
  YamlNode* pools = serving->find("pools");
  if (pools && pools->is_sequence())
    for (YamlNode& pool : pools->items)
      if (pool.is_mapping()) lay(pool, diagnostics);
  lay(*serving, diagnostics);
}

}  // namespace llmscape::scenario
