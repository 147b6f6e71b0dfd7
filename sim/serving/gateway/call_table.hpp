// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "sim/serving/gateway/counters.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// What the gateway keeps of a call from its arrival until it is answered.
struct OpenCall {
  enum class Stands : std::uint8_t {
    front_end,  // is read and tokenised, or waits for that
    admission,  // waits for the admission limit
    admitted    // is at a replica, or waits for one
  };

  Request request;
  std::size_t program = 0;  // slot in the program runner
  int stage = 0;
  bool open = false;
  Stands stands = Stands::admitted;
  bool waits_for_replica = false;        // no replica that could go on with it serves at present
  bool waits_unsent = false;             // so, and at no replica yet
  bool let_wait = false;                 // it has a place among those that may wait, until it is sent
  bool announced = false;                // controllers have heard so
  std::optional<std::int64_t> uncached;  // of its prompt, when it last looked for a replica
  std::int64_t prompt_tokens = 0;   // as the gateway knows them: its replica may not have read the latest version yet
  std::size_t read_versions = 0;    // of its prompt, those that the front end is done with
  std::optional<Outcome> unwanted;  // its replica was told to stop, and its program has gone on
  // Nobody gets the answer that comes after that.
  [[nodiscard]] Outcome ends_with(Outcome outcome) const {
    return outcome == Outcome::completed ? unwanted.value_or(outcome) : outcome;
  }
};

// Names a call also after it was answered, when its place may hold another one.
struct CallRef {
  std::size_t place;
  std::uint64_t id;
};
inline CallRef ref(const Request& request) { return {request.gateway_slot, request.id}; }

// The calls that are open, each at one address while it is, and how many have ended in which way.
class CallTable {
 public:
  // A new call with an id and a place of its own.
  OpenCall& add();
  void close(OpenCall& call, Outcome outcome);

  // The call in a place where one is open.
  [[nodiscard]] OpenCall& at(std::size_t place) { return calls_[place]; }
  // nullptr once it was answered.
  [[nodiscard]] OpenCall* find(CallRef ref) {
    OpenCall& call = calls_[ref.place];
    return call.open && call.request.id == ref.id ? &call : nullptr;
  }
  [[nodiscard]] std::int64_t open() const { return open_; }
  // Calls fn for each request that has not left the system.
  void for_each_open(const std::function<void(const Request&)>& fn) const;
  // Where all calls stand; the open ones are looked up.
  [[nodiscard]] Counters counters() const;

 private:
  std::deque<OpenCall> calls_;
  std::vector<std::size_t> spare_;
  std::uint64_t next_id_ = 0;
  std::int64_t open_ = 0;
  Counters ended_;
};

}  // namespace llmscape::serving
