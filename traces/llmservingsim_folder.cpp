// SPDX-License-Identifier: Apache-2.0
// A model's profile by LLMServingSim (github.com casys-kaist/LLMServingSim; MIT): meta.json, and for each
// tensor-parallel degree a folder tp1, tp2, ... of layer times inside vLLM, in microseconds: dense.csv and
// per_sequence.csv (operators by tokens or sequences of the step), attention.csv (one prompt chunk beside decodes of
// equal context) and, of routed models, moe.csv (by tokens and experts touched). Its skew.csv tells ratios only and is
// not read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/opened_files.hpp"
#include "traces/kernel_table_format.hpp"

namespace llmscape::traces {
namespace {

namespace fs = std::filesystem;

constexpr double kMicroseconds = 1e-6;

// What meta.json does not say of a model (its config.json on Hugging Face does).
struct KnownModel {
  std::string_view name;
  std::int64_t hidden, head_dim;
  std::int64_t experts, experts_per_token, expert_width;  // 0: no routed layers
};
constexpr KnownModel kModels[] = {{"meta-llama/Llama-3.1-8B", 4096, 128, 0, 0, 0},
                                  {"Qwen/Qwen3-32B", 5120, 128, 0, 0, 0},
                                  {"Qwen/Qwen3-30B-A3B-Instruct-2507", 2048, 128, 128, 8, 768}};

// The shares of one rank.
struct Rank {
  const KnownModel* model = nullptr;
  std::int64_t tp = 1, width = 0, heads = 0, kv_heads = 0, vocabulary = 0;
  std::int64_t whole_vocabulary = 0;
  std::string format;
};

struct Profile {
  Rank model;                         // as tp 1
  std::vector<std::int64_t> degrees;  // tensor-parallel
};

// meta.json, whose sizes are those of a rank of the highest degree; nothing after reporting.
std::optional<Profile> read_meta(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  const SourceRange where{std::make_shared<SourceText>(SourceText{path, {}})};
  std::string problem;
  const auto text = read_file(path, problem);
  if (!text) {
    diagnostics.error(where, problem);
    return std::nullopt;
  }
  try {
    const nlohmann::json meta = nlohmann::json::parse(*text);
    const auto name = meta.at("model").get<std::string>();
    const auto* model = std::ranges::find(kModels, name, &KnownModel::name);
    if (model == std::end(kModels)) {
      diagnostics.error(where, fmt::format("the widths of model {} are not known", in_quotes(name)));
      return std::nullopt;
    }
    const nlohmann::json& sizes = meta.at("engine_effective").at("hf_overrides");
    const auto degrees = meta.at("tp_degrees").get<std::vector<std::int64_t>>();
    if (const auto wrong = std::ranges::find_if(degrees, [](std::int64_t tp) { return tp < 1; });
        wrong != degrees.end()) {
      diagnostics.error(where, fmt::format("'tp_degrees' holds {}: a tensor-parallel degree is at least 1", *wrong));
      return std::nullopt;
    }
    const std::int64_t tp = degrees.empty() ? 1 : std::ranges::max(degrees);
    const auto whole = [&](const char* key) { return tp * sizes.at(key).get<std::int64_t>(); };
    const Rank rank{model,
                    1,
                    whole("intermediate_size"),
                    whole("num_attention_heads"),
                    whole("num_key_value_heads"),
                    whole("vocab_size"),
                    whole("vocab_size"),
                    meta.at("variant").get<std::string>()};
    add_name(into.device, meta.at("gpu").get<std::string>());
    add_name(into.software, fmt::format("vLLM {}", meta.at("vllm_version").get<std::string>()));
    return Profile{rank, degrees};
  } catch (const nlohmann::json::exception&) {
    diagnostics.error(where, "no meta.json of LLMServingSim's profiler: no JSON, or without its keys");
    return std::nullopt;
  }
}

Rank share_of(const Rank& model, std::int64_t tp) {
  Rank rank = model;
  rank.tp = tp;
  rank.width /= tp;
  rank.heads /= tp;
  rank.kv_heads = std::max<std::int64_t>(1, rank.kv_heads / tp);
  rank.vocabulary /= tp;
  return rank;
}

// The operators of dense.csv and per_sequence.csv. Those without a reader are known and passed over: qk_norm is the sum
// of two norms.
using ReadOperator = std::function<void(const Rank& rank, std::int64_t rows, Seconds time, KernelTables& into)>;

ReadOperator gemm(std::int64_t (*n)(const Rank&), std::int64_t (*k)(const Rank&)) {
  return [n, k](const Rank& rank, std::int64_t rows, Seconds time, KernelTables& into) {
    into.gemm.push_back({{rows, n(rank), k(rank), rank.format}, time});
  };
}
ReadOperator elementwise(std::string kind, std::int64_t (*width)(const Rank&)) {
  return [kind = std::move(kind), width](const Rank& rank, std::int64_t rows, Seconds time, KernelTables& into) {
    into.elementwise.push_back({{kind, rows, width(rank), rank.format}, time});
  };
}

const std::map<std::string_view, ReadOperator>& layers() {
  const auto hidden = [](const Rank& r) { return r.model->hidden; };
  const auto width = [](const Rank& r) { return r.width; };
  const auto gate_up = [](const Rank& r) { return 2 * r.width; };
  const auto queries = [](const Rank& r) { return r.heads * r.model->head_dim; };
  const auto queries_keys = [](const Rank& r) { return (r.heads + r.kv_heads) * r.model->head_dim; };
  const auto queries_keys_values = [](const Rank& r) { return (r.heads + 2 * r.kv_heads) * r.model->head_dim; };
  const auto vocabulary = [](const Rank& r) { return r.vocabulary; };
  static const std::map<std::string_view, ReadOperator> readers = {
      {"qkv_proj", gemm(queries_keys_values, hidden)},
      {"o_proj", gemm(hidden, queries)},
      {"gate_up_proj", gemm(gate_up, hidden)},
      {"down_proj", gemm(hidden, width)},
      {"act_fn", elementwise("activation", width)},
      {"layernorm", elementwise("norm", hidden)},
      {"final_layernorm", elementwise("norm", hidden)},
      {"rotary_emb", elementwise("rope", queries_keys)},
      {"embedding", elementwise("embedding", hidden)},
      {"qk_norm", {}},
      {"lm_head", gemm(vocabulary, hidden)},
      {"sampler", elementwise("sampling", [](const Rank& r) { return r.whole_vocabulary; })},
  };
  return readers;
}

// dense.csv and per_sequence.csv, whose second columns differ in name.
void read_layers(const std::string& path, const std::string& rows_column, const Rank& rank, KernelTables& into,
                 Diagnostics& diagnostics) {
  enum Column { kLayer, kRows, kTime };
  CsvTable table(path, {{"layer"}, {rows_column}, {"time_us"}}, diagnostics);
  while (table.next()) {
    const auto rows = table.whole(kRows, 1);
    const auto time = read_time(table, kTime, kMicroseconds);
    const auto layer = layers().find(table.text(kLayer));
    if (layer == layers().end()) table.error(kLayer, fmt::format("unknown layer {}", in_quotes(table.text(kLayer))));
    else if (rows && time && layer->second) layer->second(rank, *rows, *time, into);
  }
}

void read_attention(const std::string& path, const Rank& rank, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kChunk, kCached, kDecodes, kContext, kTime };
  CsvTable table(path, {{"prefill_chunk"}, {"kv_prefill"}, {"n_decode"}, {"kv_decode"}, {"time_us"}}, diagnostics);
  const std::int64_t heads = rank.heads, kv_heads = rank.kv_heads, head_dim = rank.model->head_dim;
  while (table.next()) {
    const auto chunk = table.whole(kChunk, 0), cached = table.whole(kCached, 0), decodes = table.whole(kDecodes, 0),
               context = table.whole(kContext, 0);
    const auto time = read_time(table, kTime, kMicroseconds);
    if (!chunk || !cached || !decodes || !context || !time) continue;
    if (*decodes == 0 && *chunk > 0)
      into.prefill_attention.push_back(
          {{1, *chunk, *cached, heads, kv_heads, head_dim, rank.format, rank.format}, *time});
    else if (*chunk == 0 && *decodes > 0)
      into.decode_attention.push_back(
          {{*decodes, *context + 1, heads, kv_heads, head_dim, rank.format, rank.format}, *time});
    else if (*chunk > 0)
      into.mixed_attention.push_back(
          {{*chunk, *cached, *decodes, *context + 1, heads, kv_heads, head_dim, rank.format, rank.format}, *time});
    else table.error(kChunk, "a step without tokens");
  }
}

void read_moe(const std::string& path, const Rank& rank, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kTokens, kTouched, kTime };
  CsvTable table(path, {{"tokens"}, {"activated_experts"}, {"time_us"}}, diagnostics);
  const KnownModel& model = *rank.model;
  while (table.next()) {
    const auto tokens = table.whole(kTokens, 1), touched = table.whole(kTouched, 1);
    const auto time = read_time(table, kTime, kMicroseconds);
    if (tokens && touched && time)
      into.expert_layer.push_back({{*tokens, model.hidden, model.expert_width, model.experts, model.experts_per_token,
                                    rank.tp, 1, static_cast<double>(*touched), "forced", rank.format},
                                   *time});
  }
}

// The table of that name, plain or compressed.
std::string table_in(const fs::path& folder, const std::string& name) {
  for (const char* ending : {".csv.gz", ".csv.zst"})
    if (stands_there(folder / (name + ending))) return (folder / (name + ending)).string();
  return (folder / (name + ".csv")).string();
}

}  // namespace

bool is_llmservingsim_folder(const std::string& path) { return fs::exists(fs::path(path) / "meta.json"); }

void read_llmservingsim_folder(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  const auto profile = read_meta((fs::path(path) / "meta.json").string(), into, diagnostics);
  if (!profile) return;
  for (const std::int64_t tp : profile->degrees) {
    const fs::path folder = fs::path(path) / fmt::format("tp{}", tp);
    const Rank rank = share_of(profile->model, tp);
    read_layers(table_in(folder, "dense"), "tokens", rank, into, diagnostics);
    read_layers(table_in(folder, "per_sequence"), "sequences", rank, into, diagnostics);
    read_attention(table_in(folder, "attention"), rank, into, diagnostics);
    if (const std::string table = table_in(folder, "moe"); stands_there(table))
      read_moe(table, rank, into, diagnostics);
  }
}

}  // namespace llmscape::traces
