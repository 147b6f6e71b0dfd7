// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace llmscape::models {

// How many entries of a prompt stay in one layer's cache. Of none: all of them.
struct KvBudget {
  std::int64_t entries = 0;  // 0: `share` says
  double share = 0;          // of the prompt's tokens, rounded up; 0 beside no entries: no budget
  bool each_chunk = false;   // those that do not stay go after each chunk, not at the prompt's end
  bool ring = false;         // what is generated replaces the oldest entries, once there are `entries`
  bool operator==(const KvBudget&) const = default;

  [[nodiscard]] bool limits() const { return entries > 0 || share > 0; }
  // Of a prompt of so many tokens.
  [[nodiscard]] std::int64_t kept(std::int64_t prompt) const {
    if (!limits()) return prompt;
    return std::min(prompt,
                    entries > 0 ? entries : static_cast<std::int64_t>(std::ceil(share * static_cast<double>(prompt))));
  }
};

// What of a prompt that was computed may serve another one that begins alike. From the freest on.
enum class Sharing : std::uint8_t {
  any_block,  // any whole blocks of it
  exact_end,  // it up to where a part that was computed ended and the state there was kept
  none        // nothing: which entries stayed was chosen with what followed in view
};

// What one layer keeps of a sequence on one tensor-parallel rank: what pools, caches, tiers, KV transfers and memory
// checks read. They know no kind of mixer and no token plan.
struct SequenceState {
  double bytes_per_token = 0;     // keys and values, or a latent; 0: nothing grows with the context
  double bytes_per_sequence = 0;  // a recurrent state: the same at any length
  std::int64_t reach = 0;         // most entries that a decode attends to, its own included; 0: all
  bool keeps_all = false;         // entries beyond the reach stay: they are masked, or chosen from for each token anew
  // Where they are chosen from: of bytes_per_token the keys of the index, which it reads of the whole context. 0: an
  // earlier layer's index chooses.
  std::optional<double> index_bytes{};
  KvBudget budget{};  // of a prompt's entries
  Sharing sharing = Sharing::any_block;
};

}  // namespace llmscape::models
