// SPDX-License-Identifier: Apache-2.0
#include "hardware/steps/composition.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kShortContext = 256;

double doublings(double value) { return std::log2(1 + value); }

}  // namespace

bool says_all(const models::Batch& batch) {
  return batch.tokens_per_decode == 1 && batch.prefill_layers == 1 && batch.adapters == 0 && batch.late == 0 &&
         batch.ranks.alike();
}

StepComposition composition_of(const models::Batch& batch) {
  StepComposition step;
  step.prompts = static_cast<std::int64_t>(batch.chunks.size());
  double attended = 0;  // entries, summed over the tokens of prompts
  for (const models::PrefillChunk& chunk : batch.chunks) {
    step.prompt_tokens += chunk.tokens;
    attended +=
        static_cast<double>(chunk.tokens) * (static_cast<double>(chunk.cached) + static_cast<double>(chunk.tokens) / 2);
  }
  if (step.prompt_tokens > 0) {
    const auto tokens = static_cast<double>(step.prompt_tokens), prompts = static_cast<double>(step.prompts);
    step.cached_tokens = std::llround(std::max(0.0, attended / tokens * prompts - tokens / 2));
  }
  step.decodes = batch.decodes;
  if (batch.decodes > 0 && !batch.attended.empty()) {
    step.context = batch.attended.front().sum;
    step.longest_context = batch.attended.front().max;
  }
  step.padding = batch.padding;
  return step;
}

ComposedBatch::ComposedBatch(const StepComposition& step, std::span<const std::int64_t> laws) {
  for (std::int64_t i = 0; i < step.prompts; ++i) {
    const auto part = [&](std::int64_t all) { return all * (i + 1) / step.prompts - all * i / step.prompts; };
    if (part(step.prompt_tokens) > 0) chunks_.push_back({part(step.prompt_tokens), part(step.cached_tokens), true});
  }
  const std::int64_t each = step.decodes > 0 ? (step.context + step.decodes - 1) / step.decodes : 0;
  const std::int64_t longest = std::max(each, step.longest_context);
  for (const std::int64_t window : laws) {
    if (window > 0)
      attended_.push_back({std::min(step.context, step.decodes * std::min(each, window)), std::min(longest, window)});
    else attended_.push_back({step.context, longest});
  }
  batch_.chunks = chunks_;
  batch_.decodes = step.decodes;
  batch_.attended = attended_;
  batch_.padding = step.padding;
}

StepPosition position_of(const StepComposition& step) {
  StepPosition at{};
  if (step.prompt_tokens > 0) {
    const double each = (static_cast<double>(step.cached_tokens) + static_cast<double>(step.prompt_tokens) / 2) /
                        static_cast<double>(std::max<std::int64_t>(step.prompts, 1));
    at[0] = doublings(static_cast<double>(step.prompt_tokens));
    at[1] = doublings(each / kShortContext);
  }
  if (step.decodes > 0) {
    at[2] = doublings(static_cast<double>(step.decodes));
    at[3] = doublings(static_cast<double>(step.context) / static_cast<double>(step.decodes) / kShortContext);
  }
  return at;
}

double distance(const StepPosition& a, const StepPosition& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

}  // namespace llmscape::hardware
