// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "sim/serving/gateway/call_flow.hpp"
#include "sim/serving/gateway/fleet_manager.hpp"
#include "sim/serving/gateway/placer.hpp"
#include "sim/serving/gateway/reports.hpp"

namespace llmscape::serving {

// Moves KV entries between two replicas, numbered over all pools; tells when they have come, or that they were lost.
// What it hands back loses those that are on their way.
using LoseKv = std::function<void(Seconds now)>;
using MoveKv = std::function<LoseKv(std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                                    std::function<void(bool arrived, Seconds at)> done)>;

// How calls pass from the replica that computes their prompt to the one that decodes: blocks are reserved there first,
// then their KV entries move, then the call itself. Entries that go layer by layer start with the prompt, so that the
// whole takes the longer of the two.
class KvTransfers {
 public:
  struct Parts {
    CallTable& calls;
    FleetState& state;
    FleetManager& fleet;
    Placer& placer;
    Reports& reports;
    CallFlow& flow;
  };
  // `by_layer`: entries go as their layers are computed, not when the whole prompt is.
  KvTransfers(bool by_layer, MoveKv move, Parts parts) : by_layer_(by_layer), move_(std::move(move)), parts_(parts) {}

  // The call is sent to `from` to have its prompt computed.
  void begin(const OpenCall& call, std::size_t from);
  // Of the call; false where it is not being transferred.
  [[nodiscard]] bool contains(const OpenCall& call) const { return transfers_.contains(call.request.id); }
  // Its prompt is computed, and no replica decodes it yet.
  [[nodiscard]] bool between_replicas(const OpenCall& call) const;
  void handle(OpenCall& call, const Report& report);
  // Asks a replica to reserve blocks for the call, or waits for one that could be asked.
  void expect(OpenCall& call, Seconds now);
  // The call is tried again from its prompt: nobody expects its entries any more.
  void withdraw(OpenCall& call, Seconds now);
  // A replica was lost: entries that go there or come from there move no more, and others are asked to decode what it
  // was to decode. Adds the calls whose prompts it has computed.
  void on_lost(std::size_t replica, std::set<std::size_t>& places, Seconds now);
  // KV entries of so many calls are on their way.
  [[nodiscard]] std::int64_t moving() const { return moving_; }
  // That were lost on their way with the entries.
  [[nodiscard]] std::int64_t lost_tokens() const { return lost_tokens_; }

 private:
  struct Transfer {
    std::size_t place = 0;  // of the call
    std::size_t from = 0, to = 0;
    bool expected = false;  // `to` was asked to reserve
    bool prefilled = false, arrived = false;
    LoseKv lose{};  // once they move
  };

  void expect(OpenCall& call, Transfer& transfer, Seconds now);
  void start_moving(const OpenCall& call, Transfer& transfer, std::int64_t tokens, Seconds now);
  void join(OpenCall& call, Seconds now);
  void recompute(OpenCall& call, Seconds now);
  void abandon(OpenCall& call, Seconds now);
  void forget(const OpenCall& call, std::size_t replica, Seconds now);
  void release(const OpenCall& call, std::size_t replica, Seconds now);
  Transfer take(const OpenCall& call);

  bool by_layer_;
  MoveKv move_;
  Parts parts_;
  std::map<std::uint64_t, Transfer> transfers_;  // by request
  std::int64_t moving_ = 0, lost_tokens_ = 0;
};

}  // namespace llmscape::serving
