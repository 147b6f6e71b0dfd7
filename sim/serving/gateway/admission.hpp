// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "sim/serving/gateway/waiting_calls.hpp"

namespace llmscape::serving {

struct AdmissionLimits {
  std::optional<std::int64_t> max_outstanding;  // calls sent to replicas and not answered; more wait in the gateway ...
  std::int64_t max_waiting = -1;                // ... unless as many wait already: then they are dropped; -1: no limit
};

// Counts the calls that are at replicas, and keeps those back that are too many.
class Admission {
 public:
  enum class Answer { send, wait, drop };

  explicit Admission(AdmissionLimits limits) : limits_(limits) {}
  // What becomes of a call that was read, where so many wait for a replica to serve. One that is to wait does so from
  // then on.
  Answer ask(OpenCall& call, std::int64_t unplaced);
  // A call that waits is given up.
  void give_up(OpenCall& call);
  // The next one that may be sent, which waits no longer; nullptr if there is none.
  OpenCall* next();
  [[nodiscard]] const WaitingCalls& waiting() const { return waiting_; }
  // Whether one more is too many to wait, beside those and `others`.
  [[nodiscard]] bool too_many(std::int64_t others) const {
    return limits_.max_waiting >= 0 && waiting_.size() + others >= limits_.max_waiting;
  }
  // A call was sent to a replica; has left it, answered or to be tried again.
  void on_sent() { ++sent_; }
  void on_left() { --sent_; }

 private:
  [[nodiscard]] bool full() const { return limits_.max_outstanding && sent_ >= *limits_.max_outstanding; }

  AdmissionLimits limits_;
  WaitingCalls waiting_;
  std::int64_t sent_ = 0;
};

}  // namespace llmscape::serving
