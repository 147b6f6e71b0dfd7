// SPDX-License-Identifier: Apache-2.0
#include "traces/aiconfigurator_csv.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "traces/csv_table.hpp"

namespace llmscape::traces {
namespace {

// Columns that every table has; the first ones are not used.
enum Common { kFramework, kVersion, kDevice, kOperator, kKernel, kLatency, kCommonColumns };

std::vector<CsvColumn> columns_with(const std::vector<CsvColumn>& own) {
  std::vector<CsvColumn> columns = {{"framework"}, {"version"},       {"device"},
                                    {"op_name"},   {"kernel_source"}, {"latency"}};
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

std::string format_name(std::string_view name) {
  if (name == "bfloat16") return "bf16";
  if (name == "float16") return "fp16";
  return std::string(name);
}

// Reports and returns false unless the row is one of `operation`.
bool is_of(const CsvTable& table, std::string_view operation) {
  if (table.text(kOperator) == operation) return true;
  table.error(kOperator, fmt::format("'op_name' must be '{}'; got {}", operation, in_quotes(table.text(kOperator))));
  return false;
}

std::optional<double> seconds(const CsvTable& table) {
  const auto milliseconds = table.positive(kLatency);
  if (!milliseconds) return std::nullopt;
  return *milliseconds * 1e-3;
}

// Gathers the times of each case.
template <class Case>
class MeanTimes {
 public:
  void add(const Case& what, double seconds) {
    Times& times = times_[what];
    times.sum += seconds;
    ++times.count;
  }
  [[nodiscard]] std::vector<Timed<Case>> records() const {
    std::vector<Timed<Case>> all;
    all.reserve(times_.size());
    for (const auto& [what, times] : times_) all.push_back({what, Seconds(times.sum / times.count)});
    return all;
  }

 private:
  struct Times {
    double sum = 0;
    int count = 0;
  };
  std::map<Case, Times> times_;
};

enum AttentionColumn {
  kSequences = kCommonColumns,
  kNewTokens,
  kHeads,
  kKvHeads,
  kHeadDim,
  kBeams,
  kFormat,
  kKvFormat,
  kCached,
  kWindow
};

CsvTable attention_table(const std::string& path, Diagnostics& diagnostics) {
  return {path,
          columns_with({{"batch_size"},
                        {"isl"},
                        {"num_heads"},
                        {"num_key_value_heads"},
                        {"head_dim"},
                        {"beam_width"},
                        {"attn_dtype"},
                        {"kv_cache_dtype"},
                        {"step"},
                        {"window_size", false}}),
          diagnostics};
}

// One row of either attention table.
struct AttentionRow {
  PrefillAttentionCase what;
  std::int64_t window = 0;
  double seconds = 0;
};

std::optional<AttentionRow> read_attention(const CsvTable& table) {
  const auto sequences = table.whole(kSequences, 1), tokens = table.whole(kNewTokens, 1),
             cached = table.whole(kCached, 0), heads = table.whole(kHeads, 1), kv_heads = table.whole(kKvHeads, 1),
             head_dim = table.whole(kHeadDim, 1);
  const auto window = table.has(kWindow) ? table.whole(kWindow, 0) : 0;
  const auto time = seconds(table);
  if (!sequences || !tokens || !cached || !heads || !kv_heads || !head_dim || !window || !time) return std::nullopt;
  return AttentionRow{{*sequences, *tokens, *cached, *heads, *kv_heads, *head_dim, format_name(table.text(kFormat)),
                       format_name(table.text(kKvFormat))},
                      *window,
                      *time};
}

}  // namespace

std::vector<TimedGemm> read_aiconfigurator_gemm(const std::string& path, Diagnostics& diagnostics) {
  enum Column { kFormatOfGemm = kCommonColumns, kM, kN, kK };
  CsvTable table(path, columns_with({{"gemm_dtype"}, {"m"}, {"n"}, {"k"}}), diagnostics);
  MeanTimes<GemmCase> times;
  while (table.next()) {
    const bool gemm = is_of(table, "gemm");
    const auto m = table.whole(kM, 1), n = table.whole(kN, 1), k = table.whole(kK, 1);
    const auto time = seconds(table);
    if (gemm && m && n && k && time) times.add({*m, *n, *k, format_name(table.text(kFormatOfGemm))}, *time);
  }
  return times.records();
}

std::vector<TimedDecodeAttention> read_aiconfigurator_generation_attention(const std::string& path,
                                                                           Diagnostics& diagnostics) {
  CsvTable table = attention_table(path, diagnostics);
  MeanTimes<DecodeAttentionCase> times;
  while (table.next()) {
    if (!is_of(table, "generation_attention")) continue;
    const auto row = read_attention(table);
    if (!row || row->window > 0) continue;
    const PrefillAttentionCase& what = row->what;
    if (what.tokens != 1) {
      table.error(kNewTokens, fmt::format("'isl' must be 1 in a decode; got {}", what.tokens));
      continue;
    }
    times.add({what.sequences, what.cached + 1, what.heads, what.kv_heads, what.head_dim, what.format, what.kv_format},
              row->seconds);
  }
  return times.records();
}

std::vector<TimedPrefillAttention> read_aiconfigurator_context_attention(const std::string& path,
                                                                         Diagnostics& diagnostics) {
  CsvTable table = attention_table(path, diagnostics);
  MeanTimes<PrefillAttentionCase> times;
  while (table.next()) {
    if (!is_of(table, "context_attention")) continue;
    const auto row = read_attention(table);
    if (row && row->window == 0) times.add(row->what, row->seconds);
  }
  return times.records();
}

}  // namespace llmscape::traces
