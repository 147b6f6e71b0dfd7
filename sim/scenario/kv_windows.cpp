// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/kv_windows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "models/operator_list.hpp"

namespace llmscape::scenario {

namespace {

struct WindowKind {
  double layers = 0;     // of the model that keep entries
  double per_token = 0;  // bytes on the rank that holds most of them
  double drafts = 0;     // bytes of a draft model's layers there
};
using WindowKinds = std::map<std::int64_t, WindowKind>;  // by window

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

WindowKinds window_kinds(const models::ModelSpec& model, const models::ParallelPlan& plan) {
  WindowKinds kinds;
  const double share = models::share_of_fullest_stage(model, plan);
  for (const models::LayerGroup& group : model.groups) {
    const models::SequenceState kept = group.state(model.precision, plan.tensor);
    if (kept.bytes_per_token == 0) continue;
    WindowKind& kind = kinds[freeing_window(kept)];
    kind.layers += static_cast<double>(group.caches());
    kind.per_token += share * group.caches() * kept.bytes_per_token;
  }
  return kinds;
}

// Recurrent states of a sequence on a rank, and what one layer keeps.
struct States {
  double bytes = 0, layers = 0;
  double largest = 0;                                 // of one layer
  double entry = std::numeric_limits<double>::max();  // the smallest of one layer
};

States states_of(const models::ModelSpec& model, const models::ParallelPlan& plan) {
  States states;
  const double share = models::share_of_fullest_stage(model, plan);
  for (const models::LayerGroup& group : model.groups) {
    const models::SequenceState kept = group.state(model.precision, plan.tensor);
    const double layers = share * group.count;
    if (kept.bytes_per_sequence > 0) states.layers += layers;
    states.bytes += layers * kept.bytes_per_sequence;
    states.largest = std::max(states.largest, kept.bytes_per_sequence);
    if (kept.bytes_per_token > 0) states.entry = std::min(states.entry, kept.bytes_per_token);
  }
  return states;
}

// Blocks beside recurrent states, which hold a token of `all` bytes.
void put_beside(const States& states, KvWindows windows, const KvRoom& room, double all, WindowedKv& kv) {
  double held = states.bytes;
  if (windows == KvWindows::pooled) {  // a page of attention takes a layer's state, and that takes a page
    const auto fits =
        static_cast<std::int64_t>(std::ceil(states.largest / states.entry / static_cast<double>(room.block_tokens)));
    kv.block_tokens = std::max<std::int64_t>(1, fits) * room.block_tokens;
    held = states.layers * states.entry * static_cast<double>(kv.block_tokens);
  }
  held *= static_cast<double>(1 + room.drafts);
  kv.windows.push_back({1, held / (all * static_cast<double>(kv.block_tokens))});
}

// Bytes of a token in a draft model's layers.
double drafts_in(const WindowKinds& kinds) {
  double bytes = 0;
  for (const auto& [window, kind] : kinds) bytes += kind.drafts;
  return bytes;
}

// A block has room for so many bytes of a token of the model, and of the draft model.
void set_shares(const WindowKinds& kinds, double own, double drafts, WindowedKv& kv) {
  double all = 0;
  for (const auto& [window, kind] : kinds) all += kind.per_token;
  kv.entry_share = own / all;
  if (const double all_drafts = drafts_in(kinds); all_drafts > 0) kv.draft_share = drafts / all_drafts;
}

// One pool of blocks, out of `memory` bytes.
void share_blocks(const WindowKinds& kinds, const KvRoom& room, double memory, WindowedKv& kv) {
  const WindowKind& plain = kinds.begin()->second;
  const std::int64_t in_flight = room.steps * (1 + room.drafts);
  // Bytes of a token in the groups of the layers without a window, padding included.
  double own = plain.per_token;
  for (auto of = std::next(kinds.begin()); of != kinds.end(); ++of) {
    const auto& [window, kind] = *of;
    double bytes = kind.drafts;
    if (kind.layers > 0) {
      const double size = group_size(plain.layers, kind.layers);
      own = std::max(own, groups(plain.layers, size) * size * plain.per_token / plain.layers);
      bytes += groups(kind.layers, size) * size * kind.per_token / kind.layers;
    }
    const std::int64_t most = (window - 1 + in_flight + room.block_tokens - 1) / room.block_tokens + 1;
    kv.windows.push_back({most, bytes});
  }
  const double full = own + plain.drafts;
  for (WindowBlocks& blocks : kv.windows) blocks.weight /= full;
  kv.tokens = static_cast<std::int64_t>(memory / full);
  set_shares(kinds, own, plain.drafts, kv);
}

// A pool for each window, out of `memory` bytes.
void divide(const WindowKinds& kinds, KvWindows windows, const KvRoom& room, double memory, WindowedKv& kv) {
  // Tokens of the pool for each token of the layers without a window.
  const auto ratio = [&](std::int64_t window) {
    if (window == 0) return 1.0;
    if (windows == KvWindows::ratio) return kWindowRatio;
    return static_cast<double>(std::min(window, room.longest)) / static_cast<double>(room.longest);
  };
  double own = 0, drafts = 0;
  for (const auto& [window, kind] : kinds) {
    own += ratio(window) * kind.per_token;
    drafts += ratio(window) * kind.drafts;
  }
  const double tokens = memory / (own + drafts);
  kv.tokens = static_cast<std::int64_t>(tokens);
  for (auto of = std::next(kinds.begin()); of != kinds.end(); ++of)
    kv.pools.push_back({of->first, static_cast<std::int64_t>(ratio(of->first) * tokens)});
  set_shares(kinds, own, drafts, kv);
}

}  // namespace

WindowedKv windowed_kv(const models::ModelSpec& model, const models::ParallelPlan& plan, KvWindows windows,
                       const KvRoom& room) {
  WindowedKv kv;
  kv.tokens = static_cast<std::int64_t>(room.tokens);
  kv.block_tokens = room.block_tokens;
  WindowKinds kinds = window_kinds(model, plan);
  const States states = states_of(model, plan);
  if (states.bytes > 0 && kinds.empty()) {  // a block is the states of one sequence, whatever its length
    kv.block_tokens = room.longest;
    kv.tokens *= room.longest;
    return kv;
  }
  if (room.draft)
    for (const auto& [window, kind] : window_kinds(*room.draft, plan)) kinds[window].drafts = kind.per_token;
  double all = 0;
  for (const auto& [window, kind] : kinds) all += kind.per_token + kind.drafts;
  if (states.bytes > 0) {
    put_beside(states, windows, room, all, kv);
    return kv;
  }
  const bool both = kinds.size() > 1 && kinds.begin()->first == 0 && kinds.begin()->second.layers > 0;
  if (windows == KvWindows::ignored || !both) return kv;
  const double memory = room.tokens * all;
  if (windows == KvWindows::pooled) share_blocks(kinds, room, memory, kv);
  else divide(kinds, windows, room, memory, kv);
  return kv;
}

}  // namespace llmscape::scenario
