// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/correction_fit.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/calibration/sampling.hpp"
#include "hardware/calibration/scales_fit.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::hardware {

inline constexpr std::size_t kFewestFittedRows = 20;  // of a family; fewer say too little to hold some out

// Products of one token inside a graph take a few microseconds. A table whose fastest takes longer than this was timed
// with launches from Python, and tells nothing below three times that floor.
inline constexpr Seconds kLaunchBound(20e-6);
inline constexpr double kAboveFloor = 3;

// A family's form fitted to the rows of one format, and those rows for a correction of it.
template <class Parameters>
struct FormFit {
  Parameters parameters;
  FamilyReport report;
  std::vector<CorrectionRow> rows;
  // The last of the rows are such that the form is not fitted to: first some that a sliding window cuts, then some of
  // heads wider than 128.
  std::size_t cut = 0, wide = 0;
};

// Adds to what the report says of its data how well its last rows were met, which the form was not fitted to: `cut` by
// a window, then of `wide` heads.
void tell_learned(FamilyReport& report, std::size_t cut, std::size_t wide);

// How a table's rows fall on experts.
enum class Dealt : std::uint8_t { evenly, in_any_way };

// Which rows of attention: those that forms are fitted to, to all earlier tokens by heads of at most 128, some that a
// sliding window cuts, or some to all earlier tokens by heads of 129 to 256, which take smaller tiles; or such of
// decodes that stay within their window, which tell nothing new but where there are few others.
enum class AttentionRows : std::uint8_t { fitted, cut, wide, within };

inline constexpr std::int64_t kWidestFittedHead = 128, kWidestLearnedHead = 256;
// Fewer fitted rows suffer from tables that wide heads stretch: their errors rise by a tenth to a half (SGLang's 33 to
// 67, TensorRT-LLM's 132 to 232 of an H200).
inline constexpr std::size_t kFewestBesideWide = 250;
// Fewer decodes are joined by those within a window: errors of TensorRT-LLM's 216 of an H200 fall from 7.8 to 6.7 %.
inline constexpr std::size_t kFewestOfDecodes = 250;

// Nothing where a row is of no kind that is learned, or of a prompt no token of which leaves its window.
template <class Row>
std::optional<AttentionRows> kind_of(const Row& r) {
  const bool wide = r.head_dim > kWidestFittedHead;
  if (r.head_dim > kWidestLearnedHead) return std::nullopt;
  std::int64_t window = 0, context = 0;
  if constexpr (requires { r.window; }) window = r.window;
  if (window == 0) return wide ? AttentionRows::wide : AttentionRows::fitted;
  constexpr bool prompt = requires { r.cached; };
  if constexpr (prompt) context = r.tokens + r.cached;
  else context = r.context;
  if (wide || (prompt && context <= window)) return std::nullopt;
  return context > window ? AttentionRows::cut : AttentionRows::within;
}

// The format of an engine's kernels that the device's own groups are of: 16 bits where it has such.
std::string base_format_of(const traces::KernelTables& tables, const std::string& engine);
// The serving engines whose kernels the tables hold, sorted; none where they do not say.
std::vector<std::string> engines_of(const traces::KernelTables& tables);
// An engine with its version, as the tables name it; the software of all rows where it is not among them.
std::string software_of(const traces::KernelTables& tables, const std::string& engine);

// The rows of one serving engine on one device, family by family. `engine` empty: rows that name none. Nothing where
// fewer than kFewestFittedRows qualify; more than `most_rows` are drawn at random, the same ones every time.
class FamilyFits {
 public:
  FamilyFits(const traces::KernelTables& tables, std::string engine, Gpu gpu, std::size_t most_rows);

  [[nodiscard]] const std::string& engine() const { return engine_; }
  [[nodiscard]] const traces::KernelTables& tables() const { return tables_; }
  // The device as it is known so far: products are priced with its quantisation, experts with its products' efficiency.
  Gpu gpu;

