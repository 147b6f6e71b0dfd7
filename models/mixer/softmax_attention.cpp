// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/softmax_attention.hpp"

#include <fmt/format.h>

#include "models/operator_list.hpp"

namespace llmscape::models {

std::vector<HeadCount> SoftmaxAttention::head_counts() const {
  return {{heads, "attention heads"}, {kv_heads, "KV heads", true}};
}

std::string SoftmaxAttention::description() const {
  const std::string widths =
      value_width() == head_dim ? std::to_string(head_dim) : fmt::format("{} ({} of values)", head_dim, value_width());
  return fmt::format("{} heads of {}, {} with keys and values", heads, widths, kv_heads);
}

std::vector<Linear> SoftmaxAttention::projections(std::int64_t hidden, int tensor) const {
  const std::int64_t queries = heads / tensor;
  const std::int64_t outputs = queries * value_width();
  const std::int64_t gates = (output_gate ? outputs : 0) + (head_gate ? queries : 0);
  return {{hidden, queries * head_dim + gates + key_value_columns(tensor), qkv_bias}, {outputs, hidden, output_bias}};
}

// Vectors are not cut by tensor parallelism, but for the sinks.
std::int64_t SoftmaxAttention::inner_parameters(int tensor) const {
  std::int64_t sum = 0;
  if (qk_norm_full) {
    sum += std::int64_t{heads + kv_heads} * head_dim;
  } else if (qk_norm) {
    sum += 2 * head_dim;
  }
  return sum + (sinks ? heads / tensor : 0);
}

SequenceState SoftmaxAttention::state(const Precision& precision, int tensor) const {
  const double kv = kv_heads_of_rank(tensor);
  return {.bytes_per_token = precision.kv.stored_bytes(kv * head_dim, kv * value_width()), .reach = window};
}

void SoftmaxAttention::add_token_work(OperatorList& list, const LayerShare& share) const {
  // A norm has written the input of queries, keys and values.
  share.add_projections(list, projections(share.hidden, share.tensor), Elementwise::Input::norm);
  const std::int64_t queries = heads / share.tensor;
  const std::int64_t rotated = (queries + kv_heads_of_rank(share.tensor)) * head_dim;
  if (qk_norm || qk_norm_full) share.add_elementwise(list, Elementwise::Kind::norm, 2, rotated);
  // A norm over all heads needs the sum of squares of all ranks: those of queries and keys go in one all-reduce of two
  // numbers of 32 bits a token (vLLM 0.18, MiniMaxText01RMSNormTP.forward_qk; 0.16 ran one for each).
  if (qk_norm_full && share.tensor > 1)
    list.add(Collective{Collective::Kind::all_reduce, 8.0 * static_cast<double>(share.tokens()), share.tensor},
             share.layers);
  if (share.rotary) share.add_elementwise(list, Elementwise::Kind::rope, 2, rotated);
  if (output_gate || head_gate)
    share.add_elementwise(list, Elementwise::Kind::activation, output_gate ? 3 : 2, queries * value_width());
}

void SoftmaxAttention::add_attention(OperatorList& list, const LayerShare& share, const Batch& batch,
                                     const Attended& decodes) const {
  if (!batch.chunks.empty()) {
    PrefillAttention work = share.prefill(batch, window);
    work.heads = heads / share.tensor;
    work.kv_heads = kv_heads_of_rank(share.tensor);
    work.head_dim = head_dim;
    work.value_dim = value_dim;
    list.add(work, share.layers);
  }
  if (batch.decodes > 0) {
    DecodeAttention work = share.decode(batch, decodes, window);
    work.heads = heads / share.tensor;
    work.kv_heads = kv_heads_of_rank(share.tensor);
    work.head_dim = head_dim;
    work.value_dim = value_dim;
    list.add(work, share.layers);
  }
}

}  // namespace llmscape::models
