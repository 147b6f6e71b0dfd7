// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include "base/table.hpp"
#include "sim/report/accuracy_sections.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using hardware::FamilyReport;
using hardware::RowReport;
using validation::Comparison;

struct Family {
  std::string_view prefix, name, data;  // reports whose family and data begin so
  bool by_engine = false;               // fits of an engine have one interval together, as its device file has it
};
constexpr std::array kFamilies = {Family{"gemm", "GEMM", ""},
                                  Family{"expert_gemm", "layer of experts", ""},
                                  Family{"prefill_attention", "attention of prompts", ""},
                                  Family{"decode_attention", "attention of decodes", ""},
                                  Family{"latent_", "latent attention", ""},
                                  Family{"collectives", "all-reduce", "all_reduce", true}};

// How many of the rows lie within the half-width that 90 % of the others take.
std::size_t rows_held(std::span<const RowReport> rows, std::size_t parity) {
  std::vector<double> others;
  const auto residual = [](const RowReport& row) { return std::abs(std::log(row.measured / row.held_out)); };
  for (std::size_t i = 1 - parity; i < rows.size(); i += 2) others.push_back(residual(rows[i]));
  const auto width = hardware::conformal_half_width(others, 0.9);
  std::size_t inside = 0;
  for (std::size_t i = parity; width && i < rows.size(); i += 2) inside += residual(rows[i]) <= *width;
  return inside;
}

void add_kernels(Table& table, const AccuracyPage& page) {
  for (const Family& family : kFamilies) {
    std::vector<double> predicted, measured;
    std::size_t inside = 0, scored = 0;
    int fits = 0;
    for (const DeviceAccuracy& device : page.devices) {
      std::map<std::string, std::vector<RowReport>> intervals;  // rows that share one
      for (const FamilyReport& f : device.families) {
        if (!f.family.starts_with(family.prefix) || !f.data.starts_with(family.data)) continue;
        ++fits;
        for (const RowReport& row : f.rows) {
          predicted.push_back(row.held_out);
          measured.push_back(row.measured);
        }
        auto& shared = intervals[family.by_engine ? f.engine : fmt::format("{}", fits)];
        shared.insert(shared.end(), f.rows.begin(), f.rows.end());
        scored += f.rows.size();
      }
      for (const auto& [whose, rows] : intervals)
        for (const std::size_t parity : {0U, 1U}) inside += rows_held(rows, parity);
    }
    if (fits == 0) continue;
    std::vector<double> errors;
    for (std::size_t i = 0; i < measured.size(); ++i) errors.push_back(std::abs(predicted[i] / measured[i] - 1));
    std::ranges::sort(errors);
    table.row({fmt::format("time of a kernel: {}", family.name),
               fmt::format("shapes that the fit had not seen, {} fits to {} tables", fits, page.devices.size()),
               grouped(static_cast<std::int64_t>(scored)), percent(errors[errors.size() / 2]),
               percent(errors[errors.size() * 9 / 10]),
               percent(static_cast<double>(inside) / static_cast<double>(scored))});
  }
}

void add_carried(Table& table, const AccuracyPage& page) {
  for (const CarriedAccuracy& pair : page.carried) {
    const CarriedTotal total = total_of(pair);
    table.row({"time of a kernel: a chip never measured",
               fmt::format("{} by the fits of {} and both data sheets", pair.to, pair.from),
               grouped(static_cast<std::int64_t>(total.rows)), percent(total.median), percent(total.p90),
               percent(total.held)});
  }
}

std::string coverage_of(const std::vector<Coverage>& all, std::string_view metric) {
  const auto found = std::ranges::find(all, metric, &Coverage::metric);
  if (found == all.end()) return "-";
  const std::string kernels = fmt::format("{} of {}", percent(found->share), found->rows);
  return found->on_servers ? fmt::format("{}; on servers {}", kernels, percent(*found->on_servers)) : kernels;
}

