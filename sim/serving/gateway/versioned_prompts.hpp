// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/serving/gateway/fleet_state.hpp"
#include "sim/serving/gateway/front_end.hpp"
#include "sim/serving/gateway/program_runner.hpp"

namespace llmscape::serving {

// Streaming prompts: while something retrieves them, each version passes the front end and goes to where the call is.
class VersionedPrompts final : public EventSource {
 public:
  struct Parts {
    CallTable& calls;
    const ProgramRunner& programs;
    FleetState& state;
    FrontEnd& front_end;
  };
  // `streaming_input`: a prompt is sent as its versions come; else when the last one has.
  VersionedPrompts(bool streaming_input, Parts parts) : streaming_input_(streaming_input), parts_(parts) {}

  // A call with a versioned prompt arrives: with its first version, or its last.
  void begin(OpenCall& call, Seconds now);
  // How long before its arrival the call was due.
  [[nodiscard]] Seconds waited(const OpenCall& call) const;
  // The front end has read this version.
  void pass_on(OpenCall& call, std::size_t version, Seconds now);
  // The call is tried again: what was read of its prompt is what is there.
  void restore(OpenCall& call, Seconds now) const;

  [[nodiscard]] Seconds next_event() override { return next_.empty() ? kNever : next_.top().at; }
  void run(Seconds now) override;

 private:
  struct Next {
    Seconds at;
    std::uint64_t order;
    CallRef call;
    std::size_t version;
    bool operator>(const Next& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void expect(const OpenCall& call, std::size_t version, Seconds previous);
  [[nodiscard]] const std::vector<workloads::PromptVersion>& versions_of(const OpenCall& call) const;
  static void set_prompt(Request& request, const std::vector<workloads::PromptVersion>& versions, std::size_t version,
                         Seconds now);

  bool streaming_input_;
  Parts parts_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;  // the next version of each call
  std::uint64_t next_order_ = 0;
};

}  // namespace llmscape::serving
