// SPDX-License-Identifier: Apache-2.0
// The page of errors: what stands on top of it, and that each part stands alone.
#include "sim/report/accuracy_page.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace llmscape;
using namespace llmscape::report;

namespace {

bool page_has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Rows whose measured times are these many per cent above the predicted ones.
hardware::FamilyReport family(const std::string& name, const std::vector<int>& percent) {
  hardware::FamilyReport report;
  report.family = name;
  report.data = "bf16";
  for (const int p : percent) report.rows.push_back({hardware::Regime::small, 1 + p / 100.0, 1});
  return report;
}

validation::Comparison metric(const std::string& name, double factor, int rows = 10) {
  std::vector<validation::Pair> pairs;
  for (int i = 1; i <= rows; ++i) pairs.push_back({"row", factor * i, 1.0 * i});
  auto comparison = validation::compare(name, "s", pairs);
  comparison.statistics.clear();
  return comparison;
}

}  // namespace

TEST_CASE("the summary has tables of the sections that were computed alone") {
  AccuracyPage page;
  CHECK(accuracy_summary(page).empty());
  page.devices.push_back({"chip", "tables", {family("gemm", {5, 10})}});
  CHECK(page_has(accuracy_summary(page), "| kernels, unseen shapes |"));
  CHECK_FALSE(page_has(accuracy_summary(page), "| runs |"));
  page.devices.clear();
  page.runs.emplace_back().name = "a run";
  CHECK(accuracy_summary(page).starts_with("| runs |"));
}

TEST_CASE("what a buyer reads: rows, median error, what nine of ten lie within, and what intervals hold") {
  AccuracyPage page;
  // Every tenth of 40 rows takes 25 % longer than predicted, the others 5 %.
  std::vector<int> errors(40, 5);
  for (std::size_t i = 0; i < errors.size(); i += 10) errors[i] = 25;
  page.devices.push_back({"chip", "tables", {family("gemm", errors)}});
  RunAccuracy run;
  run.name = kDeployments;
  run.listed = 12;
  run.comparisons = {metric("tpot", 1.1), metric("ttft", 0.7), metric("rate", 1)};
  run.coverage = {{"tpot", 0.75, 4, 0.9, {0.96, 1.27}}};
  page.runs.push_back(run);
  const std::string text = accuracy_page(page);
  // The even half has all four large ones, so that its width holds all of the odd half and that of the odd half 16
  // of 20.
  CHECK(page_has(
      text,
      "| time of a kernel: GEMM | shapes that the fit had not seen, 1 fits to 1 tables | 40 | 4.8 % | 20.0 % | "
      "90.0 % |"));
  CHECK(page_has(text, "| TPOT | servers under load, no constant fitted: " + run.name +
                           " | 10 | 10.0 % | 10.0 % | 75.0 % of 4; on servers 90.0 % |"));
  CHECK(page_has(text, "schedulers did: TPOT from 0.96 times the low to 1.27 times the high end; what is told"));
  CHECK(
      page_has(text, "| TTFT | servers under load, no constant fitted: " + run.name + " | 10 | 30.0 % | 30.0 % | - |"));
  CHECK(
      page_has(text, "| llmscape | TPOT 10.0 %, TTFT 30.0 %, mean; 10.0 % and 30.0 %, median | 10 of 12 rows of vLLM"));
  CHECK(page_has(text, "BLIS (inference-sim)"));
  CHECK_FALSE(page_has(text, "## Watts and joules"));
  CHECK_FALSE(page_has(text, "## A chip that was never measured"));
}

TEST_CASE("watts and joules stand by what a prediction was given, and by model") {
  AccuracyPage page;
  EnergyAccuracy energy;
  energy.about = "watts";
  energy.ways = {"end to end", "rate put in"};
  const std::vector<validation::Comparison> first = {metric("mean_w", 1.05), metric("joules_per_output_token", 0.8)},
                                            second = {metric("mean_w", 0.9), metric("joules_per_output_token", 0.9)};
  energy.all = {"all", {first, second}};
  energy.by_model = {{"some-model", {first, second}}};
  energy.notes = {"left out: 2 of 12 rows: a reason"};
  page.energy = energy;
  const std::string text = accuracy_page(page);
  CHECK(page_has(text, "| end to end | power | 10 | 5.0 % | 5.0 % | +5.0 % | 1.000 | 8 % |"));
  CHECK(page_has(
      text, "| rate put in | joules of an output token | 10 | 10.0 % | 10.0 % | -10.0 % | 1.000 | 15 %, rank 0.95 |"));
  CHECK(page_has(text, "| some-model | 10 | 5.0 % | +5.0 % | 20.0 % | 10.0 % | 1.000 |"));
  CHECK(page_has(text, "- left out: 2 of 12 rows: a reason"));
}

TEST_CASE("a chip that was never measured: the rows of all engines together, and the factor that holds nine of ten") {
  AccuracyPage page;
  page.carried.push_back(
      {"old", "new", {family("gemm", std::vector<int>(15, 20)), family("gemm", std::vector<int>(5, 20))}});
  const std::string text = accuracy_page(page);
  CHECK(page_has(text, "### new by the fits of old"));
  CHECK(page_has(text, "| gemm | bf16 | 20 | 16.7 % | 16.7 % | -16.7 % |"));
  CHECK(page_has(text, "| a factor of 1.20 | 100.0 % |"));
  CHECK(page_has(text, "| gemm | all | 20 |"));
}