void add_pairs(Table& table, const std::vector<Comparison>& comparisons, std::string_view metric,
               const std::string& what, const std::string& on, const std::vector<Coverage>& coverage = {}) {
  const auto c = std::ranges::find(comparisons, metric, &Comparison::metric);
  if (c == comparisons.end()) return;
  table.row({what, on, fmt::format("{}", c->count), percent(c->error_median), percent(c->error_p90),
             coverage_of(coverage, metric)});
}

const RunAccuracy* run_named(const AccuracyPage& page, std::string_view name) {
  const auto found = std::ranges::find(page.runs, name, &RunAccuracy::name);
  return found == page.runs.end() ? nullptr : &*found;
}

// ": TPOT from 0.96 times the low to 1.27 times the high end, TTFT ..."; empty where nothing is known of servers.
std::string widening(const AccuracyPage& page) {
  std::string text;
  const auto add = [&text](const std::vector<Coverage>& coverage, std::string_view metric, std::string_view name) {
    const auto found = std::ranges::find(coverage, metric, &Coverage::metric);
    if (found != coverage.end())
      text += fmt::format("{} {} from {:.2f} times the low to {:.2f} times the high end", text.empty() ? ":" : ",",
                          name, found->spread.below, found->spread.above);
  };
  if (const RunAccuracy* run = run_named(page, kDeployments)) {
    add(run->coverage, "tpot", "TPOT");
    add(run->coverage, "ttft", "TTFT");
  }
  if (page.energy) {
    add(page.energy->coverage, "mean_w", "watts above those at rest");
    add(page.energy->coverage, "joules_per_output_token", "joules of an output token above those at rest");
  }
  return text;
}

void add_runs(Table& table, const AccuracyPage& page) {
  if (const RunAccuracy* run = run_named(page, kDeployments)) {
    const std::string on = "servers under load, no constant fitted: " + run->name;
    add_pairs(table, run->comparisons, "tpot", "TPOT", on, run->coverage);
    add_pairs(table, run->comparisons, "ttft", "TTFT", on, run->coverage);
    add_pairs(table, run->comparisons, "rate", "tokens per second", on, run->coverage);
  }
  for (const RunAccuracy& run : page.runs)
    for (const Comparison& c : run.comparisons)
      if (c.metric.starts_with("latency, "))
        add_pairs(table, run.comparisons, c.metric, "time of a batch, " + c.metric.substr(9), run.name);
  if (page.energy) {
    const auto& first = page.energy->all.ways.front();
    const std::string on = "full batches of vLLM 0.11 on H100, " + page.energy->ways.front();
    add_pairs(table, first, "mean_w", "power of the GPUs", on, page.energy->coverage);
    add_pairs(table, first, "joules_per_output_token", "joules of an output token", on, page.energy->coverage);
  }
}

// What others published of themselves or of each other.
struct OfOthers {
  const char *tool, *figure, *rows, *source;
};
constexpr std::array kOfOthers = {
    OfOthers{"BLIS (inference-sim)", "TPOT 11.9 %, TTFT 31.5 %, mean", "360 and 356 rows of vLLM, never fitted",
             "blis-registry, docs/evaluation-baseline.json @ 6244defd; an assumed host constant took TTFT from 52.9 %"},
    OfOthers{"BLIS", "E2E 11.8 %, TTFT 22.8 %, mean", "38 runs", "inference-sim PR 944"},
    OfOthers{"BLIS", "E2E 6.7 %, TTFT 17.6 %, median", "36 rows_held-out experiments of vLLM 0.15.1", "its README"},
    OfOthers{"AISimulate (AIConfigurator)", "TPOT 10.3 %, TTFT 33.9 %, mean, on H200; 6.3 % and 58.8 % on all",
             "84 points of latent attention, replayed", "ai-dynamo/aisimulate PR 262"},
    OfOthers{"AIConfigurator", "2.3 % of a step, mean", "509 points off the grid, same engine and GPU",
             "aiconfigurator PR 1384"},
    OfOthers{"AIConfigurator", "TTFT about 45 %, mean", "A100, a user's report", "aiconfigurator issue 1205"},
    OfOthers{"LLMServingSim 2", "TPOT 0.2-1.7 %, E2E 0.5-2.2 %, TTFT 0.6-13.6 %, of means", "4 runs of its own",
             "validation/summary.txt @ 5daddb2"},
    OfOthers{"LLMServingSim 1.1", "E2E 18.8 %, TTFT 72.5 %, median", "32 runs on H100 of another group",
             "inference-sim/training"},
    OfOthers{"Vidur", "E2E 2.5 %, TTFT 13.6 %, median", "2 runs on H100 of another group", "inference-sim/training"},
    OfOthers{"Frontier", "E2E 6.4 % and 2.6 % (disaggregated), throughput below 4 %", "16 H800", "arXiv 2605.21312"},
};

