// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/collective_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace llmscape::hardware {
namespace {

using traces::TimedCollective;
using Kind = models::Collective::Kind;

constexpr std::size_t kFewestMessages = 10;
constexpr std::int64_t kBytesOfToken = 8192;  // 4,096 values of 16 bits
// vLLM's own all-reduce, and SGLang's that comes from it, leave larger tensors to NCCL (custom_all_reduce.py,
// max_size); the tables agree.
constexpr std::int64_t kOwnBelow = 8 << 20;

bool leaves_large(const TimedCollective& r) {
  return r.implementation.starts_with("vllm_") || r.implementation.starts_with("sglang_");
}
// Timed with a copy of the buffer and the launch, which steps pay elsewhere.
bool eager(const TimedCollective& r) { return r.implementation.ends_with("_eager"); }

std::optional<Kind> kind_named(std::string_view name) {
  if (name == "all_reduce") return Kind::all_reduce;
  if (name == "all_gather") return Kind::all_gather;
  if (name == "reduce_scatter") return Kind::reduce_scatter;
  if (name == "all_to_all") return Kind::all_to_all;
  if (name == "send") return Kind::send;
  return std::nullopt;
}

models::Collective operation(const TimedCollective& r, Kind kind) {
  return {kind, static_cast<double>(r.bytes), static_cast<int>(r.ranks)};
}

// Wide: links of a server reach from 2 GB/s through its host to 900 GB/s in a switch.
std::vector<FreeParameter> free_parameters() {
  return {{"latency", 0.5e-6, 1e-3, 10e-6, 1.0},
          {"bandwidth", 0.5e9, 2e12, 200e9, 1.0},
          {"root_term", 1e-12, 1e-6, 5e-9, 1.0}};
}

CollectiveCalibration fit(std::span<const TimedCollective> records, Kind kind) {
  const TimedCollective& first = records.front();
  FormProblem problem;
  problem.family = "collectives";
  problem.parameters = free_parameters();
  for (const TimedCollective& r : records) {
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({r.bytes, 0});
    problem.regime.push_back(regime_of(r.bytes / kBytesOfToken));
  }
  const auto parameters_of = [&](std::span<const double> free) {
    CollectiveFit p;
    p.kind = kind;
    p.ranks = static_cast<int>(first.ranks);
    p.latency = Seconds(free[0]);
    p.bandwidth = BytesPerSecond(free[1]);
    p.root_term = Seconds(free[2]);
    return p;
  };
  problem.form = [&](std::span<const double> free) {
    return [&, links = Links{{parameters_of(free)}, {}, {}, {}}](std::size_t row) {
      return collective_time(links, operation(records[row], kind)).si();
    };
  };
  CollectiveCalibration calibration;
  calibration.implementation = first.implementation;
  calibration.report = fit_and_validate(problem);
  calibration.report.data =
      fmt::format("{}, {}, {} ranks, {}", first.kind, first.implementation, first.ranks, calibration.report.data);
  calibration.parameters = parameters_of(values_of(calibration.report.fitted));
  calibration.parameters.tag = Tag::fitted;
  if (leaves_large(first)) calibration.parameters.below = Bytes(static_cast<double>(kOwnBelow));
  return calibration;
}

}  // namespace

std::vector<CollectiveCalibration> fit_collectives(std::span<const TimedCollective> records) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::vector<TimedCollective>> sets;
  for (const TimedCollective& r : records)
    if (r.ranks_per_node == r.ranks && !eager(r) && !(leaves_large(r) && r.bytes >= kOwnBelow))
      sets[{r.kind, r.implementation, r.ranks}].push_back(r);
  std::vector<CollectiveCalibration> all;
  for (const auto& [what, set] : sets)
    if (const auto kind = kind_named(std::get<0>(what)); kind && set.size() >= kFewestMessages)
      all.push_back(fit(set, *kind));
  return all;
}

}  // namespace llmscape::hardware
