// SPDX-License-Identifier: Apache-2.0
#include "sim/report/accuracy_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/table.hpp"
#include "sim/report/accuracy_sections.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using hardware::FamilyReport;
using validation::Comparison;

constexpr const char* kHead =
    R"(<!-- Written by `llmscape accuracy`; do not edit. -->
# How wrong it is

Every figure on this page is computed by `llmscape accuracy --data FOLDER -o docs/accuracy.md` from kernel tables and measured
runs that are not part of the repository, and from the records in `traces/measured`. Errors are |predicted / measured - 1|; the
bias has a sign.

)";
constexpr const char* kKernels =
    R"(## Kernels

Each family's physical form is fitted to rows drawn from the device's table; *held out* rows are of shapes that the fit had not
seen (five folds that share no shape). *Within* is the half-width of the 90 % interval of a fresh row.

)";

std::string value(double number, const std::string& unit) {
  if (unit != "s") return fmt::format("{:.4g}", number);
  return number >= 1 ? fmt::format("{:.2f} s", number) : fmt::format("{:.2f} ms", 1e3 * number);
}

Table families_table(const DeviceAccuracy& device) {
  Table table({"family", "rows", "in sample", "held out, mean", "median", "p95", "bias", "within"});
  for (const FamilyReport& f : device.families)
    table.row({(f.engine.empty() ? "" : f.engine + ": ") + f.family +
                   (f.form.empty() || f.form == "physical" ? "" : ", " + f.form),
               f.data, percent(f.in_sample.mean), percent(f.held_out.mean), percent(f.held_out.median),
               percent(f.held_out.p95), signed_percent(f.held_out.bias),
               f.half_width ? "+-" + percent(*f.half_width) : "-"});
  return table;
}

std::string warnings(const DeviceAccuracy& device) {
  std::vector<std::string> lines;  // of collectives many say the same
  for (const FamilyReport& f : device.families)
    for (const std::string& warning : f.warnings)
      if (std::string line = fmt::format("- {}: {}\n", f.family, warning);
          std::ranges::find(lines, line) == lines.end())
        lines.push_back(std::move(line));
  std::string text;
  for (const std::string& line : lines) text += line;
  return text.empty() ? text : '\n' + text;
}

// Sets of values: means and percentiles of all predicted against all measured ones.
Table sets_table(const RunAccuracy& run) {
  Table table({"metric", "predicted mean", "measured mean", "mean", "p50", "p90", "p99"});
  for (const Comparison& c : run.comparisons) {
    if (c.statistics.empty()) continue;
    std::vector<std::string> cells = {c.metric, value(c.statistics[0].predicted, c.unit),
                                      value(c.statistics[0].measured, c.unit)};
    for (const auto& s : c.statistics)
      cells.push_back(signed_percent(validation::relative_error(s.predicted, s.measured)));
    table.row(std::move(cells));
  }
  return table;
}

Table pairs_table(const RunAccuracy& run) {
  Table table({"metric", "pairs", "mean error", "median", "p90", "bias", "rank correlation"});
  for (const Comparison& c : run.comparisons)
    if (c.count > 1)
      table.row({c.metric, fmt::format("{}", c.count), percent(c.error_mean), percent(c.error_median),
                 percent(c.error_p90), signed_percent(c.bias), c.rank ? fmt::format("{:.3f}", *c.rank) : "-"});
  return table;
}

std::string run_section(const RunAccuracy& run) {
  std::string text = fmt::format("### {}\n\n{}\n\n", run.name, run.about);
  if (const Table sets = sets_table(run); !sets.empty()) text += sets.markdown() + '\n';
  if (const Table pairs = pairs_table(run); !pairs.empty()) text += pairs.markdown() + '\n';
  for (const auto& course : run.courses)
    text += fmt::format("- {} over time: RMSE {:.1f} requests (means {:.1f} and {:.1f})\n", course.name, course.rmse,
                        course.mean_predicted, course.mean_measured);
  for (const std::string& note : run.notes) text += "- " + note + '\n';
  return text + '\n';
}

// Families of catalogue devices that rest on nothing measured.
Table uncalibrated(const AccuracyPage& page) {
  Table table({"device", "families that are assumed or from the data sheet"});
  for (const auto& device : page.catalogue) {
    const auto tags = device->provenance();
    std::string families;
    for (std::size_t f = 0; f < tags.size(); ++f)
      if (tags[f] >= Tag::datasheet)
        families += (families.empty() ? "" : ", ") + std::string(hardware::kOperatorFamilyNames[f]);
    if (!families.empty()) table.row({device->name, families});
  }
  return table;
}

