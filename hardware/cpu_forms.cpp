// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu_forms.hpp"

#include "hardware/index_load.hpp"
#include "hardware/operator_load.hpp"
#include "hardware/state_work.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr std::int64_t kTileRows = 12, kHalfTile = 8, kLeastRows = 4;  // what attention has code for
constexpr double kKeyBlock = 16;

// Query rows that the tiles work for.
std::int64_t worked_rows(std::int64_t rows) {
  const std::int64_t left = rows % kTileRows;
  const std::int64_t last = left == 0 ? 0 : left <= kLeastRows ? kLeastRows : left <= kHalfTile ? kHalfTile : kTileRows;
  return rows - left + last;
}

// One KV head's attention in several sequences that are alike.
struct HeadWork {
  double heads = 0;       // KV heads of all sequences
  std::int64_t rows = 0;  // query rows that share one
  double keys = 0;        // that are read for one
  double scores = 0;      // of one: query rows times the keys that each sees, blocks filled up
  double widths = 0;      // of a key and of a value, together
  double stored = 0;      // elements in memory for a key and its value
};

KernelCost attention_cost(const CpuAttention& p, std::int64_t threads, const HeadWork& work, double kv_bytes,
                          double flops) {
  const auto count = static_cast<double>(threads);
  const double tiles = std::ceil(static_cast<double>(work.rows) / kTileRows);
  const double padding = static_cast<double>(worked_rows(work.rows)) / static_cast<double>(work.rows);
  const Bytes bytes(work.heads * work.keys * work.stored * kv_bytes);
  const Seconds score = Flops(2 * padding * work.widths) / p.rate + p.softmax;
  const Seconds time = work.heads * (tiles * p.launch + work.scores * score) / count + bytes / p.bandwidth;
  return {time, Flops(flops), Flops(flops), bytes};
}

const CpuStream& row_of(const CpuElementwise& p, models::Elementwise::Kind kind) {
  using Kind = models::Elementwise::Kind;
  switch (kind) {
    case Kind::norm: return p.norm;
    case Kind::rope: return p.rope;
    case Kind::add:
    case Kind::scores: return p.add;
    case Kind::embedding: return p.embedding;
    case Kind::activation:
    case Kind::router:
    case Kind::permute:
    case Kind::quantise: break;
  }
  return p.activation;
}

const Fields<CpuStream>& stream_fields() {
  static const Fields<CpuStream> fields = [] {
    Fields<CpuStream> f("stream", "a kernel that reads and writes rows");
    f.add("launch", &CpuStream::launch, "fixed time").required().at_least(0);
    f.add("bandwidth", &CpuStream::bandwidth, "of one thread, from the caches").required().above(0);
    return f;
  }();
  return fields;
}

}  // namespace

KernelCost product_cost(const CpuProducts& p, std::int64_t threads, const models::Gemm& g, double matrices) {
  const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  const Flops flops(2 * m * n * k);
  const Bytes bytes(matrices * n * k * g.weights.bytes_with_scales() + m * (n + k) * g.activations.bytes);
  const Flops seen(2 * std::max(0.0, m - matrices * p.hidden_rows) * n * k);
  const Seconds compute = seen / (static_cast<double>(threads) * p.rate);
  return {matrices * p.launch + bytes / p.bandwidth + compute, flops, flops, bytes};
}

KernelCost attention_cost(const CpuAttention& p, std::int64_t threads, const models::PrefillAttention& a) {
  const double widths = a.head_dim + a.value_width();
  const std::int64_t group = a.heads / a.kv_heads;
  KernelCost all;
  for (const models::PrefillChunk& chunk : a.chunks) {
    HeadWork work;
    work.heads = a.kv_heads;
    work.rows = chunk.tokens * group;
    work.keys = keys_read(a, chunk);
    // A scored pair is the half of one that is attended to.
    const double pairs = models::windowed_pairs(chunk.tokens, chunk.cached, a.window) + estimated_pairs(a, chunk) / 2;
    // A tile's rows go as far as the last of them, rounded up to a block.
    const double tokens_of_tile = static_cast<double>(kTileRows) / static_cast<double>(group);
    const double filled = (kKeyBlock + std::min(tokens_of_tile, static_cast<double>(chunk.tokens))) / 2;
    work.scores = static_cast<double>(group) * (pairs + static_cast<double>(chunk.tokens) * filled);
    work.widths = work.stored = widths;
    const double element = a.kv.stored_bytes(a.head_dim, a.value_width()) / widths;
    const KernelCost cost = attention_cost(p, threads, work, element, 2 * a.heads * widths * pairs);
    all.time += cost.time;
    all.flops += cost.flops;
    all.bf16_flops += cost.bf16_flops;
    all.bytes += cost.bytes;
  }
  return all;
}

