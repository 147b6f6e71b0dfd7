// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/sparse_index.hpp"

#include "models/operator_list.hpp"

namespace llmscape::models {

std::vector<Linear> SparseIndex::projections(std::int64_t hidden, int q_rank) const {
  if (heads == 0) return {};
  const std::int64_t queries = std::int64_t{heads} * head_dim;
  return {{q_rank > 0 ? q_rank : hidden, queries}, {hidden, std::int64_t{head_dim} + heads}};
}

std::int64_t SparseIndex::inner_parameters() const { return heads > 0 ? 2 * std::int64_t{head_dim} : 0; }

// Keys are normed, queries and keys rotated and written in fp8.
void SparseIndex::add_token_kernels(OperatorList& list, const LayerShare& share, int rope_dim) const {
  if (heads == 0) return;
  const std::int64_t rows = std::int64_t{heads} + 1;
  share.add_elementwise(list, Elementwise::Kind::norm, 2, head_dim);
  share.add_elementwise(list, Elementwise::Kind::rope, 2, rows * rope_dim);
  share.add_elementwise(list, Elementwise::Kind::quantise, 1.5, rows * head_dim);  // 16 bits read, 8 written
}

void SparseIndex::add_scores(OperatorList& list, const LayerShare& share, const Batch& batch) const {
  if (heads == 0) return;
  IndexScores all;
  all.heads = heads;
  all.head_dim = head_dim;
  all.entries = entries;
  all.key_bytes = key_bytes();
  all.kv = share.precision.kv;
  if (!batch.chunks.empty()) {
    IndexScores prompts = all;
    prompts.chunks = share.prefill(batch, 0).chunks;
    list.add(prompts, share.layers);
  }
  if (batch.decodes > 0) {
    all.sequences = batch.decodes;
    all.tokens_per_sequence = batch.tokens_per_decode;
    all.context = batch.attended.front();
    list.add(all, share.layers);
  }
}

}  // namespace llmscape::models
