// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/expert_coverage.hpp"
#include "models/operator.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// The distinct KV laws of the model: 0 (full attention) first if any layer has it, then each distinct window, sinks
// included (Attention::reach), ascending. Batch::attended has one entry for each, in this order.
std::vector<std::int64_t> kv_laws(const ModelSpec&);

// The distinct ways in which layers of the model are passed by some of a prompt's tokens alone, in the order of its
// layers; none for most models. And how many of the chunks' tokens pass the layers of each.
std::vector<PassingTokens> thinnings(const ModelSpec&);
std::vector<std::int64_t> thinned_tokens(std::span<const PassingTokens>, std::span<const PrefillChunk>);
// The sums of models::unrelated_tokens() over the chunks: of all their tokens, then of those that pass the layers of
// each of thinnings(model). Empty where they say nothing: of one prompt, of models without experts, under other laws.
std::vector<double> unrelated_tokens(const ModelSpec&, const ExpertCoverage&, std::span<const PrefillChunk>);

// The operators that one rank of one pipeline stage runs, in parts by what they depend on, so that a device can
// keep all but attention in a table. Stages are taken as equal: layer counts are divided by plan.pipeline, rounded up.
//
// token_work: everything that depends on the number of tokens alone: norms, projections, rope, feed-forward, embedding,
// collectives of the layers. `chunk_tokens` belong to prompts (expert coverage differs), `decode_tokens` to decodes.
// With data-parallel attention both are those of one rank, and `ranks` says what all of them compute: experts see the
// tokens of all, everything else those of its rank.
// `prompt_ends`: prompts whose last token is among the chunks'; only layers that these alone pass ask for it
// (TokenChange). There the chunks' other tokens pass one norm and the K and V projections and are written to the cache,
// those of layers that share a cache once (SwiftKV, arXiv 2410.03960: SingleInputKV, AcrossKV); last tokens and decodes
// pass everything.
// `thinned`: tokens of the chunks that pass the layers of each of thinnings(model), in their order; what is not given
// is all of them.
// `unrelated`: of the chunks, as the function of this name says; empty: they are of one prompt.
std::vector<Operator> token_work(const ModelSpec&, const ParallelPlan&, std::int64_t chunk_tokens,
                                 std::int64_t decode_tokens, const ExpertCoverage&, std::int64_t prompt_ends = 0,
                                 const RankTokens& ranks = {}, std::span<const std::int64_t> thinned = {},
                                 std::span<const double> unrelated = {});
// logit_work: final norm and head of `rows`, and sampling of `sampled` of them.
std::vector<Operator> logit_work(const ModelSpec&, const ParallelPlan&, std::int64_t rows, std::int64_t sampled);
// attention_work: prefill and decode attention of every layer group; with latent attention also the expansion of the
// latents that the chunks need (a chunk runs absorbed where that takes fewer FLOPs, a decode always does). In layers
// that last tokens alone pass those attend beside the decodes, the chunks' other tokens not at all. A
// batch with decodes whose `attended` does not match kv_laws throws std::invalid_argument.
std::vector<Operator> attention_work(const ModelSpec&, const ParallelPlan&, const Batch&);
// The same of one of the model's groups alone.
std::vector<Operator> group_attention(const ModelSpec&, const LayerGroup&, const ParallelPlan&, const Batch&);

// state_work: what layers with a recurrent state do to it, which depends on these counts alone.
struct StateCounts {
  std::int64_t chunks = 0, chunk_tokens = 0;
  std::int64_t decodes = 0, decode_tokens = 0;
};
[[nodiscard]] inline StateCounts state_counts(const Batch& batch) {
  return {static_cast<std::int64_t>(batch.chunks.size()), batch.prefill_tokens(), batch.decodes, batch.decode_tokens()};
}
std::vector<Operator> state_work(const ModelSpec&, const ParallelPlan&, const StateCounts&);

// What the last tokens of the prompts that end with these chunks attend to; `reach` as in Attention.
Attended last_tokens(std::span<const PrefillChunk> chunks, std::int64_t reach);

// All together: for devices that want the whole step, for tests and for `explain`.
std::vector<Operator> step_work(const ModelSpec&, const ParallelPlan&, const Batch&, const ExpertCoverage&);

}  // namespace llmscape::models
