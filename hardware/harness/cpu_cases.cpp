// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/case_design.hpp"
#include "models/attention_pairs.hpp"

// Shapes of models of up to a few billion parameters, each case well below a second on one core.
namespace llmscape::hardware::harness {
namespace {

using namespace traces;

constexpr const char* kFormat = "fp32";
constexpr double kMostFlops = 2e10;
constexpr std::int64_t kMostBytes = 128 << 20, kElement = 4;

std::optional<KernelCase> product(const Sobol::Point& u) {
  const GemmCase g{spread_rows(u[0], 1024), spread_width(u[1], 256, 8192), spread_width(u[2], 256, 8192), kFormat};
  if (2.0 * static_cast<double>(g.m * g.n * g.k) > kMostFlops) return std::nullopt;
  return g;
}

// Few rows: the weights stream, of heads too.
std::optional<KernelCase> streamed_product(const Sobol::Point& u) {
  const GemmCase g{spread(u[0], 1, 8), spread_width(u[1], 512, 32768), spread_width(u[2], 512, 8192), kFormat};
  if (g.n * g.k * kElement > kMostBytes) return std::nullopt;
  return g;
}

std::optional<KernelCase> decodes(const Sobol::Point& u) {
  DecodeAttentionCase a{spread(u[0], 1, 64),
                        spread(u[1], 16, 8192),
                        0,
                        chosen(u[2], {1, 2, 4, 8}),
                        chosen(u[3], {64, 128}),
                        kFormat,
                        kFormat};
  a.heads = a.kv_heads * chosen(u[4], {1, 2, 4, 8});
  if (a.sequences * a.context * a.kv_heads * a.head_dim * 2 * kElement > kMostBytes) return std::nullopt;
  return a;
}

std::optional<KernelCase> chunks(const Sobol::Point& u) {
  PrefillAttentionCase a{
      1, spread(u[0], 4, 1024), 0, 0, chosen(u[2], {1, 2, 4, 8}), chosen(u[3], {64, 128}), kFormat, kFormat};
  a.heads = a.kv_heads * chosen(u[4], {1, 2, 4, 8});
  if (u[1] > 1.0 / 3) a.cached = spread(1.5 * u[1] - 0.5, 16, 8192);  // a third begin a prompt
  if (4.0 * static_cast<double>(a.heads * a.head_dim) * models::windowed_pairs(a.tokens, a.cached, 0) > kMostFlops / 4)
    return std::nullopt;
  return a;
}

void add_elementwise(CaseList& list, const char* kind, std::int64_t narrowest, std::int64_t widest) {
  list.add_points({20, 10}, [&](const Sobol::Point& u) -> std::optional<KernelCase> {
    const ElementwiseCase e{kind, spread(u[0], 1, 512), spread_width(u[1], narrowest, widest), kFormat};
    if (e.rows * e.width * kElement > kMostBytes / 4) return std::nullopt;
    return e;
  });
}

}  // namespace

std::vector<KernelCase> cpu_cases(bool quick) {
  CaseList list(quick);
  list.add_points({160, 60}, product);
  list.add_points({60, 20}, streamed_product);
  list.add_points({60, 24}, decodes);
  list.add_points({60, 24}, chunks);
  for (const char* kind : {"norm", "add", "embedding", "rope"}) add_elementwise(list, kind, 256, 8192);
  add_elementwise(list, "activation", 512, 16384);
  add_elementwise(list, "sampling", 8192, 131072);
  constexpr std::int64_t kSmallest = 64 << 10, kLargest = 256 << 20;
  for (const char* kind : {"device", "triad"})
    list.add_sizes(kSmallest, kLargest, 4, [kind](std::int64_t bytes) { return CopyCase{kind, bytes, 0}; });
  for (const std::int64_t tokens : {16, 64, 256}) {
    constexpr std::int64_t kKeyBytes = 128 * kElement;
    list.add(CopyCase{"kv_gather", 32 << 20, tokens * kKeyBytes});
  }
  return list.take();
}

}  // namespace llmscape::hardware::harness
