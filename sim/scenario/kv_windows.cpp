// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/kv_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "models/operator_list.hpp"

namespace llmscape::scenario {

WindowedKv windowed_kv(const models::ModelSpec& model, const models::ParallelPlan& plan, KvWindows windows,
                       double tokens, std::int64_t block_tokens, std::int64_t in_flight, std::int64_t longest) {
  std::map<std::int64_t, double> per_token;  // bytes on a rank, by window
  double recurrent = 0;                      // bytes of a sequence's states there
  double recurrent_layers = 0;
  double state = 0, token = std::numeric_limits<double>::max();  // largest state and smallest entry of one layer
  const double share = models::share_of_fullest_stage(model, plan);
  for (const models::LayerGroup& group : model.groups) {
    const models::SequenceState kept = group.state(model.precision, plan.tensor);
    const double layers = share * group.count;
    if (kept.bytes_per_token > 0)
      per_token[kept.keeps_all ? 0 : kept.reach] += share * group.caches() * kept.bytes_per_token;
    if (kept.bytes_per_sequence > 0) recurrent_layers += layers;
    recurrent += layers * kept.bytes_per_sequence;
    state = std::max(state, kept.bytes_per_sequence);
    if (kept.bytes_per_token > 0) token = std::min(token, kept.bytes_per_token);
  }
  WindowedKv kv;
  kv.tokens = static_cast<std::int64_t>(tokens);
  kv.block_tokens = block_tokens;
  if (recurrent > 0 && per_token.empty()) {  // a block is the states of one sequence, whatever its length
    kv.block_tokens = longest;
    kv.tokens *= longest;
    return kv;
  }
  if (recurrent > 0) {
    double all = 0;
    for (const auto& [window, bytes] : per_token) all += bytes;
    double held = recurrent;
    if (windows == KvWindows::pooled) {  // a page of attention takes a layer's state, and that takes a page
      const auto fits = static_cast<std::int64_t>(std::ceil(state / token / static_cast<double>(block_tokens)));
      kv.block_tokens = std::max<std::int64_t>(1, fits) * block_tokens;
      held = recurrent_layers * token * static_cast<double>(kv.block_tokens);
    }
    kv.windows.push_back({1, held / (all * static_cast<double>(kv.block_tokens))});
    return kv;
  }
  if (windows == KvWindows::ignored || per_token.size() < 2 || per_token.begin()->first != 0) return kv;
  const double full = per_token.begin()->second;
  per_token.erase(per_token.begin());
  double all = full, split = full * static_cast<double>(longest);
  for (const auto& [window, bytes] : per_token) {
    all += bytes;
    split += bytes * static_cast<double>(std::min(window, longest));
  }
  const double memory = tokens * all;
  if (windows == KvWindows::pooled) {
    kv.tokens = static_cast<std::int64_t>(memory / full);
    kv.entry_share = full / all;
    for (const auto& [window, bytes] : per_token) {
      const std::int64_t held = (window - 1 + in_flight + block_tokens - 1) / block_tokens + 1;
      kv.windows.push_back({held, bytes / full});
    }
    return kv;
  }
  kv.most_sequences = std::numeric_limits<std::int64_t>::max();
  double spent = full;  // bytes of all pools for each token of the layers without a window
  for (const auto& [window, bytes] : per_token) spent += kWindowRatio * bytes;
  const bool by_ratio = windows == KvWindows::ratio;
  const double full_tokens = by_ratio ? memory / spent : memory * static_cast<double>(longest) / split;
  kv.tokens = static_cast<std::int64_t>(full_tokens);
  kv.entry_share = tokens / full_tokens;
  for (const auto& [window, bytes] : per_token) {
    const double pool =
        by_ratio ? kWindowRatio * full_tokens : memory * static_cast<double>(std::min(window, longest)) / split;
    kv.most_sequences = std::min(kv.most_sequences, static_cast<std::int64_t>(pool / static_cast<double>(window)));
  }
  kv.most_sequences = std::max<std::int64_t>(1, kv.most_sequences);
  return kv;
}

}  // namespace llmscape::scenario
