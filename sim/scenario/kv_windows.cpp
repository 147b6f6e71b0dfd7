// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/kv_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "models/operator_list.hpp"

namespace llmscape::scenario {

namespace {

struct WindowKind {
  double layers = 0;     // of the model that keep entries
  double per_token = 0;  // bytes on the rank that holds most of them
};

// The window by which a layer gives entries back; 0: none, or a budget says what stays.
std::int64_t freeing_window(const models::SequenceState& kept) {
  return kept.keeps_all || kept.budget.limits() ? 0 : kept.reach;
}

// Groups of `size` layers that it takes to hold so many.
double groups(double layers, double size) { return std::ceil(layers / size - 1e-9); }

// Layers of a group: as many as there are of the rarer kind, unless the other has hardly more.
double group_size(double some, double others) {
  const double fewer = std::min(some, others), more = std::max(some, others);
  return more < 1.25 * fewer ? more : fewer;
}

}  // namespace

WindowedKv windowed_kv(const models::ModelSpec& model, const models::ParallelPlan& plan, KvWindows windows,
                       const KvRoom& room) {
  std::map<std::int64_t, WindowKind> kinds;  // by window
  double recurrent = 0;                      // bytes of a sequence's states on a rank
  double recurrent_layers = 0;
  double state = 0, token = std::numeric_limits<double>::max();  // largest state and smallest entry of one layer
  const double share = models::share_of_fullest_stage(model, plan);
  for (const models::LayerGroup& group : model.groups) {
    const models::SequenceState kept = group.state(model.precision, plan.tensor);
    const double layers = share * group.count;
    if (kept.bytes_per_token > 0) {
      WindowKind& kind = kinds[freeing_window(kept)];
      kind.layers += static_cast<double>(group.caches());
      kind.per_token += share * group.caches() * kept.bytes_per_token;
    }
    if (kept.bytes_per_sequence > 0) recurrent_layers += layers;
    recurrent += layers * kept.bytes_per_sequence;
    state = std::max(state, kept.bytes_per_sequence);
    if (kept.bytes_per_token > 0) token = std::min(token, kept.bytes_per_token);
  }
  WindowedKv kv;
  kv.tokens = static_cast<std::int64_t>(room.tokens);
  kv.block_tokens = room.block_tokens;
  if (recurrent > 0 && kinds.empty()) {  // a block is the states of one sequence, whatever its length
    kv.block_tokens = room.longest;
    kv.tokens *= room.longest;
    return kv;
  }
  double all = room.draft_bytes;
  for (const auto& [window, kind] : kinds) all += kind.per_token;
  if (recurrent > 0) {
    double held = recurrent;
    if (windows == KvWindows::pooled) {  // a page of attention takes a layer's state, and that takes a page
      const auto fits = static_cast<std::int64_t>(std::ceil(state / token / static_cast<double>(room.block_tokens)));
      kv.block_tokens = std::max<std::int64_t>(1, fits) * room.block_tokens;
      held = recurrent_layers * token * static_cast<double>(kv.block_tokens);
    }
    held *= static_cast<double>(1 + room.drafts);
    kv.windows.push_back({1, held / (all * static_cast<double>(kv.block_tokens))});
    return kv;
  }
  if (windows == KvWindows::ignored || kinds.size() < 2 || kinds.begin()->first != 0) return kv;
  const WindowKind plain = kinds.begin()->second;
  kinds.erase(kinds.begin());
  const double memory = room.tokens * all;
  const double entries = all - room.draft_bytes;  // of the model
  if (windows == KvWindows::pooled) {
    const std::int64_t in_flight = room.steps * (1 + room.drafts);
    // Bytes of a token in the groups of the layers without a window, padding included.
    double full = 0;
    std::vector<WindowBlocks> held;
    for (const auto& [window, kind] : kinds) {
      const double size = group_size(plain.layers, kind.layers);
      const double of_group = size * plain.per_token / plain.layers;
      full = std::max(full, groups(plain.layers, size) * of_group);
      const double of_window = groups(kind.layers, size) * size * kind.per_token / kind.layers;
      const std::int64_t most = (window - 1 + in_flight + room.block_tokens - 1) / room.block_tokens + 1;
      held.push_back({most, of_window});
    }
    full += room.draft_bytes;
    kv.tokens = static_cast<std::int64_t>(memory / full);
    kv.entry_share = (full - room.draft_bytes) / entries;
    for (WindowBlocks& blocks : held) blocks.weight /= full;
    kv.windows = std::move(held);
    return kv;
  }
  const auto longest = static_cast<double>(room.longest);
  double spent =
      plain.per_token + room.draft_bytes;  // bytes of all pools for each token of the layers without a window
  double split = spent * longest;
  for (const auto& [window, kind] : kinds) {
    spent += kWindowRatio * kind.per_token;
    split += kind.per_token * static_cast<double>(std::min(window, room.longest));
  }
  const bool by_ratio = windows == KvWindows::ratio;
  const double full_tokens = by_ratio ? memory / spent : memory * longest / split;
  kv.tokens = static_cast<std::int64_t>(full_tokens);
  kv.entry_share = (memory / full_tokens - room.draft_bytes) / entries;
  for (const auto& [window, kind] : kinds) {
    const double tokens =
        by_ratio ? kWindowRatio * full_tokens : memory * static_cast<double>(std::min(window, room.longest)) / split;
    kv.pools.push_back({window, static_cast<std::int64_t>(tokens)});
  }
  return kv;
}

}  // namespace llmscape::scenario
