// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmscape::validation {
namespace {

// What the decodes attend to under each KV law: everything (0), or at most a window.
std::vector<models::Attended> attended(const std::vector<std::int64_t>& contexts,
                                       const std::vector<std::int64_t>& windows) {
  std::vector<models::Attended> all(windows.size());
  for (std::size_t law = 0; law < windows.size(); ++law)
    for (const std::int64_t context : contexts) {
      const std::int64_t seen = windows[law] > 0 ? std::min(context, windows[law]) : context;
      all[law].sum += seen;
      all[law].max = std::max(all[law].max, seen);
    }
  return all;
}

std::string name_of(std::size_t index, const traces::EngineStep& step) {
  std::int64_t prompt_tokens = 0;
  for (const auto& chunk : step.chunks) prompt_tokens += chunk.tokens;
  return fmt::format("step {}: {} prompt tokens in {} chunks, {} decodes", index, prompt_tokens, step.chunks.size(),
                     step.decodes.size());
}

}  // namespace

std::vector<Comparison> compare_steps(const traces::EngineRecord& record, engine::EngineModel& model,
                                      const std::vector<std::int64_t>& windows) {
  std::vector<Pair> all, decode, prefill, mixed;
  for (std::size_t i = 0; i < record.steps.size(); ++i) {
    const traces::EngineStep& step = record.steps[i];
    const auto seen = attended(step.decodes, windows);
    models::Batch batch;
    batch.chunks = step.chunks;
    batch.decodes = static_cast<std::int64_t>(step.decodes.size());
    batch.attended = seen;
    const Pair pair{name_of(i, step), model.step(batch).device.si(), step.device_s};
    all.push_back(pair);
    (step.chunks.empty() ? decode : step.decodes.empty() ? prefill : mixed).push_back(pair);
  }
  std::vector<Comparison> comparisons = {compare("step", "s", all)};
  for (const auto& [name, pairs] :
       {std::pair("decode step", &decode), std::pair("prefill step", &prefill), std::pair("mixed step", &mixed)})
    if (!pairs->empty()) comparisons.push_back(compare(name, "s", *pairs));
  return comparisons;
}

}  // namespace llmscape::validation
