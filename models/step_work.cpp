// SPDX-License-Identifier: Apache-2.0
#include "models/step_work.hpp"

#include "models/operator_list.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace llmscape::models {

std::vector<std::int64_t> kv_laws(const ModelSpec& model) {
  std::set<std::int64_t> windows;  // 0, full attention, sorts first
  for (const LayerGroup& group : model.groups)
    if (const SequenceState state = group.state(model.precision); state.bytes_per_token > 0) {
      windows.insert(state.reach);
      if (state.index_bytes) windows.insert(0);  // what it attends to is chosen from all entries
    }
  if (windows.empty()) windows.insert(0);  // states alone: contexts are counted all the same
  return {windows.begin(), windows.end()};
}

std::vector<PassingTokens> thinnings(const ModelSpec& model) {
  std::vector<PassingTokens> all;
  for (const LayerGroup& group : model.groups)
    if (group.change.passing.limits() && std::ranges::find(all, group.change.passing) == all.end())
      all.push_back(group.change.passing);
  return all;
}

std::vector<std::int64_t> thinned_tokens(std::span<const PassingTokens> thinnings,
                                         std::span<const PrefillChunk> chunks) {
  std::vector<std::int64_t> all(thinnings.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const PrefillChunk& chunk : chunks) all[i] += thinnings[i].of(chunk.tokens);
  return all;
}

std::vector<double> unrelated_tokens(const ModelSpec& model, const ExpertCoverage& coverage,
                                     std::span<const PrefillChunk> chunks) {
  const auto is_routed = [](const LayerGroup& group) { return group.feed_forward.routed(); };
  if (chunks.size() < 2 || coverage.law != ExpertCoverage::Law::related ||
      std::ranges::none_of(model.groups, is_routed))
    return {};
  const std::vector<PassingTokens> laws = thinnings(model);
  std::vector<double> all(1 + laws.size());
  for (const PrefillChunk& chunk : chunks) {
    all[0] += unrelated_tokens(coverage, chunk.tokens);
    for (std::size_t i = 0; i < laws.size(); ++i) all[1 + i] += unrelated_tokens(coverage, laws[i].of(chunk.tokens));
  }
  return all;
}

std::vector<Operator> logit_work(const ModelSpec& model, const ParallelPlan& plan, std::int64_t rows,
                                 std::int64_t sampled) {
  if (rows == 0 || model.vocabulary == 0) return {};
  const Precision& precision = model.precision;
  const Format hidden = hidden_format(precision);
  OperatorList list;
  if (model.final_norm)
    list.add_elementwise(Elementwise::Kind::norm, 2 * hidden.bytes * static_cast<double>(rows * model.hidden), 1);
  std::int64_t into_head = model.hidden;
  if (model.embedding_width > 0) {
    list.add(Gemm{rows, model.embedding_width, model.hidden, precision.embedding_weights(), hidden}, 1);
    into_head = model.embedding_width;
  }
  list.add(Gemm{rows, model.vocabulary / plan.tensor, into_head, precision.head_weights(), hidden}, 1);
  if (plan.tensor > 1)
    list.add(Collective{Collective::Kind::all_gather, hidden.bytes * static_cast<double>(rows * model.vocabulary),
                        plan.tensor},
             1);
  if (sampled > 0) list.add(Sample{sampled, model.vocabulary}, 1);
  return list.take_stage(plan);
}

std::vector<Operator> step_work(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch,
                                const ExpertCoverage& coverage) {
  const std::int64_t chunk_tokens = batch.prefill_tokens();
  std::vector<Operator> all =
      token_work(model, plan, chunk_tokens, batch.tokens() - chunk_tokens, coverage, batch.prompt_ends(), batch.ranks,
                 thinned_tokens(thinnings(model), batch.chunks), unrelated_tokens(model, coverage, batch.chunks));
  for (auto& part : {attention_work(model, plan, batch), state_work(model, plan, state_counts(batch)),
                     logit_work(model, plan, batch.logit_rows(), batch.logit_rows())})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace llmscape::models
