// SPDX-License-Identifier: Apache-2.0
#include "hardware/step_tables.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace llmscape::hardware {
namespace {

constexpr std::size_t kMostRanked = 1 << 14;
constexpr std::int64_t kMostListed = 1 << 16;  // tokens of a step; longer ones are rare, and kept by key

// The slot of `count`, which grows the table when it is the largest yet.
template <class Table>
auto& slot(Table& table, std::int64_t count) {
  const auto index = static_cast<std::size_t>(count);
  if (index >= table.size()) table.resize(index + 1);
  return table[index];
}

// The value for a pair of counts, computed when it is first asked for.
template <class Table, class Compute>
const auto& kept(Table& table, std::int64_t first, std::int64_t second, const Compute& compute) {
  const std::uint64_t key = static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint64_t>(second);
  const auto found = table.find(key);
  return found != table.end() ? found->second : table.emplace(key, compute()).first->second;
}

}  // namespace

StepTables::StepTables(const models::ModelSpec& model, const models::ParallelPlan& plan,
                       const Device::Settings& settings, Price price)
    : model_(model), plan_(plan), coverage_(settings.coverage), adapter_(settings.adapter),
      execution_(settings.execution), price_(std::move(price)),
      phase_matters_(std::any_of(model.groups.begin(), model.groups.end(),
                                 [](const models::LayerGroup& group) {
                                   return group.feed_forward.routed() || models::depends_on_phase(group.mixer);
                                 })),
      texts_matter_(settings.coverage.law == models::ExpertCoverage::Law::related &&
                    std::any_of(model.groups.begin(), model.groups.end(),
                                [](const models::LayerGroup& group) { return group.feed_forward.routed(); })),
      thinnings_(models::thinnings(model)),
      ends_matter_(std::any_of(model.groups.begin(), model.groups.end(),
                               [](const models::LayerGroup& group) { return group.change.passed_by_last_only; })),
      has_states_(models::state_bytes_per_sequence(model) > 0) {}

const PartCost& StepTables::token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens,
                                       const models::Batch& batch) {
  if (!batch.ranks.alike()) return ranked_part(chunk_tokens, decode_tokens, batch);
  if (!thinnings_.empty() && chunk_tokens > 0) return thinned_part(chunk_tokens, decode_tokens, batch);
  if (texts_matter_ && chunk_tokens > 0 && batch.chunks.size() > 1)
    return ranked_part(chunk_tokens, decode_tokens, batch);
  const std::int64_t prompt_ends = ends_matter_ ? batch.prompt_ends() : 0;
  const auto compute = [&] {
    return price_(models::token_work(model_, plan_, chunk_tokens, decode_tokens, coverage_, prompt_ends));
  };
  if (ends_matter_ && chunk_tokens > 0) return kept(ended_tokens_[prompt_ends], chunk_tokens, decode_tokens, compute);
  if (!phase_matters_ && chunk_tokens + decode_tokens <= kMostListed) {
    auto& part = slot(tokens_, chunk_tokens + decode_tokens);
    if (!part) part = std::make_unique<const PartCost>(compute());
    return *part;
  }
  return kept(phased_tokens_, chunk_tokens, decode_tokens, compute);
}

// Prompts are whole, and of lengths of their own: what is kept is bounded.
const PartCost& StepTables::thinned_part(std::int64_t chunk_tokens, std::int64_t decode_tokens,
                                         const models::Batch& batch) {
  const std::vector<std::int64_t> thinned = models::thinned_tokens(thinnings_, batch.chunks);
  const std::vector<double> unrelated = models::unrelated_tokens(model_, coverage_, batch.chunks);
  std::vector<std::int64_t> key = thinned;
  for (const double texts : unrelated) key.push_back(std::bit_cast<std::int64_t>(texts));
  if (thinned_tokens_.size() >= kMostRanked) thinned_tokens_.clear();
  return kept(thinned_tokens_[key], chunk_tokens, decode_tokens, [&] {
    return price_(models::token_work(model_, plan_, chunk_tokens, decode_tokens, coverage_, batch.prompt_ends(), {},
                                     thinned, unrelated));
  });
}

std::size_t StepTables::RankHash::operator()(const RankKey& key) const {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a, by whole numbers
  for (const std::int64_t part : key) hash = (hash ^ static_cast<std::uint64_t>(part)) * 1099511628211U;
  return hash;
}

