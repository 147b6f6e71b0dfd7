// SPDX-License-Identifier: Apache-2.0
// Keys and methods are those of vLLM 0.6 to 0.24: vllm/config/speculative.py, compilation.py, lora.py and
// kv_transfer.py.
#include "sim/cli/vllm_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/scenario/lora.hpp"
#include "sim/scenario/speculation.hpp"

namespace llmscape::cli {
namespace {

using Json = nlohmann::json;

// Of drafts of a head on chat: EAGLE-3 (arXiv 2503.01840, table 1) accepts 0.7 to 0.8 a position. No command says it.
constexpr double kAcceptance = 0.7;
constexpr std::int64_t kLoraRank = 16, kMaxLoras = 1;  // vLLM's defaults
constexpr double kGibibyte = 1073741824;
constexpr double kHostLink = 50;  // GB/s of one device to its host: hardware/catalog/tiers/host-ddr5

YamlNode written(std::string text) { return YamlNode::scalar(std::move(text)); }

class SectionReader {
 public:
  SectionReader(YamlNode& serving, Diagnostics& diagnostics) : serving_(serving), diagnostics_(diagnostics) {}

  VllmSectionsRead read(const VllmSections& said, std::int64_t tensor_parallel) {
    pipeline();
    if (said.speculation) speculation(*said.speculation);
    if (said.compilation) compilation(*said.compilation);
    if (said.lora) lora(said);
    if (said.kv_transfer) kv_transfer(*said.kv_transfer, tensor_parallel);
    if (said.kv_offloading) offload(said.kv_offloading->text, kGibibyte, said.kv_offloading->where, tensor_parallel);
    return std::move(read_);
  }

 private:
  // An object, or null after reporting.
  Json object(const VllmText& value, std::string_view option) {
    Json json = Json::parse(value.text, nullptr, false);
    if (json.is_object()) return json;
    diagnostics_.error(value.where, fmt::format("'{}' is no JSON object", option),
                       "quote it: '{\"method\": \"eagle3\", \"num_speculative_tokens\": 3}'");
    return {};
  }

  static std::string text_at(const Json& json, const char* key) {
    return json.contains(key) && json.at(key).is_string() ? json.at(key).get<std::string>() : "";
  }

  // EngineCore keeps as many batches under way as there are stages (max_concurrent_batches).
  void pipeline() {
    const YamlNode* found = serving_.find("pipeline_parallel");
    const std::string stages = found ? found->text : "1";
    if (stages == "1") return;
    serving_.set("pipeline_batches", written(stages));
    read_.assumed.push_back(
        fmt::format("{} batches are under way, one in each stage, each with a queue and a share of the KV pool of its "
                    "own (pipeline_batches)",
                    stages));
  }

  void speculation(const VllmText& value) {
    const Json json = object(value, "--speculative-config");
    if (json.is_null()) return;
    const std::string model = text_at(json, "model");
    std::string method = text_at(json, "method");
    if (method.empty()) method = model.empty() || model == "ngram" || model == "[ngram]" ? "ngram" : "draft_model";
    constexpr std::array<std::string_view, 5> kHeads = {"eagle", "eagle3", "medusa", "mlp_speculator", "mtp"};
    const bool heads = std::ranges::find(kHeads, method) != kHeads.end() || method.ends_with("_mtp");
    if (!heads && method != "ngram" && method != "suffix" && method != "draft_model") {
      diagnostics_.error(value.where, fmt::format("drafts of the method {} are not modelled", in_quotes(method)),
                         "known: ngram, suffix, draft_model, eagle, eagle3, medusa, mlp_speculator, mtp");
      return;
    }
    const bool counted = json.contains("num_speculative_tokens");
    const Json& tokens = counted ? json.at("num_speculative_tokens") : Json();
    if (counted ? !tokens.is_number_integer() || tokens < 1 || tokens > 64 : !method.ends_with("mtp")) {
      diagnostics_.error(value.where, "'num_speculative_tokens' must be a whole number from 1 to 64");
      return;
    }
    const std::int64_t drafts = counted ? tokens.get<std::int64_t>() : 1;  // a model's own layers predict one
    scenario::SpeculationConfig section;
    section.tokens = drafts;
    section.acceptance = kAcceptance;
    read_.assumed.push_back(fmt::format(
        "{} of the drafts accepted (speculation.acceptance: workloads differ, measure yours)", kAcceptance));
    if (heads) read_.draft_layers = drafts;
    if (method == "draft_model") read_.draft_model = VllmText{model, value.where};
    serving_.set("speculation", scenario::speculation_fields().write(section));
  }

  // Of vLLM's compilation only which graphs it captures is modelled. --enforce-eager leaves none.
  void compilation(const VllmText& value) {
    const auto left_out = [&](const std::string& what, std::string hint) {
      diagnostics_.warning(value.where, what, std::move(hint));
    };
    const Json json = Json::parse(value.text, nullptr, false);
    if (!json.is_object())
      return left_out("only the JSON of '--compilation-config' is read: it was left out",
                      R"(write it as '{"cudagraph_mode": "FULL_AND_PIECEWISE"}')");
    const YamlNode* eager = serving_.find("cuda_graphs");
    const bool graphs = !eager || eager->text != "false";
    std::vector<std::string> others;
    for (const auto& [key, said] : json.items()) {
      if (said.is_null()) continue;
      if (key == "cudagraph_mode") {
        const std::string mode = graph_mode(said);
        if (mode.empty())
          left_out(fmt::format("there is no cudagraph_mode {}: it was left out", in_quotes(said.dump())),
                   "known: NONE, PIECEWISE, FULL, FULL_DECODE_ONLY, FULL_AND_PIECEWISE");
        else if (graphs) serving_.set("cuda_graphs", written(mode));
      } else if (key == "max_cudagraph_capture_size" && said.is_number_integer() && said > 0) {
        serving_.set(key, written(said.dump()));
      } else {
        others.push_back(key);
      }
    }
    if (!others.empty())
      read_.assumed.push_back(
          fmt::format("of --compilation-config its graphs alone are read, not {}", fmt::join(others, ", ")));
  }

