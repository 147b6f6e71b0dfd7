// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/gateway/call_table.hpp"

namespace llmscape::serving {

// What the parts of the gateway let happen to a call.
class CallFlow {
 public:
  // It is read: sent on where admission and replicas allow.
  virtual void admit(OpenCall& call, Seconds now) = 0;
  // No replica that could go on with it serves: it is offered again when one may.
  virtual void wait_for_replica(OpenCall& call, Seconds now) = 0;
  // One was found.
  virtual void stop_waiting(OpenCall& call) = 0;
  // It leaves the system; told with the reports of this instant.
  virtual void reject(OpenCall& call, Outcome outcome, Reason reason, Seconds now) = 0;
  // It leaves the system at once.
  virtual void answer(OpenCall& call, Outcome outcome, Seconds now) = 0;
  // What was done for it is lost: it starts from its prompt, or fails after too many retries.
  virtual void retry(OpenCall& call, Seconds now) = 0;

 protected:
  ~CallFlow() = default;
};

}  // namespace llmscape::serving
