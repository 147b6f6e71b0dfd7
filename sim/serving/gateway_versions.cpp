// SPDX-License-Identifier: Apache-2.0
// Prompts that come bit by bit while something retrieves them: each version passes the front end and goes to where the
// call is.
#include "sim/serving/gateway.hpp"
#include "workloads/streams/prompts.hpp"

namespace llmscape::serving {

using workloads::PromptVersion;

const std::vector<PromptVersion>& Gateway::versions_of(const Call& call) const {
  return programs_.program(call.program).stages[static_cast<std::size_t>(call.stage)].versions;
}

// Of a request that no replica has.
void Gateway::set_prompt(Request& request, const std::vector<PromptVersion>& versions, std::size_t version,
                         Seconds now) {
  request.prompt = versions[version].prompt;
  request.prompt_tokens = tokens_of(request.prompt);
  request.complete = version + 1 == versions.size();
  request.latest_version = now;
  if (request.complete && request.context_complete == Seconds()) request.context_complete = now;
}

// Version `version` comes as long after the one before it, which came at `previous`, as the program says.
void Gateway::expect_version(std::size_t place, std::size_t version, Seconds previous) {
  const std::vector<PromptVersion>& versions = versions_of(calls_[place]);
  versions_.push({previous + (versions[version].at - versions[version - 1].at), next_version_++, place,
                  calls_[place].request.id, version});
}

void Gateway::receive_version() {
  const NextVersion next = versions_.top();
  versions_.pop();
  Call& call = calls_[next.call];
  if (!call.open || call.request.id != next.request) return;
  const std::vector<PromptVersion>& versions = versions_of(call);
  if (next.version + 1 < versions.size()) expect_version(next.call, next.version + 1, next.at);
  else call.request.context_complete = next.at;
  const Prompt& prompt = versions[next.version].prompt;
  const Seconds reading =
      config_.front_end.of(tokens_of(prompt) - workloads::common_prefix(versions[next.version - 1].prompt, prompt));
  const bool in_turn = !call.in_front && call.read_versions + 1 == next.version;  // else those before it are being read
  if (reading == Seconds() && in_turn) return pass_on_version(call, next.version, next.at);
  read_.push_back({front_end_.serve(next.at, reading), next.call, next.request, next.version});
}

void Gateway::pass_on_version(Call& call, std::size_t version, Seconds now) {
  const std::vector<PromptVersion>& versions = versions_of(call);
  const Prompt& prompt = versions[version].prompt;
  Request& request = call.request;
  call.read_versions = version;
  const std::int64_t more = tokens_of(prompt) - call.prompt_tokens;
  call.prompt_tokens += more;
  if (request.replica < 0) return set_prompt(request, versions, version, now);
  const auto replica = static_cast<std::size_t>(request.replica);
  members_[replica].outstanding_tokens += more;
  members_[replica].replica->revise(request, prompt, version + 1 == versions.size(), now);
  ring_(replica);
}

}  // namespace llmscape::serving
