// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/shared_list.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// What a correction may depend on: sides of an operator and quantities of its form. None but `seconds` knows a rate of
// the chip, and no table falls so far along that that a kernel is faster for a slower memory.
enum class Feature {
  rows,        // of a GEMM; of an expert's GEMM: rows for each touched expert
  columns,     // outputs of a GEMM
  depth,       // inputs of a GEMM
  padding,     // rows rounded up to multiples of 256, over rows; at most 2
  wide_waves,  // tiles of 128 x 256 over multiprocessors; of products that wait for their weights, next to none
  tall_waves,  // tiles of 256 x 128 over multiprocessors; the same
  experts,     // touched by a grouped GEMM
  tuned,       // 4 where a grouped GEMM runs in a kernel that is tuned for its shape, 1 elsewhere
  sequences,   // that an attention serves
  tokens,      // new ones of each sequence, on average
  context,     // entries that a decode attends to, on average
  reach,       // of a prompt chunk: new and cached tokens over new ones
  cut,         // by a window: of a chunk, its tokens and the cached ones over the window's; of decodes, from 1 where
               // half of it or less is attended to, to 2 where all of it is; at least 1
  heads,       // query heads of all sequences
  kv_heads,    // of one sequence
  streams,     // KV heads of all sequences
  group,       // query rows that share a KV head in a decode, query heads in a prompt
  head_width,  // elements of a query or key
  bytes,       // of a weight, of a KV element
  seconds      // that a GEMM takes by its form, uncorrected; beyond a table the value at its end holds
};
inline constexpr std::size_t kFeatures = 20;
inline constexpr std::array<std::string_view, kFeatures> kFeatureNames = {
    "rows",     "columns",   "depth",  "padding",    "wide_waves", "tall_waves", "experts",
    "tuned",    "sequences", "tokens", "context",    "reach",      "cut",        "heads",
    "kv_heads", "streams",   "group",  "head_width", "bytes",      "seconds"};

// The features of one operator, kept as base-2 logarithms: tables are even in them. Those it lacks lie off any table.
class Features {
 public:
  Features() { logs_.fill(std::numeric_limits<double>::infinity()); }
  void set(Feature feature, double value);
  void set_log2(Feature feature, double log) { logs_[static_cast<std::size_t>(feature)] = log; }
  [[nodiscard]] double log2(Feature feature) const { return logs_[static_cast<std::size_t>(feature)]; }

 private:
  std::array<double, kFeatures> logs_;
};

// Points `octaves` apart, the first at the value `first`.
struct CorrectionAxis {
  Feature feature = Feature::rows;
  double first = 1;
  double octaves = 1;
  std::int64_t points = 1;
};

// A function of up to four features, linear between the points of its axes.
struct CorrectionTable {
  std::vector<CorrectionAxis> axes;
  std::vector<double> percent;  // 100 x the logarithm of the factor at each point, last axis fastest
};

// What measured rows say about the times of a physical form: a factor, the product of a few tables. Off the tables it
// fades to 1 over two octaves, and it never leaves 0.5 to 2.
struct Correction {
  std::string source;
  SharedList<CorrectionTable> tables;  // thousands of numbers, and devices are copied with them

  [[nodiscard]] double factor(const Features& features) const;
  // Of a kernel that takes so long by its form.
  [[nodiscard]] double factor(Features features, Seconds by_form) const;
  // Whether a table falls so steeply that a kernel of twice the seconds takes less time, corrected.
  [[nodiscard]] bool is_faster_for_slower() const;
};
const Fields<Correction>& correction_fields();

// A correction of operators that differ in one feature alone, for those that are priced anew in every step.
class CorrectionLine {
 public:
  // Of decodes, along their context: `window`, if any, says where it cuts.
  CorrectionLine(const Correction& correction, Features others, Feature along, std::int64_t window = 0);
  [[nodiscard]] double factor(double value) const;

 private:
  double first_ = 0, points_per_octave_ = 1;   // where `percent_` stands
  double low_, high_;                          // range of all tables
  double off_ = 0;                             // octaves, by the other features
  std::vector<double> percent_, cut_percent_;  // cut: by a window that is filled; empty without one
  double log_half_window_ = 0;
};

template <class T>
void add_correction_field(Fields<T>& fields) {
  fields.add_group("correction", &T::correction, correction_fields(),
                   "learned from measured rows beside these parameters, and void without them; absent: none");
}

}  // namespace llmscape::hardware
