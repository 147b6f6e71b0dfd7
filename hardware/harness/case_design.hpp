// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/sobol.hpp"
#include "traces/kernel_record.hpp"

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

namespace llmscape::hardware::harness {

// Shapes from a number u in [0, 1).
// A whole number from low to high, evenly spread in the log.
std::int64_t spread(double u, std::int64_t low, std::int64_t high);
// A multiple of 64 that is no power of two, evenly spread in the log.
std::int64_t spread_width(double u, std::int64_t low, std::int64_t high);
// Rows of a GEMM: half of them up to 256, the others above.
std::int64_t spread_rows(double u, std::int64_t most);
std::int64_t chosen(double u, std::initializer_list<std::int64_t> from);

// How many points a family has in the full and in the quick list.
struct Points {
  int full = 0, quick = 0;
};

// A list of cases that grows family by family.
class CaseList {
 public:
  explicit CaseList(bool quick) : quick_(quick) {}
  // The first points of a design of its own that `make` can turn into cases (it refuses what takes too long), each case
  // once.
  void add_points(const Points& points,
                  const std::function<std::optional<traces::KernelCase>(const Sobol::Point&)>& make);
  // Sizes from low to high, each `factor` times the one before.
  void add_sizes(std::int64_t low, std::int64_t high, std::int64_t factor,
                 const std::function<traces::KernelCase(std::int64_t)>& make);
  void add(const traces::KernelCase& what) { cases_.push_back(what); }
  std::vector<traces::KernelCase> take() { return std::move(cases_); }

 private:
  bool quick_;
  std::vector<traces::KernelCase> cases_;
};

std::vector<traces::KernelCase> cpu_cases(bool quick);
std::vector<traces::KernelCase> cuda_cases(bool quick);
std::vector<traces::KernelCase> cuda_power_cases(bool quick);

}  // namespace llmscape::hardware::harness
