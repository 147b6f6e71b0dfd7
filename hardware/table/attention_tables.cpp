// SPDX-License-Identifier: Apache-2.0
#include "hardware/table/attention_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace llmscape::hardware {
namespace {

// The median of each group's shares, as points of a grid.
template <std::size_t axes>
Grid medians(std::map<std::array<double, axes>, std::vector<double>> groups) {
  Grid grid;
  for (auto& [point, shares] : groups) {
    const auto middle = shares.begin() + static_cast<std::ptrdiff_t>((shares.size() - 1) / 2);
    std::nth_element(shares.begin(), middle, shares.end());
    grid.add(point, std::clamp(*middle, 0.0, 1.0));
  }
  return grid;
}

struct Contexts {  // of the decodes, the new token left out, as the tables count
  explicit Contexts(const models::Batch& batch) {
    if (batch.decodes == 0) return;
    sequences = static_cast<double>(batch.decodes);
    mean = static_cast<double>(batch.attended[0].sum) / sequences - 1;
    longest = static_cast<double>(batch.attended[0].max) - 1;
  }
  double sequences = 0, mean = 0, longest = 0;
};

std::array<double, 2> point_of(const models::PrefillChunk& chunk) {
  return {static_cast<double>(chunk.tokens), static_cast<double>(chunk.cached)};
}

}  // namespace

AttentionTables::AttentionTables(const traces::LayerTables& tables) {
  for (const auto& row : tables.attention) {
    const auto chunk = static_cast<double>(row.chunk), cached = static_cast<double>(row.cached),
               sequences = static_cast<double>(row.decodes), context = static_cast<double>(row.context);
    if (row.chunk == 0) decodes_.add(std::array{sequences, context}, row.time.si());
    else if (row.decodes == 0) chunks_.add(std::array{chunk, cached}, row.time.si());
    else mixed_.add(std::array{chunk, cached, sequences, context}, row.time.si());
  }
  std::map<std::array<double, 1>, std::vector<double>> alone;
  std::map<std::array<double, 3>, std::vector<double>> beside;
  for (const auto& row : tables.unequal) {
    const auto sequences = static_cast<double>(row.decodes);
    if (row.chunk == 0) alone[{sequences}].push_back(row.share);
    else beside[{static_cast<double>(row.chunk), static_cast<double>(row.cached), sequences}].push_back(row.share);
  }
  decodes_unequal_ = medians(std::move(alone));
  mixed_unequal_ = medians(std::move(beside));
}

AttentionTables::Time AttentionTables::at(const models::Batch& batch) const {
  const Contexts contexts(batch);
  if (batch.chunks.empty()) return {0, decodes_alone(contexts.sequences, contexts.mean, contexts.longest)};
  const auto longest = std::max_element(batch.chunks.begin(), batch.chunks.end(), [](const auto& a, const auto& b) {
    return std::pair(a.tokens, a.cached) < std::pair(b.tokens, b.cached);
  });
  const double fixed = alone({1, 0, false});  // of a kernel that has hardly anything to do
  Time time;
  for (const models::PrefillChunk& chunk : batch.chunks) time.prefill += alone(chunk) - fixed;
  time.prefill += fixed;
  if (batch.decodes > 0)
    time.decode = together(*longest, contexts.sequences, contexts.mean, contexts.longest) - alone(*longest);
  return time;
}

double AttentionTables::decodes_alone(double sequences, double mean, double longest) const {
  if (sequences == 0) return 0;
  const double even = decodes_.at(std::array{sequences, mean});
  if (decodes_unequal_.empty()) return even;
  return even + decodes_unequal_.at(std::array{sequences}) * (decodes_.at(std::array{sequences, longest}) - even);
}

double AttentionTables::together(const models::PrefillChunk& chunk, double sequences, double mean,
                                 double longest) const {
  const auto [tokens, cached] = point_of(chunk);
  const double even = mixed_.at(std::array{tokens, cached, sequences, mean});
  if (mixed_unequal_.empty()) return even;
  return even + mixed_unequal_.at(std::array{tokens, cached, sequences}) *
                    (mixed_.at(std::array{tokens, cached, sequences, longest}) - even);
}

double AttentionTables::alone(const models::PrefillChunk& chunk) const { return chunks_.at(point_of(chunk)); }

bool AttentionTables::covers(const models::Batch& batch) const {
  const Contexts contexts(batch);
  if (batch.chunks.empty()) return decodes_.covers(std::array{contexts.sequences, contexts.longest});
  return std::all_of(batch.chunks.begin(), batch.chunks.end(), [&](const models::PrefillChunk& chunk) {
    const auto [tokens, cached] = point_of(chunk);
    return chunks_.covers(std::array{tokens, cached}) &&
           (batch.decodes == 0 || mixed_.covers(std::array{tokens, cached, contexts.sequences, contexts.longest}));
  });
}

std::string AttentionTables::range() const {
  return fmt::format("to chunks of {} tokens behind {}, {} decodes alone or {} beside a chunk, contexts to {}",
                     chunks_.largest()[0], chunks_.largest()[1], decodes_.largest()[0], mixed_.largest()[2],
                     decodes_.largest()[1]);
}

}  // namespace llmscape::hardware
