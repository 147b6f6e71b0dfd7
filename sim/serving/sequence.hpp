// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/quantity.hpp"
#include "sim/serving/kv/lease.hpp"

namespace llmscape::serving {

struct Request;

// What one replica does for a call, from when the call is sent to it until it leaves. A call that is tried again, or
// that another replica goes on with, gets a new one.
struct Sequence {
  enum class State : std::uint8_t { waiting, prefilling, decoding, finishing };

  State state = State::waiting;
  bool decodes_elsewhere = false;  // leaves its replica with the first token: another one decodes it
  bool drafts_late = false;        // decodes without drafts
  bool outgrew_drafts = false;     // began to decode with drafts and goes on without
  bool sought_below = false;       // its prefix was looked for in the tiers below HBM since it began to wait
  int adapter = -1;                // index of its low-rank adapter at its replica; -1: none
  std::int32_t slot = -1;          // in the decode set
  Lease lease;
  std::int64_t window_blocks = 0;       // that it holds beside the lease, for layers with a window (WindowEntries)
  std::int32_t window_from = 0;         // and, of pools of their own, what tokens from here ...
  std::int32_t window_to = 0;           // ... up to here hold in the mean; 0: nothing
  PrefixNode* window_behind = nullptr;  // the end of the prefix whose window it shares (WindowEntries)
  std::int64_t computed = 0;            // tokens whose KV entries were computed; while decoding, as of `joined_step`
  std::int64_t dropped = 0;             // of them, those whose entries a KV budget has dropped
  std::int64_t swapped = 0;             // `computed`, of one that waits with its entries in a store below
  Seconds kv_ready;                     // those that are copied out or in are there
  std::int64_t joined_step = 0;         // the decode step at which it joined the decode set, or its late part
  std::int64_t end_step = 0;            // the decode step by which it has answered `to_answer` tokens
  std::int64_t to_answer = 0;           // all that are left, or those before its drafts are late
  std::int64_t allocated = 0;           // tokens that its KV blocks were taken for, when it has left the decode set
  std::int64_t fetched_from = 0;        // tokens from here on were fetched from a tier below HBM ...
  std::int64_t fetched_to = 0;          // ... up to here
  // Running sequences in order of admission, as a list through their requests.
  Request* previous = nullptr;
  Request* next = nullptr;

  // KV entries that it has.
  [[nodiscard]] std::int64_t entries() const { return computed - dropped; }
};

}  // namespace llmscape::serving
