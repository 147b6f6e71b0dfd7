// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/versioned_prompts.hpp"

#include "workloads/streams/prompts.hpp"

namespace llmscape::serving {

using workloads::PromptVersion;

const std::vector<PromptVersion>& VersionedPrompts::versions_of(const OpenCall& call) const {
  return parts_.programs.program(call.program).stages[static_cast<std::size_t>(call.stage)].versions;
}

// Of a request that no replica has.
void VersionedPrompts::set_prompt(Request& request, const std::vector<PromptVersion>& versions, std::size_t version,
                                  Seconds now) {
  request.prompt = versions[version].prompt;
  request.prompt_tokens = tokens_of(request.prompt);
  request.complete = version + 1 == versions.size();
  request.latest_version = now;
  if (request.complete && request.context_complete == Seconds()) request.context_complete = now;
}

void VersionedPrompts::begin(OpenCall& call, Seconds now) {
  const std::vector<PromptVersion>& versions = versions_of(call);
  call.request.versioned = true;
  set_prompt(call.request, versions, streaming_input_ ? 0 : versions.size() - 1, now);
  if (!call.request.complete) expect(call, 1, now);
}

Seconds VersionedPrompts::waited(const OpenCall& call) const {
  const std::vector<PromptVersion>& versions = versions_of(call);
  return streaming_input_ ? versions.front().at : versions.back().at;
}

void VersionedPrompts::restore(OpenCall& call, Seconds now) const {
  if (call.request.versioned && !call.request.complete)
    set_prompt(call.request, versions_of(call), call.read_versions, now);
}

// Version `version` comes as long after the one before it, which came at `previous`, as the program says.
void VersionedPrompts::expect(const OpenCall& call, std::size_t version, Seconds previous) {
  const std::vector<PromptVersion>& versions = versions_of(call);
  next_.push({previous + (versions[version].at - versions[version - 1].at), next_order_++, ref(call.request), version});
}

void VersionedPrompts::run(Seconds) {
  const Next next = next_.top();
  next_.pop();
  OpenCall* const call = parts_.calls.find(next.call);
  if (!call || call->unwanted) return;
  const std::vector<PromptVersion>& versions = versions_of(*call);
  if (next.version + 1 < versions.size()) expect(*call, next.version + 1, next.at);
  else call->request.context_complete = next.at;
  const Prompt& prompt = versions[next.version].prompt;
  const Seconds reading =
      parts_.front_end.takes(tokens_of(prompt) - workloads::common_prefix(versions[next.version - 1].prompt, prompt));
  // Else those before it are being read.
  const bool in_turn = call->stands != OpenCall::Stands::front_end && call->read_versions + 1 == next.version;
  if (reading == Seconds() && in_turn) return pass_on(*call, next.version, next.at);
  parts_.front_end.read(*call, next.version, reading, next.at);
}

void VersionedPrompts::pass_on(OpenCall& call, std::size_t version, Seconds now) {
  if (call.unwanted) return;
  const std::vector<PromptVersion>& versions = versions_of(call);
  const Prompt& prompt = versions[version].prompt;
  Request& request = call.request;
  call.read_versions = version;
  const std::int64_t more = tokens_of(prompt) - call.prompt_tokens;
  call.prompt_tokens += more;
  if (request.replica < 0) return set_prompt(request, versions, version, now);
  const auto replica = static_cast<std::size_t>(request.replica);
  Member& member = parts_.state.members[replica];
  member.outstanding_tokens += more;
  parts_.state.pools[member.pool].router->on_charge(member);
  parts_.state.replica(replica).revise(request, prompt, version + 1 == versions.size(), now);
  parts_.state.ring(replica);
}

}  // namespace llmscape::serving
