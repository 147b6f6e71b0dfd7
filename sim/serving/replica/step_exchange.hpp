// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/quantity.hpp"
#include "models/batch.hpp"

namespace llmscape::serving {

// What the steps of one replica, or of ranks that step together, send from node to node: flows that share links with
// others, so that nobody knows when a step is planned when it will end.
class StepExchange {
 public:
  virtual ~StepExchange() = default;
  // Of a batch's price.
  struct Share {
    Seconds bytes;    // of it: the time that the bytes take where nobody else sends any
    Seconds latency;  // beyond it: what messages take on their way, where that is longer than the price says
  };
  // The replica `index` runs this batch in the step that is being planned.
  virtual Share plan(int index, const models::Batch& batch) = 0;
  // All have computed the step, and what was planned starts to move: `done` is called once, later. False: there is
  // nothing to move.
  virtual bool begin(Seconds now, std::function<void(Seconds at)> done) = 0;
};

// A step that is computed and then exchanged: it ends when all bytes have arrived.
class ExchangedStep {
 public:
  [[nodiscard]] bool open() const { return phase_ != Phase::none; }
  // When advance() has to be called; infinity: not before the bytes have arrived, which begin() tells.
  [[nodiscard]] Seconds next_event() const { return next_; }
  [[nodiscard]] Seconds planned_at() const { return planned_at_; }

  // Planned at `now`: computed at `computed`, and over at `expected` if nobody is in the way, never before.
  void plan(Seconds now, Seconds computed, Seconds expected);
  // What is due at `now`; true: the step has ended there. The exchange may outlive the step: a late arrival is
  // nobody's.
  bool advance(StepExchange& exchange, Seconds now);
  void abandon();

 private:
  enum class Phase : std::uint8_t { none, computing, moving, ended };
  Phase phase_ = Phase::none;
  Seconds next_, planned_at_, expected_;
  std::uint64_t number_ = 0;  // of the step: what arrives is of this one
};

}  // namespace llmscape::serving
