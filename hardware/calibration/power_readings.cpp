// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/power_readings.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/format.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace llmscape::hardware {
namespace {

using LoadKind = PowerLoad::Kind;
using traces::PowerReading;

constexpr Seconds kShortest(200e-6);
constexpr std::size_t kLike = 9, kRankOfLike = 3;  // loads next to another, and the one that it is held against
constexpr double kDiluted = 0.8;                   // of that one

// The operators of a case, its shape, and its size.
struct Described {
  std::vector<models::Operator> operators;
  LoadKind kind;
  std::string format;
  Group shape;
  std::int64_t tokens;
};

struct Describer {
  const Gpu& gpu;

  Described operator()(const traces::GemmCase& c) const {
    const traces::TimedGemm timed{c, Seconds(), {}};
    return {{{product_of(gpu, gpu.elementwise, timed).gemm, 1}}, LoadKind::dense, c.format, {1, c.n, c.k, 0}, c.m};
  }
  Described operator()(const traces::ExpertLayerCase& c) const {
    const ExpertLayerWork work = expert_layer_work(c);
    std::vector<models::Operator> all = {{work.up, 1}, {work.down, 1}};
    for (const models::Elementwise& stream : work.streams) all.push_back({stream, 1});
    return {std::move(all),
            LoadKind::experts,
            c.format,
            {c.hidden, c.expert_width / c.tensor_parallel, c.experts, c.experts_per_token},
            c.tokens};
  }
  Described operator()(const traces::GroupedGemmCase& c) const {
    return {{{grouped_gemm_work(c), 1}}, LoadKind::experts, c.format, {4, c.n, c.k, c.experts}, c.tokens};
  }
  // A copy reads and writes each byte; the triad reads two arrays and writes one.
  Described operator()(const traces::CopyCase& c) const {
    const double passes = c.kind == "triad" ? 3 : 2;
    const models::Elementwise stream{models::Elementwise::Kind::add, passes * static_cast<double>(c.bytes)};
    return {{{stream, 1}}, LoadKind::dense, "bf16", {5, c.bytes, static_cast<std::int64_t>(passes), 0}, 1};
  }
  Described operator()(const traces::DecodeAttentionCase& c) const {
    auto attention = of_heads<models::DecodeAttention>(c);
    attention.sequences = c.sequences;
    attention.attended = {c.sequences * c.context, c.context};
    return {{{attention, 1}}, LoadKind::attention, c.kv_format, {2, c.heads, c.kv_heads, c.head_dim}, c.sequences};
  }
  Described operator()(const traces::PrefillAttentionCase& c) const {
    auto attention = of_heads<models::PrefillAttention>(c);
    attention.chunks.assign(static_cast<std::size_t>(c.sequences), {c.tokens, c.cached, true});
    return {{{attention, 1}},
            LoadKind::attention,
            c.kv_format,
            {3, c.heads, c.kv_heads, c.head_dim},
            c.sequences * c.tokens};
  }
  template <class Case>
  Described operator()(const Case&) const {
    throw std::invalid_argument("no power is read of this kernel");
  }
};

// What the form can say of a reading, but for its time.
struct Tells {
  bool operator()(const traces::GemmCase& c) const { return models::format_named(c.format).has_value(); }
  bool operator()(const traces::ExpertLayerCase& c) const {
    return models::format_named(c.format) && c.routing == "balanced" && c.expert_parallel == 1;
  }
  bool operator()(const traces::GroupedGemmCase& c) const { return models::format_named(c.format).has_value(); }
  bool operator()(const traces::CopyCase& c) const { return c.kind == "device" || c.kind == "triad"; }
  bool operator()(const traces::DecodeAttentionCase& c) const { return models::format_named(c.kv_format).has_value(); }
  bool operator()(const traces::PrefillAttentionCase& c) const {
    return models::format_named(c.kv_format) && c.tokens > 1;
  }
  template <class Case>
  bool operator()(const Case&) const {
    return false;
  }
};

// Loads of one kind tell about each other.
using Like = std::tuple<LoadKind, std::string, std::int64_t, std::int64_t>;
Like like(const PowerLoad& load) {
  const bool attention = load.kind == LoadKind::attention;
  return {load.kind, load.format, attention ? load.shape.front() : 0, attention ? load.shape.back() : 0};
}

// Rates of arithmetic and traffic as shares of the highest of their kind.
struct Place {
  double arithmetic, traffic;
};
std::vector<Place> places_of(std::span<const PowerLoad* const> loads) {
  std::vector<Place> places;
  Place most{};
  for (const PowerLoad* load : loads) {
    places.push_back({(load->flops / load->time).si(), (load->bytes / load->time).si()});
    most = {std::max(most.arithmetic, places.back().arithmetic), std::max(most.traffic, places.back().traffic)};
  }
  for (Place& place : places) place = {place.arithmetic / most.arithmetic, place.traffic / most.traffic};
  return places;
}

// What the loads next to one of them draw at least, but for one of these.
Watts watts_of_like(std::size_t own, std::span<const PowerLoad* const> loads, std::span<const Place> places) {
  std::vector<std::pair<double, Watts>> others;
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (i != own)
      others.emplace_back(
          std::hypot(places[i].arithmetic - places[own].arithmetic, places[i].traffic - places[own].traffic),
          loads[i]->power);
  std::ranges::nth_element(others, others.begin() + kLike);
  others.resize(kLike);
  std::ranges::sort(others, std::greater(), [](const auto& other) { return other.second; });
  return others[kRankOfLike - 1].second;
}

}  // namespace

