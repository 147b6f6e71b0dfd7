// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_decode.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kKeyBlock = 128;   // keys of one split at least
constexpr double kRowBlock = 64;    // query rows of one matrix instruction tile
constexpr double kFullShare = 0.8;  // above this share of the multiprocessors the KV is not split
constexpr double kActivationBytes = 2;

// Thread blocks for each sequence and KV head.
double splits(double work, double sms, double context) {
  if (work > kFullShare * sms) return 1;
  return std::max(1.0, std::min(std::floor(sms / work), std::floor(context / kKeyBlock)));
}

}  // namespace

KernelCost decode_attention_cost(const Chip& chip, const DecodeAttentionParameters& p,
                                 const models::DecodeAttention& a) {
  if (a.sequences <= 0) return {};
  const double sms = static_cast<double>(*chip.multiprocessors);
  const double bandwidth = p.memory_efficiency * chip.hbm_bandwidth.value.si();
  const double sequences = static_cast<double>(a.sequences), queries = static_cast<double>(a.tokens_per_sequence);
  const double entries = static_cast<double>(a.attended.sum);
  const double mean = entries / sequences;
  // Width of a query against a key, of a value, and of what is stored per entry and KV head.
  const double score_width = a.mla ? a.kv_rank + a.rope_dim : a.head_dim;
  const double value_width = a.mla ? a.kv_rank : a.head_dim;
  const double entry_bytes = (a.mla ? score_width : 2.0 * a.head_dim) * a.kv.bytes_with_scales();

  const double work = sequences * a.kv_heads;
  const double parts = splits(work, sms, mean);
  const double blocks = work * parts;
  const double kv_bytes = entries * a.kv_heads * entry_bytes;
  const double memory = kv_bytes / std::min(bandwidth, std::min(blocks, sms) * p.cta_bandwidth.si());
  const double group_rows = kRowBlock * std::ceil(queries * a.heads / a.kv_heads / kRowBlock);
  const double compute = 2 * (score_width + value_width) * group_rows * entries * a.kv_heads /
                         (p.compute_efficiency * chip.peak_bf16.value.si()) / std::min(1.0, blocks / sms);
  const double scheduling = std::max(0.0, blocks / sms - 1) * p.cta.si();
  const double body =
      std::cbrt(scheduling * scheduling * scheduling + memory * memory * memory + compute * compute * compute);

  const double longest = static_cast<double>(a.attended.max);
  const double chain = longest * entry_bytes / (splits(work, sms, longest) * p.cta_bandwidth.si());
  const double rows_bytes = sequences * queries * a.heads * (score_width + value_width) * kActivationBytes;

  const double seconds =
      p.launch.si() + (parts > 1 ? p.split.si() : 0) + body + std::max(0.0, chain - body) + rows_bytes / bandwidth;
  const double pairs = queries * entries - sequences * queries * (queries - 1) / 2;
  const Flops flops(2 * a.heads * (score_width + value_width) * pairs);
  return {Seconds(seconds), flops, flops, Bytes(kv_bytes + rows_bytes)};
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
    f.add("most_sequences", &P::most_sequences, "range of the fit: most sequences").required().at_least(1);
    f.add("longest_context", &P::longest_context, "range of the fit: longest context in tokens").required().at_least(1);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
