// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/case_design.hpp"
#include "models/attention_pairs.hpp"

#include <utility>

// Shapes of models of up to a few hundred billion parameters on one rank; the whole list takes some minutes.
namespace llmscape::hardware::harness {
namespace {

using namespace traces;

constexpr const char* kFormat = "bf16";
constexpr std::int64_t kElement = 2;
constexpr double kMostFlops = 8e12, kMostBytes = 8e9;

GemmCase product(const Sobol::Point& u, const char* format) {
  return {spread_rows(u[0], 8192), spread_width(u[1], 512, 28672), spread_width(u[2], 512, 28672), format};
}

void add_products(CaseList& list, const Points& points, const char* format) {
  list.add_points(points, [format](const Sobol::Point& u) -> std::optional<KernelCase> { return product(u, format); });
}

std::optional<KernelCase> experts(const Sobol::Point& u) {
  // Hidden and expert width of Mixtral 8x7B, Qwen3-30B-A3B, Qwen3-235B-A22B, DeepSeek-V3, gpt-oss-120b and OLMoE.
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 6> kWidths = {
      {{4096, 14336}, {2048, 768}, {4096, 1536}, {7168, 2048}, {2880, 2880}, {2048, 1024}}};
  const auto [hidden, width] = kWidths[static_cast<std::size_t>(u[0] * kWidths.size())];
  GroupedGemmCase g{0, chosen(u[1], {8, 16, 32, 64, 128}), chosen(u[2], {1, 2, 4, 8}), 2 * width, hidden, kFormat};
  if (u[3] < 0.5) std::tie(g.n, g.k) = std::pair(hidden, width);
  constexpr std::int64_t kQuarters = 4;  // a quarter to 512 rows for each expert
  g.tokens = spread(u[4], 1, 512 * kQuarters) * g.experts / kQuarters / g.experts_per_token;
  const double rows = static_cast<double>(g.tokens * g.experts_per_token);
  if (g.tokens < 1 || 2 * rows * static_cast<double>(g.n * g.k) > kMostFlops) return std::nullopt;
  if (static_cast<double>(g.experts * g.n * g.k * kElement) > 2 * kMostBytes) return std::nullopt;
  return g;
}

std::optional<KernelCase> decodes(const Sobol::Point& u) {
  DecodeAttentionCase a{spread(u[0], 1, 512),
                        spread(u[1], 64, 131072),
                        0,
                        chosen(u[2], {1, 2, 4, 8}),
                        chosen(u[3], {64, 128}),
                        kFormat,
                        kFormat};
  a.heads = a.kv_heads * chosen(u[4], {1, 4, 8});
  if (static_cast<double>(a.sequences * a.context * a.kv_heads * a.head_dim * 2 * kElement) > kMostBytes)
    return std::nullopt;
  return a;
}

std::optional<KernelCase> chunks(const Sobol::Point& u) {
  PrefillAttentionCase a{
      1, spread(u[0], 16, 16384), 0, 0, chosen(u[2], {1, 2, 4, 8}), chosen(u[3], {64, 128}), kFormat, kFormat};
  a.heads = a.kv_heads * chosen(u[4], {1, 4, 8});
  if (u[1] > 1.0 / 3) a.cached = spread(1.5 * u[1] - 0.5, 64, 32768);  // a third begin a prompt
  if (4.0 * static_cast<double>(a.heads * a.head_dim) * models::windowed_pairs(a.tokens, a.cached, 0) > kMostFlops)
    return std::nullopt;
  return a;
}

void add_elementwise(CaseList& list, const char* kind, std::int64_t narrowest, std::int64_t widest,
                     const char* format = kFormat) {
  list.add_points({10, 4}, [&](const Sobol::Point& u) -> std::optional<KernelCase> {
    ElementwiseCase e{kind, spread(u[0], 1, 8192), spread_width(u[1], narrowest, widest), format};
    if (static_cast<double>(e.rows * e.width * kElement) > kMostBytes / 4) return std::nullopt;
    return e;
  });
}

void add_copies(CaseList& list) {
  constexpr std::int64_t kSmallest = 1 << 10, kLargest = 4LL << 30, kLargestHost = 256 << 20;
  for (const char* kind : {"device", "triad"})
    list.add_sizes(kSmallest, kLargest, 4, [kind](std::int64_t bytes) { return CopyCase{kind, bytes, 0}; });
  for (const char* kind : {"host_to_device", "device_to_host", "pageable_to_device"})
    list.add_sizes(kSmallest, kLargestHost, 8, [kind](std::int64_t bytes) { return CopyCase{kind, bytes, 0}; });
  for (const std::int64_t width : {64, 128})
    for (const std::int64_t tokens : {16, 64, 256}) list.add(CopyCase{"kv_gather", 1 << 30, tokens * width * kElement});
}

void add_collectives(CaseList& list) {
  constexpr std::int64_t kSmallest = 1 << 10, kLargest = 512 << 20;
  for (const std::int64_t ranks : {2, 4, 8}) {
    list.add_sizes(kSmallest, kLargest, 2,
                   [ranks](std::int64_t bytes) { return CollectiveCase{"all_reduce", bytes, ranks, "nccl", ranks}; });
  }
}

// Whether a kernel takes long at the rates of an H100: its flops, in units of bf16 work, and its bytes.
bool is_long(double flops, double bytes) { return flops > 3e-4 * 6e14 || bytes > 3e-4 * 3e12; }

bool is_long(const GemmCase& g) {
  const auto m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  const double width = g.format == "fp8" ? 1 : kElement;
  return is_long(m * n * k * width, (m + n) * k * width + m * n * kElement);
}
bool is_long(const GroupedGemmCase& g) {
  const auto rows = static_cast<double>(g.tokens * g.experts_per_token);
  const double touched = std::min(static_cast<double>(g.experts), rows);
  return is_long(2 * rows * static_cast<double>(g.n * g.k), touched * static_cast<double>(g.n * g.k * kElement));
}
bool is_long(const DecodeAttentionCase& a) {
  return is_long(0, static_cast<double>(a.sequences * a.context * a.kv_heads * a.head_dim * 2 * kElement));
}
bool is_long(const PrefillAttentionCase& a) {
  return is_long(4.0 * static_cast<double>(a.heads * a.head_dim) * models::windowed_pairs(a.tokens, a.cached, 0), 0);
}

// The long ones of what `make` gives.
template <class Make>
auto long_ones(Make make) {
  return [make](const Sobol::Point& u) -> std::optional<KernelCase> {
    const std::optional<KernelCase> what = make(u);
    const auto takes_long = [](const auto& shape) {
      if constexpr (requires { is_long(shape); }) return is_long(shape);
      else return false;
    };
    return what && std::visit(takes_long, *what) ? what : std::nullopt;
  };
}

}  // namespace

std::vector<KernelCase> cuda_power_cases(bool quick) {
  CaseList list(quick);
  for (const char* format : {kFormat, "fp8"}) {
    list.add_points(
        {12, 2}, long_ones([format](const Sobol::Point& u) { return std::optional<KernelCase>(product(u, format)); }));
    list.add_points({12, 2}, long_ones([format](const Sobol::Point& u) -> std::optional<KernelCase> {
                      return GemmCase{spread(u[0], 1, 256), spread_width(u[1], 8192, 98304),
                                      spread_width(u[2], 8192, 32768), format};
                    }));
  }
  list.add_points({20, 2}, long_ones(experts));
  list.add_points({12, 2}, long_ones(decodes));
  list.add_points({12, 2}, long_ones(chunks));
  for (const char* kind : {"device", "triad"}) list.add(CopyCase{kind, 1LL << 30, 0});
  return list.take();
}

std::vector<KernelCase> cuda_cases(bool quick) {
  CaseList list(quick);
  for (const char* kind : {"launch", "sync"}) list.add(LaunchCase{kind, 1});
  for (const std::int64_t nodes : {1, 10, 100, 1000}) list.add(LaunchCase{"graph", nodes});
  add_products(list, {160, 40}, kFormat);
  add_products(list, {80, 20}, "fp8");
  list.add_points({90, 24}, experts);
  list.add_points({120, 30}, decodes);
  list.add_points({90, 24}, chunks);
  for (const char* kind : {"norm", "add", "embedding", "rope"}) add_elementwise(list, kind, 512, 16384);
  add_elementwise(list, "activation", 512, 28672);
  add_elementwise(list, "quantise", 512, 16384, "fp8");  // the format that it writes
  for (const char* kind : {"softmax", "sampling"}) {
    for (const std::int64_t vocabulary : {32000, 128256})
      for (const std::int64_t rows : {1, 7, 32, 64, 128, 256})
        list.add(ElementwiseCase{kind, rows, vocabulary, "fp32"});
  }
  add_copies(list);
  add_collectives(list);
  return list.take();
}

}  // namespace llmscape::hardware::harness