// Few of these come twice unless the batch is steady: what is kept is bounded.
const PartCost& StepTables::ranked_part(std::int64_t chunk_tokens, std::int64_t decode_tokens,
                                        const models::Batch& batch) {
  const models::RankTokens& ranks = batch.ranks;
  const std::int64_t prompt_ends = ends_matter_ ? batch.prompt_ends() : 0;
  const std::vector<double> unrelated = models::unrelated_tokens(model_, coverage_, batch.chunks);
  const double texts = ranks.alike() && !unrelated.empty() ? unrelated.front() : texts_matter_ ? ranks.unrelated : 0;
  const RankKey key{chunk_tokens,
                    decode_tokens,
                    prompt_ends,
                    ranks.chunks,
                    ranks.decodes,
                    ranks.most,
                    std::bit_cast<std::int64_t>(texts)};
  const auto found = ranked_.find(key);
  if (found != ranked_.end()) return found->second;
  if (ranked_.size() >= kMostRanked) ranked_.clear();
  return ranked_
      .emplace(key, price_(models::token_work(model_, plan_, chunk_tokens, decode_tokens, coverage_, prompt_ends, ranks,
                                              {}, unrelated)))
      .first->second;
}

std::vector<models::Operator> StepTables::operators(const models::Batch& batch, std::int64_t chunk_tokens,
                                                    std::int64_t decode_tokens) const {
  const std::vector<std::int64_t> thinned = models::thinned_tokens(thinnings_, batch.chunks);
  std::vector<models::Operator> all =
      models::token_work(model_, plan_, chunk_tokens, decode_tokens, coverage_, batch.prompt_ends(), batch.ranks,
                         thinned, models::unrelated_tokens(model_, coverage_, batch.chunks));
  const auto add = [&all](const std::vector<models::Operator>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (batch.adapters > 0)
    add(models::adapter_work(adapter_, model_, plan_, chunk_tokens + decode_tokens, batch.adapters));
  add(models::logit_work(model_, plan_, models::head_rows(batch, execution_), batch.logit_rows()));
  if (has_states_) add(models::state_work(model_, plan_, models::state_counts(batch)));
  if (execution_.adds_work()) add(models::execution_work(model_, plan_, batch, execution_));
  return all;
}

void StepTables::add_states(PartCost& part, const models::Batch& batch) {
  if (!has_states_) return;
  const models::StateCounts counts = models::state_counts(batch);
  const auto work = [this](const models::StateCounts& some) {
    return [this, some] { return price_(models::state_work(model_, plan_, some)); };
  };
  if (counts.chunks > 0) {
    const models::StateCounts chunks{counts.chunks, counts.chunk_tokens, 0, 0};
    part += kept(scans_, counts.chunks, counts.chunk_tokens, work(chunks));
  }
  if (counts.decodes > 0) {
    const models::StateCounts decodes{0, 0, counts.decodes, counts.decode_tokens};
    part += kept(updates_, counts.decodes, counts.decode_tokens, work(decodes));
  }
}

const PartCost& StepTables::logit_part(std::int64_t rows) {
  auto& part = slot(logits_, rows);
  if (!part) part = std::make_unique<const PartCost>(price_(models::logit_work(model_, plan_, rows, rows)));
  return *part;
}

void StepTables::add_logits(PartCost& part, const models::Batch& batch) {
  const std::int64_t sampled = batch.logit_rows();
  const std::int64_t rows = models::head_rows(batch, execution_);
  if (rows == sampled) part += logit_part(rows);
  else part += price_(models::logit_work(model_, plan_, rows, sampled));
}

void StepTables::add_execution(PartCost& part, const models::Batch& batch) {
  if (execution_.adds_work()) part += price_(models::execution_work(model_, plan_, batch, execution_));
}

const PartCost& StepTables::adapter_part(std::int64_t tokens, std::int64_t adapters) {
  if (adapter_.rank == 0) throw std::invalid_argument("a batch with adapters needs their shape in the settings");
  return kept(adapted_, tokens, adapters,
              [&] { return price_(models::adapter_work(adapter_, model_, plan_, tokens, adapters)); });
}

}  // namespace llmscape::hardware