  // Our name for CompilationConfig.cudagraph_mode, by its name or as the enumeration is logged. Graphs of whole steps
  // are captured of decodes alone here, as FULL_DECODE_ONLY has them.
  static std::string graph_mode(const Json& said) {
    struct Mode {
      std::string_view theirs, logged, ours;
    };
    constexpr std::array<Mode, 5> kModes = {{{"NONE", "0", "none"},
                                             {"PIECEWISE", "1", "piecewise"},
                                             {"FULL", "2", "full"},
                                             {"FULL_DECODE_ONLY", "[2,0]", "full"},
                                             {"FULL_AND_PIECEWISE", "[2,1]", "full_and_piecewise"}}};
    std::string name = said.is_string() ? said.get<std::string>() : said.dump();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    for (const Mode& mode : kModes)
      if (name == mode.theirs || name == mode.logged) return std::string(mode.ours);
    return "";
  }

  void lora(const VllmSections& said) {
    const std::int64_t resident = said.max_loras.value_or(kMaxLoras);
    scenario::LoraConfig section;
    section.rank = static_cast<int>(said.max_lora_rank.value_or(kLoraRank));
    section.targets = {"q", "k", "v", "o"};
    section.adapters = said.adapters.value_or(resident);
    section.resident = resident;
    serving_.set("lora", scenario::lora_fields().write(section));
    read_.assumed.push_back(
        fmt::format("every call carries one of {} adapters, all alike popular, of the projections q, k, v and o (lora)",
                    said.adapters.value_or(resident)));
  }

  void kv_transfer(const VllmText& value, std::int64_t tensor_parallel) {
    const Json json = object(value, "--kv-transfer-config");
    if (json.is_null()) return;
    const std::string connector = text_at(json, "kv_connector"), role = text_at(json, "kv_role");
    const Json extra = json.value("kv_connector_extra_config", Json::object());
    if (connector == "OffloadingConnector" && extra.contains("cpu_bytes_to_use")) {
      const Json& bytes = extra.at("cpu_bytes_to_use");
      return offload(bytes.is_string() ? bytes.get<std::string>() : bytes.dump(), 1, value.where, tensor_parallel);
    }
    if (connector == "OffloadingConnector" || connector.starts_with("LMCache")) {
      read_.assumed.push_back(
          "KV entries go to 256 GB of host memory for each replica (kv_tiers): the command does not "
          "say how much");
      return tier("256 GB", tensor_parallel);
    }
    if (role == "kv_producer" || role == "kv_consumer") {
      diagnostics_.error(value.where,
                         fmt::format("this is the half of a disaggregated system that {}: alone it serves nobody",
                                     role == "kv_producer" ? "computes prompts" : "decodes"),
                         "write both under serving.pools, with role: prefill and role: decode");
      return;
    }
    diagnostics_.warning(value.where,
                         fmt::format("what moves KV entries through {} is told to a proxy, not to this command: it is "
                                     "read as a replica that does everything",
                                     connector.empty() ? "it" : in_quotes(connector)),
                         "pools of prefill and decode replicas are written under serving.pools");
  }

  void offload(const std::string& size, double unit, const SourceRange& where, std::int64_t tensor_parallel) {
    const Json number = Json::parse(size, nullptr, false);
    if (!number.is_number() || !(number.get<double>() > 0) || number.get<double>() * unit > 1e18) {
      diagnostics_.error(where, fmt::format("{} is no size of host memory", in_quotes(size)));
      return;
    }
    tier(fmt::format("{} B", number.get<double>() * unit), tensor_parallel);
  }

  // Each device has a link to the host.
  void tier(std::string capacity, std::int64_t tensor_parallel) {
    const std::string bandwidth = fmt::format("{} GB/s", kHostLink * static_cast<double>(tensor_parallel));
    YamlNode one;
    one.set("preset", written("host-ddr5"));
    one.set("capacity", written(std::move(capacity)));
    one.set("read", written(bandwidth));
    one.set("write", written(bandwidth));
    YamlNode tiers;
    tiers.kind = YamlNode::Kind::sequence;
    tiers.items.push_back(std::move(one));
    serving_.set("kv_tiers", std::move(tiers));
  }

  YamlNode& serving_;
  Diagnostics& diagnostics_;
  VllmSectionsRead read_;
};

}  // namespace

VllmSectionsRead read_vllm_sections(const VllmSections& said, std::int64_t tensor_parallel, YamlNode& serving,
                                    Diagnostics& diagnostics) {
  return SectionReader(serving, diagnostics).read(said, tensor_parallel);
}

}  // namespace llmscape::cli