KernelCost attention_cost(const CpuAttention& p, std::int64_t threads, const models::DecodeAttention& a) {
  if (a.sequences == 0) return {};
  const double score_width = a.head_dim, value_width = a.value_width();
  const auto entries = static_cast<double>(a.attended.sum), sequences = static_cast<double>(a.sequences);
  HeadWork work;
  work.heads = sequences * a.kv_heads;
  work.rows = a.heads / a.kv_heads * a.tokens_per_sequence;
  work.keys = entries / sequences;
  work.scores = static_cast<double>(work.rows) * (work.keys + kKeyBlock / 2);
  work.widths = score_width + value_width;
  work.stored = a.stored_width();
  const double flops = 2 * a.heads * work.widths * entries * static_cast<double>(a.tokens_per_sequence);
  return attention_cost(p, threads, work, a.stored_bytes() / work.stored, flops);
}

KernelCost state_cost(const CpuAttention& p, std::int64_t threads, const models::StateUpdate& u) {
  const StateLoad load = load_of(u);
  const Flops flops(load.flops);
  const Bytes bytes(load.bytes);
  return {p.launch + std::max(flops / (static_cast<double>(threads) * p.rate), bytes / p.bandwidth), flops, flops,
          bytes};
}

KernelCost index_cost(const CpuAttention& p, std::int64_t threads, const models::IndexScores& s) {
  const IndexLoad load = load_of(s);
  const Flops flops(load.flops(s));
  const Bytes bytes(load.bytes(s));
  return {p.launch + std::max(flops / (static_cast<double>(threads) * p.rate), bytes / p.bandwidth), flops, flops,
          bytes};
}

KernelCost stream_cost(const CpuStream& p, std::int64_t threads, double bytes) {
  if (bytes <= 0) return {};
  return {p.launch + Bytes(bytes) / (static_cast<double>(threads) * p.bandwidth), {}, {}, Bytes(bytes)};
}

KernelCost elementwise_cost(const CpuElementwise& p, std::int64_t threads, const models::Elementwise& e) {
  return stream_cost(row_of(p, e.kind), threads, e.bytes);
}

KernelCost elementwise_cost(const CpuElementwise& p, std::int64_t threads, const models::Copy& c) {
  return stream_cost(p.embedding, threads, c.bytes);
}

KernelCost elementwise_cost(const CpuElementwise& p, std::int64_t threads, const models::Sample& s) {
  return stream_cost(p.sampling, threads, s.bytes());
}

const Fields<CpuProducts>& cpu_products_fields() {
  static const Fields<CpuProducts> fields = [] {
    using P = CpuProducts;
    Fields<P> f("cpu_gemm", "GEMMs with prepacked weights");
    f.add("rate", &P::rate, "rate of one thread in large GEMMs").required().above(0);
    f.add("hidden_rows", &P::hidden_rows, "rows that are computed while the weights come in").required().at_least(0);
    f.add("bandwidth", &P::bandwidth, "memory bandwidth of all threads").required().above(0);
    f.add("launch", &P::launch, "fixed time of a GEMM").required().at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

const Fields<CpuAttention>& cpu_attention_fields() {
  static const Fields<CpuAttention> fields = [] {
    using P = CpuAttention;
    Fields<P> f("attention", "paged attention in tiles of 12 query rows");
    f.add("rate", &P::rate, "rate of one thread in full tiles").required().above(0);
    f.add("softmax", &P::softmax, "time of one thread for one score").required().at_least(0);
    f.add("bandwidth", &P::bandwidth, "at which all threads read keys and values").required().above(0);
    f.add("launch", &P::launch, "fixed time of a tile").required().at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

const Fields<CpuElementwise>& cpu_elementwise_fields() {
  static const Fields<CpuElementwise> fields = [] {
    using P = CpuElementwise;
    Fields<P> f("elementwise", "kernels that read and write rows");
    f.add_group("norm", &P::norm, stream_fields(), "root mean square norm").required();
    f.add_group("activation", &P::activation, stream_fields(), "gated activation").required();
    f.add_group("rope", &P::rope, stream_fields(), "rotary positions").required();
    f.add_group("add", &P::add, stream_fields(), "residual addition").required();
    f.add_group("embedding", &P::embedding, stream_fields(), "gathering rows of a table").required();
    f.add_group("sampling", &P::sampling, stream_fields(), "largest logit of each row").required();
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