  // Of an engine whose products of this format find the scales of their inputs in kernels of their own.
  [[nodiscard]] std::optional<ScalesCalibration> scales(const std::string& format) const;
  // Dense products of a format, without these. Those of a table that was timed outside graphs, which shows in a fastest
  // row above 20 us, count from three times that floor on, and rows of an engine that runs the same library stand in
  // below.
  [[nodiscard]] std::optional<FormFit<GemmParameters>> products(const std::string& format, Scoring scoring) const;
  // Whether such a table's rows were chosen so.
  [[nodiscard]] bool chosen_by_time(const std::string& format) const;
  // Layers of routed experts whose rows were dealt out so.
  [[nodiscard]] std::optional<FormFit<GemmParameters>> experts(const std::string& format, Dealt dealt,
                                                               Scoring scoring) const;
  // Grouped GEMMs that were timed by themselves.
  [[nodiscard]] std::optional<FormFit<GemmParameters>> grouped_gemms(const std::string& format) const;
  // Whether evenly dealt rows of unseen shapes are clearly worse met by a fit to rows dealt out in any way than by one
  // to them alone.
  [[nodiscard]] bool meets_even_rows_worse(const std::string& format, const FormFit<GemmParameters>& any,
                                           const FormFit<GemmParameters>& even) const;
  // Attention over KV of a format by heads of at most 128, computed in that format where it was timed, else in 16 bits.
  [[nodiscard]] std::optional<FormFit<PrefillAttentionParameters>> prompts(const std::string& kv,
                                                                           Scoring scoring) const;
  [[nodiscard]] std::optional<FormFit<DecodeAttentionParameters>> decodes(const std::string& kv, Scoring scoring) const;
  [[nodiscard]] std::optional<FormFit<PrefillAttentionParameters>> latent_prompts(const std::string& kv,
                                                                                  Scoring scoring) const;
  [[nodiscard]] std::optional<FormFit<DecodeAttentionParameters>> latent_decodes(const std::string& kv,
                                                                                 Scoring scoring) const;

  // The rows that the fits above take; products and experts with a note where some do not count.
  [[nodiscard]] std::pair<std::vector<traces::TimedGemm>, std::string> product_rows(const std::string& format) const;
  [[nodiscard]] std::pair<std::vector<traces::TimedExpertLayer>, std::string> expert_rows(const std::string& format,
                                                                                          Dealt dealt) const;
  [[nodiscard]] std::vector<traces::TimedPrefillAttention> prompt_rows(
      const std::string& kv, AttentionRows which = AttentionRows::fitted) const;
  [[nodiscard]] std::vector<traces::TimedDecodeAttention> decode_rows(
      const std::string& kv, AttentionRows which = AttentionRows::fitted) const;
  // Modules over entries of this format, or kernels of the index, whose format is its own.
  [[nodiscard]] std::vector<traces::TimedIndexedAttention> indexed_rows(const std::string& part,
                                                                        const std::string& kv) const;
  [[nodiscard]] std::vector<traces::TimedLatentAttention> latent_rows(const std::string& kv, bool decode) const;

  // Formats that products and experts were timed in, and what stands for 16 bits: bf16, else fp16, else fp8.
  [[nodiscard]] std::vector<std::string> product_formats() const;
  [[nodiscard]] std::vector<std::string> expert_formats() const;
  [[nodiscard]] std::string base_format() const { return base_format_of(tables_, engine_); }

 private:
  template <class Row>
  [[nodiscard]] std::vector<Row> sample(const std::vector<Row>& suitable, std::size_t most) const {
    constexpr std::uint64_t kRowsKey = 0x726f7773;  // any fixed number
    if (suitable.size() < kFewestFittedRows) return {};
    std::vector<Row> chosen;
    for (const std::size_t i : random_subset(suitable.size(), most, kRowsKey)) chosen.push_back(suitable[i]);
    return chosen;
  }
  template <class Row>
  [[nodiscard]] std::vector<Row> sample(const std::vector<Row>& suitable) const {
    return sample(suitable, most_rows_);
  }
  template <class Row>
  [[nodiscard]] std::vector<Row> attention_rows(const std::vector<Row>& all, const std::string& kv,
                                                AttentionRows which) const;

  // Whether its prompts multiply keys as the cache holds them, in whatever format.
  [[nodiscard]] bool reads_narrow_keys() const;

  const traces::KernelTables& tables_;
  std::string engine_;
  std::size_t most_rows_;
};

}  // namespace llmscape::hardware