PowerLoad power_load(const Gpu& gpu, const PowerReading& reading) {
  const Described kernel = std::visit(Describer{gpu}, reading.what);
  const PartCost part = price(gpu, kernel.operators);
  return {kernel.kind,   kernel.format,
          part.flops,    std::accumulate(part.bf16_flops.begin(), part.bf16_flops.end(), Flops()),
          part.padding,  std::accumulate(part.bytes.begin(), part.bytes.end(), Bytes()),
          reading.time,  std::accumulate(part.launch.begin(), part.launch.end(), Seconds()),
          reading.power, kernel.shape,
          kernel.tokens};
}

std::vector<PowerReading> telling(std::span<const PowerReading> readings) {
  std::map<std::string, Seconds> fastest;  // products, by format
  for (const PowerReading& r : readings)
    if (const auto* gemm = std::get_if<traces::GemmCase>(&r.what); gemm && !r.engine.empty()) {
      const auto [known, first] = fastest.emplace(gemm->format, r.time);
      if (!first) known->second = std::min(known->second, r.time);
    }
  const auto launch_bound = [&](const PowerReading& r) {
    const auto* gemm = std::get_if<traces::GemmCase>(&r.what);
    if (!gemm || r.engine.empty()) return false;  // loops of the harness are graphs
    const Seconds floor = fastest.at(gemm->format);
    return floor >= kLaunchBound && r.time < kAboveFloor * floor;
  };
  std::vector<PowerReading> kept;
  std::ranges::copy_if(readings, std::back_inserter(kept), [&](const PowerReading& r) {
    return r.time >= kShortest && std::visit(Tells(), r.what) && !launch_bound(r);
  });
  return kept;
}

std::vector<PowerLoad> steady(std::span<const PowerLoad> loads) {
  std::map<Like, std::vector<const PowerLoad*>> kinds;
  for (const PowerLoad& load : loads) kinds[like(load)].push_back(&load);
  std::vector<bool> diluted(loads.size());
  for (const auto& [kind, members] : kinds) {
    if (members.size() <= kLike + 1) continue;
    const std::vector<Place> places = places_of(members);
    for (std::size_t own = 0; own < members.size(); ++own)
      diluted[static_cast<std::size_t>(members[own] - loads.data())] =
          members[own]->power < kDiluted * watts_of_like(own, members, places);
  }
  std::vector<PowerLoad> kept;
  for (std::size_t i = 0; i < loads.size(); ++i)
    if (!diluted[i]) kept.push_back(loads[i]);
  return kept;
}

}  // namespace llmscape::hardware