// What a family's fits are held to on shapes that they have not seen, and how many rows it takes to be held to it.
struct Target {
  std::string_view family, data;  // what the rows are of begins so
  double mean;
  std::size_t fewest_rows;
};
constexpr std::array kTargets = {Target{"gemm", "", 0.07, 300},
                                 Target{"decode_attention", "", 0.06, 0},
                                 Target{"prefill_attention", "", 0.07, 0},
                                 Target{"latent_decode_attention", "", 0.08, 0},
                                 Target{"latent_prefill_attention", "", 0.08, 0},
                                 Target{"expert_gemm", "", 0.12, 0},
                                 Target{"collectives", "all_reduce", 0.06, 0}};

std::string targets(const AccuracyPage& page) {
  Table table({"family", "target", "fits that meet it", "not reached"});
  for (const Target& target : kTargets) {
    int met = 0, all = 0;
    std::string missed;
    for (const DeviceAccuracy& device : page.devices)
      for (const FamilyReport& f : device.families) {
        if (f.family != target.family || !f.data.starts_with(target.data) || f.rows.size() < target.fewest_rows)
          continue;
        ++all;
        if (f.held_out.mean <= target.mean) {
          ++met;
          continue;
        }
        const std::string what =
            target.data.empty() ? f.data.substr(0, f.data.find(',')) : f.data.substr(0, f.data.rfind(','));
        missed += fmt::format("{}{}{} {} {}", missed.empty() ? "" : "; ", device.device,
                              f.engine.empty() ? "" : " " + f.engine,
                              what.find("rows") == std::string::npos ? what : "16 bits", percent(f.held_out.mean));
      }
    if (all > 0)
      table.row({std::string(target.family) +
                     (target.fewest_rows > 0 ? fmt::format(", from {} rows", target.fewest_rows) : "") +
                     (target.data.empty() ? "" : ", " + std::string(target.data)),
                 percent(target.mean), fmt::format("{} of {}", met, all), missed});
  }
  return table.markdown();
}

// The mean held-out error of the family's fits; of all-reduces where there are several collectives.
std::string held_out(const DeviceAccuracy& device, std::string_view family) {
  double sum = 0;
  int fits = 0;
  for (const FamilyReport& f : device.families) {
    const bool counts =
        family == "collectives" ? f.family == family && f.data.starts_with("all_reduce, nccl") : f.family == family;
    if (!counts) continue;
    sum += f.held_out.mean;
    ++fits;
    if (family != "collectives") break;  // 16 bits, of the engine whose kernels the device's own groups are
  }
  return fits > 0 ? percent(sum / fits) : "-";
}

// The error of the metric's mean; the median error of its pairs where a mean would be of unlike things.
std::string error_of(const RunAccuracy& run, std::string_view metric) {
  std::string text;
  for (const Comparison& c : run.comparisons) {
    if (!c.metric.starts_with(metric)) continue;
    if (!c.statistics.empty()) {
      const auto& mean = c.statistics.front();
      return signed_percent(validation::relative_error(mean.predicted, mean.measured));
    }
    text += (text.empty() ? "" : ", ") + percent(c.error_median);
  }
  return text.empty() ? "-" : text + " median";
}

}  // namespace

std::string accuracy_page(const AccuracyPage& page) {
  std::string text = kHead + accuracy_overview(page);
  if (!page.devices.empty()) {
    text += kKernels;
    for (const DeviceAccuracy& device : page.devices)
      text += fmt::format("### {}\n\n{}\n\n{}{}\n", device.device, device.tables, families_table(device).markdown(),
                          warnings(device));
    text += "### Targets\n\nMean held-out errors that each fit is held to.\n\n" + targets(page) + '\n';
  }
  if (!page.carried.empty()) text += carried_section(page.carried);
  if (page.energy) text += energy_section(*page.energy);
  if (!page.runs.empty()) text += "## Runs\n\n";
  for (const RunAccuracy& run : page.runs) text += run_section(run);
  if (!page.catalogue.empty()) text += "## What is not calibrated\n\n" + uncalibrated(page).markdown();
  return text;
}

std::string accuracy_summary(const AccuracyPage& page) {
  constexpr std::array kShown = {"gemm", "decode_attention", "prefill_attention", "expert_gemm", "collectives"};
  Table kernels(
      {"kernels, unseen shapes", "GEMM", "decode attention", "prefill attention", "expert GEMM", "all-reduce"});
  for (const DeviceAccuracy& device : page.devices) {
    std::vector<std::string> cells = {device.device};
    for (const char* name : kShown) cells.push_back(held_out(device, name));
    kernels.row(std::move(cells));
  }
  Table runs({"runs", "TPOT", "TTFT", "end to end"});
  for (const RunAccuracy& run : page.runs) {
    const std::string whole = error_of(run, "latency, ");
    runs.row({run.name, error_of(run, "tpot"), error_of(run, "ttft"), whole == "-" ? error_of(run, "e2e") : whole});
  }
  // Sections that were not asked for have no rows.
  const std::string between = kernels.empty() || runs.empty() ? "" : "\n";
  return (kernels.empty() ? "" : kernels.markdown()) + between + (runs.empty() ? "" : runs.markdown());
}

}  // namespace llmscape::report
