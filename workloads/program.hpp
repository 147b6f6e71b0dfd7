// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "traces/content.hpp"

namespace llmscape::workloads {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// What a prompt is from `at` on, counted from the start of its call. Where it continues the version before it, what was
// computed stays valid; else all behind their common prefix is lost.
struct PromptVersion {
  Seconds at;
  Prompt prompt;
  bool operator==(const PromptVersion&) const = default;
};

// One node of a request program. It starts `delay` after all the stages in `after` have ended (or after the program's
// start when there are none), and ends when its work is done. All draws are made when the program is emitted: a program
// is data.
struct Stage {
  enum class Kind : std::uint8_t {
    model_call,  // a request to the serving system
    tool,        // takes `service` seconds, not on any modelled device
    retrieval,   // takes `service` seconds in the retrieval station (queues there if the scenario gives it servers), or
                 // what the retrieval hosts need for its query
    pause,       // a person thinks or types; nothing waits for it but what comes after
  };
  Kind kind = Kind::model_call;
  std::vector<int> after{};  // indices of earlier stages
  Seconds delay{};           // >= 0; of a pause, its whole length
  Seconds service{};         // of tool and retrieval
  // Of a retrieval: tokens of the query that the scenario's retrieval hosts answer; 0: it takes `service`.
  std::int64_t query_tokens = 0;

  // model_call:
  int model = 0;  // index into the scenario's models; 0: the one that needs no name
  Prompt prompt{};
  // A versioned prompt (streamed retrieval), by rising time; `prompt` is then the last version. Empty: it
  // is there when the call starts.
  std::vector<PromptVersion> versions{};
  std::int64_t output_tokens = 1;
  ContentId output = 0;      // content id of the answer, so that later prompts can hold it; 0: nobody will
  Seconds give_up = kNever;  // the caller abandons the call this long after it started (an edited suggestion); the
                             // stages after it go on all the same
  bool operator==(const Stage&) const = default;
};

// What one user task does: a small graph of stages, in topological order.
struct Program {
  std::uint64_t id = 0;  // set by the gateway's source: counts emitted programs
  Seconds start;         // when it arrives
  std::vector<Stage> stages;
  int slo_class = 0;          // index into the scenario's SLO classes
  int priority = 0;           // smaller is served first
  std::uint64_t session = 0;  // programs of one session share it (routers keep them together); 0: none
  int user = -1;              // closed loop: the user who waits for it
  bool operator==(const Program&) const = default;
};

}  // namespace llmscape::workloads
