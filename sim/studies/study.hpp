// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/expression.hpp"
#include "sim/studies/study_config.hpp"

namespace llmscape::studies {

// One point of a run's axis.
struct AxisValue {
  std::string text;      // as written: "8 /s"
  std::string override;  // "workload.arrivals.rate=8 /s"
  Value value;           // in SI units
};

// A scenario with a name. One without an axis is run once for each seed, another once for each value and seed.
struct NamedRun {
  std::string name;
  std::filesystem::path scenario;
  std::vector<std::string> set;
  std::vector<AxisValue> axis;
  std::int64_t seeds = 1;
  std::vector<std::string> kernels;  // what makes them those that the authors ran, below `set`
  bool analytic = false;             // by arithmetic, not by events
  SourceRange where;
  [[nodiscard]] std::size_t points() const { return axis.empty() ? 1 : axis.size(); }
};

struct Let {
  std::string name;
  Expression expression;
};

struct Tolerance {
  double amount = 0;
  bool relative = false;  // a share of the published value
  std::string text;       // as written
  [[nodiscard]] double around(double published) const;
};

struct Claim {
  std::string id, what, source, miss;
  ClaimKind kind = ClaimKind::close;
  Evidence evidence = Evidence::own;
  bool calibration = false;
  std::optional<Expression> value, holds;
  std::optional<double> published;                 // of exact and close
  std::optional<std::pair<double, double>> range;  // of a range
  Tolerance tolerance;
};

struct Negative {
  std::string id, what, miss;
  Expression holds;
};

// Items of a figure: text or number, an expression, or nothing.
struct FigureItem {
  std::string text;
  std::optional<Expression> expression;
};
struct FigureSeries {
  std::string name;
  std::vector<FigureItem> values;
};
struct Figure {
  std::string title, y, x;
  std::vector<FigureItem> labels;
  std::vector<FigureSeries> series;
};

struct Assumed {
  std::string parameter, value, reason;
};

// Overrides that make the catalogue's kernels those that the authors ran.
struct Kernels {
  std::vector<std::string> set;
  std::string source;
};

// A published system with its scenarios and claims (studies/NAME/study.yaml, schema study/1).
struct Study {
  std::string name;  // of its folder
  std::filesystem::path file;
  std::string title, summary, paper, about;
  std::vector<Assumed> assumed;
  std::optional<Kernels> kernels;
  std::vector<NamedRun> runs;  // by name
  std::vector<Let> lets;       // each may use those before it
  std::vector<Claim> claims;
  std::vector<Negative> negative;
  std::vector<std::pair<std::size_t, std::size_t>> same;  // indices of runs with as many points
  std::optional<Figure> figure;

  [[nodiscard]] std::optional<std::size_t> find_run(std::string_view run) const;
  [[nodiscard]] const Let* find_let(std::string_view let) const;
};

// The name that an expression uses of a run, taken apart: "rate[2].ttft.p99", "rate[].value", "none.kv.hit_rate".
struct RunName {
  std::string_view run, item;  // item: "" where there are no brackets
  bool indexed = false;        // there are
  std::string_view path;       // "ttft.p99"
};
RunName split_run_name(std::string_view name);
// The number in a pair of brackets: of an item of a list. Nothing where there is none, or none so large.
std::optional<std::size_t> item_number(std::string_view text);

// Studies in the folder, by the names of their folders, sorted; none if it cannot be read.
std::vector<std::string> study_names(const std::filesystem::path& folder);

// Reads and checks the file: every name of a run in an expression is known. Nothing after reporting.
std::optional<Study> read_study(const std::filesystem::path& file, Diagnostics& diagnostics);

}  // namespace llmscape::studies
