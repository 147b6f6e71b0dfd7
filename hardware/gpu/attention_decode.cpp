// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_decode.hpp"

#include "hardware/gpu/correction_features.hpp"

#include "hardware/gpu/l2_hits.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kKeyBlock = 128;  // keys of one split at least
constexpr double kMostSplits = 128;
constexpr double kRowBlock = 64;    // query rows of one matrix instruction tile
constexpr double kFullShare = 0.8;  // above this share of the multiprocessors the KV is not split
constexpr double kSplitSlots = 2;   // thread blocks a multiprocessor that FlashAttention 2 splits KV for
constexpr double kActivationBytes = 2;

// Thread blocks for each of `work` sequences and KV heads, to fill `slots`.
double splits(double work, double slots, double context) {
  if (work > kFullShare * slots) return 1;
  return std::max(1.0, std::min({std::floor(slots / work), std::floor(context / kKeyBlock), kMostSplits}));
}

// Seconds for a byte of the cache, of which a share is found in L2.
double seconds_per_byte(const Chip& chip, double bandwidth, double kv_bytes, const std::optional<WarmCache>& warm) {
  if (!warm) return 1 / bandwidth;
  const double hits = l2_hits(chip, kv_bytes, warm->held);
  return (1 - hits) / bandwidth + hits / warm->bandwidth.si();
}

}  // namespace

KernelCost decode_attention_cost(const Chip& chip, const DecodeAttentionParameters& p, const models::DecodeAttention& a,
                                 const std::optional<WarmCache>& warm) {
  if (a.sequences <= 0) return {};
  const double sms = static_cast<double>(*chip.multiprocessors);
  const double bandwidth = p.memory_efficiency * chip.hbm_bandwidth.value.si();
  const double sequences = static_cast<double>(a.sequences), queries = static_cast<double>(a.tokens_per_sequence);
  const double entries = static_cast<double>(a.attended.sum);
  const double mean = entries / sequences;
  // Width of a query against a key, of a value, and of what is stored per entry and KV head.
  const double score_width = a.head_dim, value_width = a.value_width();
  const double entry_bytes = a.stored_bytes();

  const double work = sequences * a.kv_heads;
  const bool grouped = a.heads > a.kv_heads;
  const double slots = !p.packing ? sms : grouped ? kSplitSlots * sms : 0;
  const double parts = splits(work, slots, mean);
  const double blocks = work * parts;
  const double kv_bytes = entries * a.kv_heads * entry_bytes;
  const double memory = std::max(kv_bytes * seconds_per_byte(chip, bandwidth, kv_bytes, warm),
                                 kv_bytes / (std::min(blocks, sms) * p.cta_bandwidth.si()));
  const double group_rows = kRowBlock * std::ceil(queries * a.heads / a.kv_heads / kRowBlock);
  const double compute = 2 * (score_width + value_width) * group_rows * entries * a.kv_heads /
                         (p.compute_efficiency * chip.peak_bf16.value.si()) / std::min(1.0, blocks / sms);
  const double scheduling = std::max(0.0, blocks / sms - 1) * p.cta.si();
  const double body =
      std::cbrt(scheduling * scheduling * scheduling + memory * memory * memory + compute * compute * compute);

  const double longest = static_cast<double>(a.attended.max);
  const double chain = longest * entry_bytes / (splits(work, slots, longest) * p.cta_bandwidth.si());
  const double tail = parts > 1 ? 0 : attention_tail(p, a).si();
  const double rows_bytes = sequences * queries * a.heads * (score_width + value_width) * kActivationBytes;

  const bool copies = p.packing && grouped && sequences > 1 && a.kv_heads > 1;
  const double seconds = p.launch.si() + (parts > 1 ? p.split.si() : 0) + (copies ? p.packing->si() : 0) + body +
                         std::max(tail, chain - body) + rows_bytes / bandwidth;
  const double pairs = queries * entries - sequences * queries * (queries - 1) / 2;
  const Flops flops(2 * a.heads * (score_width + value_width) * pairs);
  const double factor = p.correction && a.kernel == p.kernel ? p.correction->factor(features_of(a)) : 1;
  return {Seconds(factor * seconds), flops, flops, Bytes(kv_bytes + rows_bytes)};
}

Seconds attention_tail(const DecodeAttentionParameters& p, const models::DecodeAttention& a) {
  if (!p.tail_bandwidth || a.sequences <= 0) return {};
  const double mean = static_cast<double>(a.attended.sum) / static_cast<double>(a.sequences);
  return Bytes((static_cast<double>(a.attended.max) - mean) * a.stored_bytes()) / *p.tail_bandwidth;
}

const Fields<DecodeAttentionParameters>& decode_attention_fields() {
  static const Fields<DecodeAttentionParameters> fields = [] {
    using P = DecodeAttentionParameters;
    Fields<P> f("decode_attention", "attention of decoding sequences over a paged KV cache, split over thread blocks");
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak").required().above(0).at_most(1.5);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1.3);
    f.add("launch", &P::launch, "fixed time of the kernel").required().at_least(0);
    f.add("cta", &P::cta, "cost of one more thread block on a multiprocessor").required().at_least(0);
    f.add("cta_bandwidth", &P::cta_bandwidth, "memory bandwidth that one thread block can draw").required().above(0);
    f.add("split", &P::split, "merging the parts of a split KV").required().at_least(0);
    f.add("packing", &P::packing,
          "FlashAttention 2: copying queries and outputs to pack the heads of a group, without which KV is not split")
        .at_least(0);
    f.add("tail_bandwidth", &P::tail_bandwidth,
          "drawn by the longest sequence's block after the others of a kernel that does not split KV; absent: no tail")
        .above(0);
    f.add("most_sequences", &P::most_sequences, "range of the fit: most sequences").required().at_least(1);
    f.add("longest_context", &P::longest_context, "range of the fit: longest context in tokens").required().at_least(1);
    add_correction_field(f);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
