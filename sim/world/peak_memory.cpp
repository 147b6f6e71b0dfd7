// SPDX-License-Identifier: Apache-2.0
#include "sim/world/peak_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/engine/kv_pool.hpp"

namespace llmscape::world {
namespace {

const scenario::PoolConfig& pool_of(const Ended& parts, std::size_t replica) {
  return parts.scenario.pools[parts.pools[replica]];
}

// Whether a rank of the replica is one device, and has it alone.
bool alone(const Ended& parts, std::size_t replica) {
  const scenario::PoolConfig& pool = pool_of(parts, replica);
  return !parts.turns[replica] && !pool.stages_shared() &&
         parts.devices[replica]->kv_parts(parts.scenario.model_of(pool)).empty();
}

std::string in_words(const models::MemoryByKind& memory) {
  std::string out;
  for (std::size_t kind = 0; kind < models::kMemoryKinds; ++kind)
    if (const double bytes = memory.bytes[kind].si(); bytes >= 5e7)
      out += fmt::format("{}{} {:.1f}", out.empty() ? "" : ", ", models::kMemoryKindNames[kind], bytes / 1e9);
  return out;
}

}  // namespace

std::optional<result::MemoryResult> peak_memory(const Ended& parts) {
  std::optional<std::size_t> largest;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r)
    if (alone(parts, r) && (!largest || parts.replicas[r]->memory().peak() > parts.replicas[*largest]->memory().peak()))
      largest = r;
  if (!largest) return std::nullopt;
  const serving::MemoryLedger::Step& step = parts.replicas[*largest]->memory().largest();
  const hardware::Device& device = *parts.devices[*largest];
  result::MemoryResult memory{device.name,     device.memory().si(), step.by_kind,
                              step.start.si(), step.prompt_tokens,   step.decodes};
  return memory;
}

std::vector<std::string> exceeded_memory(const Ended& parts) {
  std::vector<std::string> groups, sentences;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    const hardware::Device& device = *parts.devices[r];
    const scenario::PoolConfig& pool = pool_of(parts, r);
    if (!alone(parts, r) || std::ranges::find(groups, device.name) != groups.end() ||
        engine::stated_kv_tokens(device, parts.scenario.model_of(pool), pool.plan()) > 0)
      continue;
    const serving::MemoryLedger::Step& step = parts.replicas[r]->memory().largest();
    if (step.by_kind.total() + device.runtime_memory() <= device.memory()) continue;
    groups.push_back(device.name);
    sentences.push_back(
        fmt::format("'{}' has {:.1f} GB of memory, and a step of {} prompt tokens and {} decodes takes {:.1f} GB ({}) "
                    "beside {:.1f} "
                    "GB of the runtime's: it would not run",
                    device.name, device.memory().si() / 1e9, step.prompt_tokens, step.decodes,
                    step.by_kind.total().si() / 1e9, in_words(step.by_kind), device.runtime_memory().si() / 1e9));
  }
  return sentences;
}

}  // namespace llmscape::world
