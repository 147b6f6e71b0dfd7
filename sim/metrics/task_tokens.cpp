// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/task_tokens.hpp"

#include <algorithm>

namespace llmscape::metrics {

CallTokens& TaskTokens::of(int model) {
  const auto place = static_cast<std::size_t>(model);
  if (place >= by_model_.size()) by_model_.resize(place + 1);
  return by_model_[place];
}

void TaskTokens::add(const workloads::Program& task, std::span<const std::int64_t> computed) {
  contents_.clear();
  for (std::size_t i = 0; i < task.stages.size(); ++i) {
    const workloads::Stage& stage = task.stages[i];
    if (stage.kind != workloads::Stage::Kind::model_call) continue;
    const auto prompt = static_cast<double>(tokens_of(stage.prompt)), answer = static_cast<double>(stage.output_tokens);
    CallTokens& sums = of(stage.model);
    sums.prompts += prompt;
    sums.computed += static_cast<double>(computed[i]);
    sums.decoding += answer * (prompt + answer);
    if (stage.output == 0) different_ += stage.output_tokens;
    else contents_.push_back({stage.output, stage.output_tokens});
    contents_.insert(contents_.end(), stage.prompt.begin(), stage.prompt.end());
  }
  // Of each content the longest piece.
  std::ranges::sort(
      contents_, [](const Segment& a, const Segment& b) { return a.id != b.id ? a.id < b.id : a.tokens > b.tokens; });
  for (std::size_t i = 0; i < contents_.size(); ++i)
    if (i == 0 || contents_[i].id != contents_[i - 1].id) different_ += contents_[i].tokens;
}

}  // namespace llmscape::metrics
