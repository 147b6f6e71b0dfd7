// SPDX-License-Identifier: Apache-2.0
#include "traces/layer_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/opened_files.hpp"
#include "traces/csv_table.hpp"

namespace llmscape::traces {
namespace {

namespace fs = std::filesystem;

// The table as it stands in the folder, plain or compressed; empty if it does not.
fs::path find_table(const fs::path& folder, const char* name) {
  for (const char* ending : {"", ".gz", ".zst"}) {
    const fs::path path = folder / (std::string(name) + ending);
    if (stands_there(path)) return path;
  }
  return {};
}

std::optional<Seconds> microseconds(const CsvTable& table, std::size_t column) {
  const auto time = table.positive(column);
  return time ? std::optional(Seconds(*time * 1e-6)) : std::nullopt;
}

void read_counts(const fs::path& path, const char* count_column,
                 std::map<std::string, std::vector<LayerTables::Count>>& into, Diagnostics& diagnostics) {
  enum Column { kLayer, kCount, kTime };
  CsvTable table(path, {{"layer"}, {count_column}, {"time_us"}}, diagnostics);
  while (table.next()) {
    const auto count = table.whole(kCount, 1);
    const auto time = microseconds(table, kTime);
    if (count && time) into[std::string(table.text(kLayer))].push_back({*count, *time});
  }
  for (auto& [layer, counts] : into) std::ranges::sort(counts, {}, &LayerTables::Count::count);
}

void read_attention(const fs::path& path, LayerTables& into, Diagnostics& diagnostics) {
  enum Column { kChunk, kCached, kDecodes, kContext, kTime };
  CsvTable table(path, {{"prefill_chunk"}, {"kv_prefill"}, {"n_decode"}, {"kv_decode"}, {"time_us"}}, diagnostics);
  while (table.next()) {
    const auto chunk = table.whole(kChunk, 0), cached = table.whole(kCached, 0), decodes = table.whole(kDecodes, 0),
               context = table.whole(kContext, 0);
    const auto time = microseconds(table, kTime);
    if (chunk && cached && decodes && context && time)
      into.attention.push_back({*chunk, *cached, *decodes, *context, *time});
  }
}

void read_experts(const fs::path& path, LayerTables& into, Diagnostics& diagnostics) {
  enum Column { kTokens, kExperts, kTime };
  CsvTable table(path, {{"tokens"}, {"activated_experts"}, {"time_us"}}, diagnostics);
  while (table.next()) {
    const auto tokens = table.whole(kTokens, 1), experts = table.whole(kExperts, 1);
    const auto time = microseconds(table, kTime);
    if (tokens && experts && time) into.experts.push_back({*tokens, *experts, *time});
  }
}

// The share follows from the three times; the file's own column of it is rounded, or empty.
void read_unequal(const fs::path& path, LayerTables& into, Diagnostics& diagnostics) {
  enum Column { kDecodes, kChunk, kCached, kTimeMean, kTimeLongest, kTime };
  CsvTable table(path,
                 {{"n"},
                  {"pc"},
                  {"kp"},
                  {"t_mean_us"},
                  {"t_max_us"},
                  {"t_skew_us"},
                  {"regime"},
                  {"nb"},
                  {"ratio"},
                  {"skew"},
                  {"kvs"},
                  {"kv_big"},
                  {"kv_mean"},
                  {"alpha"}},
                 diagnostics);
  while (table.next()) {
    const auto decodes = table.whole(kDecodes, 2), chunk = table.whole(kChunk, 0), cached = table.whole(kCached, 0);
    const auto at_mean = table.positive(kTimeMean), at_longest = table.positive(kTimeLongest),
               time = table.positive(kTime);
    if (decodes && chunk && cached && at_mean && at_longest && time && *at_longest > *at_mean)
      into.unequal.push_back({*chunk, *cached, *decodes, (*time - *at_mean) / (*at_longest - *at_mean)});
  }
}

}  // namespace

std::optional<LayerTables> read_layer_tables(const fs::path& folder, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  LayerTables tables;
  const auto read = [&](const char* name, bool required, auto&& reader) {
    const fs::path path = find_table(folder, name);
    if (!path.empty()) reader(path);
    else if (required)
      diagnostics.error({std::make_shared<SourceText>(SourceText{(folder / name).string(), {}})},
                        "there is no such file, nor one that ends in .gz or .zst");
  };
  read("dense.csv", true, [&](const fs::path& path) { read_counts(path, "tokens", tables.dense, diagnostics); });
  read("per_sequence.csv", true,
       [&](const fs::path& path) { read_counts(path, "sequences", tables.per_sequence, diagnostics); });
  read("attention.csv", true, [&](const fs::path& path) { read_attention(path, tables, diagnostics); });
  read("moe.csv", false, [&](const fs::path& path) { read_experts(path, tables, diagnostics); });
  read("skew.csv", false, [&](const fs::path& path) { read_unequal(path, tables, diagnostics); });
  if (diagnostics.errors() > errors) return std::nullopt;
  return tables;
}

}  // namespace llmscape::traces
