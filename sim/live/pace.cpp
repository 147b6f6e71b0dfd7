// SPDX-License-Identifier: Apache-2.0
#include "sim/live/pace.hpp"

#include <algorithm>
#include <numeric>

#include "sim/live/paged_memory.hpp"

namespace llmscape::live {
namespace {

// Of one token that the step computes.
double seconds_per_token(Executor& executor, const StepInput& input) {
  std::vector<std::int32_t> next(static_cast<std::size_t>(input.answers()));
  const StepTimes times = executor.run(input, next);
  return std::max(times.launch_s, times.device_s) / static_cast<double>(input.tokens.size());
}

}  // namespace

double busy_seconds(Executor& executor, const ExecutorLimits& limits, std::int64_t prompt_tokens,
                    std::int64_t output_tokens) {
  const std::int64_t longest = std::min(limits.length, limits.kv_blocks * kBlockTokens);
  PagedMemory memory(limits.kv_blocks, kBlockTokens);
  std::vector<std::vector<std::int32_t>> tables(static_cast<std::size_t>(limits.sequences));

  StepInput prompt;
  prompt.chunks = {{std::min(limits.tokens, longest), 0, true}};
  prompt.tokens.resize(static_cast<std::size_t>(prompt.chunks[0].tokens));
  prompt.positions.resize(prompt.tokens.size());
  std::iota(prompt.positions.begin(), prompt.positions.end(), 0);
  memory.hold(tables[0], prompt.chunks[0].tokens);
  prompt.tables = {tables[0]};
  const double prompt_token = seconds_per_token(executor, prompt);
  memory.release(tables[0]);

  StepInput decodes;
  const std::int64_t context = std::min(prompt_tokens + (output_tokens + 1) / 2, longest);
  for (std::vector<std::int32_t>& table : tables) {
    if (memory.free() * kBlockTokens < context) break;
    memory.hold(table, context);
    decodes.tokens.push_back(0);
    decodes.positions.push_back(context - 1);
    decodes.contexts.push_back(context);
    decodes.tables.emplace_back(table);
  }
  return prompt_token * static_cast<double>(prompt_tokens) +
         seconds_per_token(executor, decodes) * static_cast<double>(output_tokens);
}

}  // namespace llmscape::live