std::string scoreboard(const AccuracyPage& page) {
  const RunAccuracy* deployments = run_named(page, kDeployments);
  if (!deployments) return "";
  Table table({"tool", "error", "rows", "source"});
  const auto of = [&](std::string_view metric) {
    return std::ranges::find(deployments->comparisons, metric, &Comparison::metric);
  };
  const auto tpot = of("tpot"), ttft = of("ttft");
  const auto end = deployments->comparisons.end();
  if (tpot == end || ttft == end) return "";
  table.row(
      {"llmscape",
       fmt::format("TPOT {}, TTFT {}, mean; {} and {}, median", percent(tpot->error_mean), percent(ttft->error_mean),
                   percent(tpot->error_median), percent(ttft->error_median)),
       fmt::format("{} of {} rows of vLLM, TensorRT-LLM and SGLang, never fitted", tpot->count, deployments->listed),
       "this page"});
  if (const RunAccuracy* run = run_named(page, "vLLM run, catalogue's device")) {
    const auto e2e = std::ranges::find(run->comparisons, "e2e", &Comparison::metric);
    const auto first = std::ranges::find(run->comparisons, "ttft", &Comparison::metric);
    if (e2e != run->comparisons.end() && first != run->comparisons.end())
      table.row(
          {"llmscape",
           fmt::format("E2E {}, TTFT {}, median of requests", percent(e2e->error_median), percent(first->error_median)),
           fmt::format("{} requests of a run of LLMServingSim 2", e2e->count), "this page"});
  }
  for (const OfOthers& p : kOfOthers) table.row({p.tool, p.figure, p.rows, p.source});
  return "### Beside the published errors of others\n\n" + table.markdown() +
         "\nThese figures are of different rows: other engines and versions, other models, other loads. Rows that a "
         "tool's "
         "own authors chose, rows it was fitted on and rows of a single kernel are easier than rows of servers that it "
         "has never seen, and TTFT near full load has no stable value to be compared with. Only figures over the same "
         "rows rank tools; none of these pairs are. \"360 rows\" are all rows of one engine; ours leave out those "
         "named "
         "below, each with its reason.\n\n";
}

}  // namespace

std::string signed_percent(std::optional<double> share) { return share ? fmt::format("{:+.1f} %", 100 * *share) : "-"; }

std::string accuracy_overview(const AccuracyPage& page) {
  Table table({"what is predicted", "of what", "rows", "median error", "nine of ten within", "90 % intervals hold"});
  add_kernels(table, page);
  add_carried(table, page);
  add_runs(table, page);
  if (table.empty()) return "";
  return "## In a minute\n\n" + table.markdown() +
         "\nIntervals are those of `llmscape run --intervals`: what the errors of kernels can do to a metric. *On "
         "servers* they are widened by what hosts, front ends and schedulers did" +
         widening(page) +
         "; what is told is the share of rows that intervals hold when the rows of their own deployment did not widen "
         "them. Those of kernels come from one half of the rows and are tried on the other; those of a chip that was "
         "never measured come from the first pair and are tried on the others.\n\n" +
         scoreboard(page);
}

}  // namespace llmscape::report
