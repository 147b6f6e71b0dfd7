// SPDX-License-Identifier: Apache-2.0
#include "hardware/step_tables.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

// The slot of `count`, which grows the table when it is the largest yet.
template <class Table>
auto& slot(Table& table, std::int64_t count) {
  const auto index = static_cast<std::size_t>(count);
  if (index >= table.size()) table.resize(index + 1);
  return table[index];
}

}  // namespace

StepTables::StepTables(const models::ModelSpec& model, const models::ParallelPlan& plan,
                       const models::ExpertCoverage& coverage, Price price)
    : model_(model), plan_(plan), coverage_(coverage), price_(std::move(price)),
      phase_matters_(std::any_of(model.groups.begin(), model.groups.end(), [](const models::LayerGroup& group) {
        return group.feed_forward.routed() || group.attention.kind == models::Attention::Kind::mla;
      })) {}

const PartCost& StepTables::token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens) {
  const auto compute = [&] {
    return price_(models::token_work(model_, plan_, chunk_tokens, decode_tokens, coverage_));
  };
  if (!phase_matters_) {
    auto& part = slot(tokens_, chunk_tokens + decode_tokens);
    if (!part) part = compute();
    return *part;
  }
  const std::uint64_t key = static_cast<std::uint64_t>(chunk_tokens) << 32 | static_cast<std::uint64_t>(decode_tokens);
  const auto found = phased_tokens_.find(key);
  return found != phased_tokens_.end() ? found->second : phased_tokens_.emplace(key, compute()).first->second;
}

const PartCost& StepTables::logit_part(std::int64_t rows) {
  auto& part = slot(logits_, rows);
  if (!part) part = price_(models::logit_work(model_, plan_, rows));
  return *part;
}

}  // namespace llmscape::hardware
