// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_indexed.hpp"

#include "hardware/index_load.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kScoreRows = 128;  // tokens x heads of one block of DeepGEMM's scores of prompts
constexpr double kScoreBytes = 4;
constexpr double kGatheredElement = 2;

// Tokens that attend to entries of their own, and the FLOPs that their kernel does for one entry of a token.
struct Gathered {
  double tokens = 0, entries = 0;  // entries of all tokens
  double heads = 0, widths = 0;
  double entry_bytes = 0;
  std::int64_t places = 0;  // most entries of a token
};

// Without its tokens and their entries.
Gathered gathered_by(const auto& attention) {
  Gathered g;
  g.heads = attention.heads;
  g.widths = attention.head_dim + attention.value_width();
  g.entry_bytes = attention.stored_bytes();
  g.places = attention.window;
  return g;
}

KernelCost gathered_cost(const Chip& chip, const IndexedAttentionParameters& p, const Gathered& g, bool unsplit) {
  if (g.tokens <= 0) return {};
  const double block = static_cast<double>(p.head_block), blocks = std::ceil(g.heads / block);
  const double worked = p.every_place ? g.tokens * static_cast<double>(g.places) : g.entries;
  const FlopsPerSecond rate = p.compute_efficiency * *chip.peak_bf16;
  Seconds compute = Flops(2 * blocks * block * g.widths * worked) / rate;
  // Blocks of heads and tokens beside each other, one a multiprocessor.
  if (unsplit) {
    const double sms = static_cast<double>(*chip.multiprocessors), running = g.tokens * blocks;
    if (running < sms) compute *= sms / running;
  }
  const Flops flops(2 * g.heads * g.widths * g.entries);
  const Bytes bytes(g.entries * g.entry_bytes + g.tokens * g.heads * g.widths * kGatheredElement);
  // What tokens share of their entries comes from L2, so that memory bounds only the few of decodes.
  const Seconds memory = bytes / (p.memory_efficiency * *chip.hbm_bandwidth);
  return {unsplit ? std::max(compute, memory) : compute, flops, flops, bytes};
}

}  // namespace

const IndexedAttentionParameters& assumed_indexed_attention() {
  static const IndexedAttentionParameters parameters = [] {
    IndexedAttentionParameters p;
    p.score_efficiency = 0.45;
    p.choice = Seconds(30e-9);
    p.choice_bandwidth = BytesPerSecond(2e12);
    p.compute_efficiency = 0.6;
    p.launch = Seconds(80e-6);
    p.token = Seconds(100e-9);
    return p;
  }();
  return parameters;
}

KernelCost index_cost(const Chip& chip, const IndexedAttentionParameters& p, const models::IndexScores& s) {
  const IndexLoad load = load_of(s);
  if (load.tokens <= 0) return {};
  const FlopsPerSecond rate = p.score_efficiency * (chip.peak_fp8 ? **chip.peak_fp8 : *chip.peak_bf16);
  const Flops flops(load.flops(s));
  Seconds scores = flops / rate;
  if (s.chunks.empty()) {
    scores = std::max(scores, Bytes(load.keys * s.key_bytes) / (p.memory_efficiency * *chip.hbm_bandwidth));
  } else {  // one block walks all keys of its tokens
    const double sms = static_cast<double>(*chip.multiprocessors);
    scores = std::max(scores, Flops(2 * kScoreRows * s.head_dim * load.longest * sms) / rate);
  }
  const double share = load.tokens > 0 ? load.choices / load.tokens : 0;
  const Seconds choosing = load.choices * p.choice + Bytes(share * kScoreBytes * load.pairs) / p.choice_bandwidth;
  const Flops wide = chip.peak_fp8 ? flops * (*chip.peak_bf16 / **chip.peak_fp8) : flops;
  return {p.launch + load.tokens * p.token + scores + choosing,
          flops,
          wide,
          Bytes(load.bytes(s)),
          Bytes(),
          Flops(),
          std::min(kLongestLaunch, p.launch)};
}

KernelCost indexed_attention_cost(const Chip& chip, const IndexedAttentionParameters& p,
                                  const models::PrefillAttention& a) {
  Gathered g = gathered_by(a);
  for (const models::PrefillChunk& chunk : a.chunks) {
    g.tokens += static_cast<double>(chunk.tokens);
    g.entries += models::windowed_pairs(chunk.tokens, chunk.cached, a.window);
  }
  KernelCost cost = gathered_cost(chip, p, g, false);
  // Entries of neighbours are the same ones, or near: each is read once.
  double keys = 0;
  for (const models::PrefillChunk& chunk : a.chunks) keys += static_cast<double>(chunk.tokens + chunk.cached);
  cost.bytes = Bytes(keys * g.entry_bytes + g.tokens * g.heads * g.widths * kGatheredElement);
  return cost;
}

KernelCost indexed_attention_cost(const Chip& chip, const IndexedAttentionParameters& p,
                                  const models::DecodeAttention& a) {
  Gathered g = gathered_by(a);
  g.tokens = static_cast<double>(a.sequences * a.tokens_per_sequence);
  g.entries = static_cast<double>(a.attended.sum * a.tokens_per_sequence);
  return gathered_cost(chip, p, g, p.unsplit);
}

const Fields<IndexedAttentionParameters>& indexed_attention_fields() {
  static const Fields<IndexedAttentionParameters> fields = [] {
    using P = IndexedAttentionParameters;
    Fields<P> f("indexed_attention", "latent attention to entries that an index chooses (DeepSeek sparse attention)");
    f.add("score_efficiency", &P::score_efficiency, "share of the fp8 peak that scores the context")
        .required()
        .above(0)
        .at_most(1);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").above(0).at_most(1.3);
    f.add("choice", &P::choice, "of a token whose context is longer than what it attends to").at_least(0);
    f.add("choice_bandwidth", &P::choice_bandwidth, "at which the choice reads scores").required().above(0);
    f.add("compute_efficiency", &P::compute_efficiency, "share of the bf16 peak that attends, padded heads included")
        .required()
        .above(0)
        .at_most(1);
    f.add("head_block", &P::head_block, "heads are rounded up to multiples of this").at_least(1);
    f.add("every_place", &P::every_place, "the kernel works on as many entries in a short context as in a long one");
    f.add("unsplit", &P::unsplit, "one block computes all entries of a decode's token");
    f.add("decodes_as_latent", &P::decodes_as_latent, "decodes attend in the kernel of dense latent attention");
    f.add("most_prompt_heads", &P::most_prompt_heads,
          "prompts with more heads run in the kernel for bf16 latents; 0: none do")
        .at_least(0);
    f.add("launch", &P::launch, "fixed time of the kernels of a layer").at_least(0);
    f.add("token", &P::token, "of a token, in the kernels around").at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
