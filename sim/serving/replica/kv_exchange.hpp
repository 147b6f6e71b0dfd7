// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <list>
#include <map>

#include "sim/serving/replica/engine_state.hpp"

namespace llmscape::serving {

// One engine's side of KV transfers: sequences that come to decode here after another replica computed their prompts,
// and blocks of sequences that left for another one, which reads them.
class KvExchange {
 public:
  // `max_sequences`: of the batcher.
  KvExchange(EngineState& state, std::int64_t max_sequences) : state_(state), max_sequences_(max_sequences) {}

  // A sequence will come, with this adapter (-1: none), as soon as a slot and blocks are kept for it. `request_id`: the
  // place of the request may hold another one later.
  void expect(Request& request, std::uint64_t request_id, int adapter);
  [[nodiscard]] bool expects() const { return !expected_.empty(); }
  // Keeps a slot and blocks for the most urgent of those that are expected, of equals the one that was expected first.
  // nullptr if they do not fit now: those behind it wait too, as they do behind what waits here itself (after a
  // preemption) and is as urgent.
  const KvImport* reserve_next();
  // The entries are here, and where its first token is answered the sequence decodes from the next step on.
  void join(std::uint64_t request_id);
  // It will not come.
  void forget(std::uint64_t request_id);

  // A sequence leaves for another replica: its slot is free, its blocks are read until release().
  void lend(Request& request);
  void release(std::uint64_t request_id);

  // The engine is lost: all slots and blocks are given back.
  void lose();
  // Another replica reads blocks here.
  [[nodiscard]] bool lends() const { return !lent_.empty(); }

 private:
  void drop(KvImport& import);

  EngineState& state_;
  std::int64_t max_sequences_;
  std::list<KvImport> expected_;                // by priority, then in the order in which they were asked for
  std::map<std::uint64_t, KvImport> reserved_;  // by request
  std::map<std::uint64_t, Lease> lent_;         // by request
};

}  // namespace llmscape::serving
