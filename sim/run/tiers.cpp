// SPDX-License-Identifier: Apache-2.0
#include "sim/run/tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace llmscape::run {
namespace {

// Those who have the tier together.
std::string sharers(const hardware::MemoryTier& tier, const Seat& seat, int replica) {
  using Sharing = hardware::MemoryTier::Sharing;
  if (tier.shared_by == Sharing::all) return "all";
  if (tier.shared_by == Sharing::replica) return fmt::format("replica {}", replica);
  return fmt::format("node {} of {}", seat.first_device / seat.placement->node.devices, seat.group);
}

}  // namespace

std::vector<serving::KvTier*> Tiers::below(const PoolConfig& pool, const Seat& seat, int replica) {
  const Bytes block_bytes(models::kv_bytes_per_token(scenario_.model_of(pool)) * static_cast<double>(pool.block_size));
  std::vector<serving::KvTier*> stack;
  // From the last on: each knows what lies below it, and so does what tells it from others.
  std::string identity = fmt::format("model {}, blocks of {}", scenario_.model_index(pool), pool.block_size);
  for (const hardware::MemoryTier& tier : pool.kv_tiers | std::views::reverse) {
    const auto blocks = static_cast<std::int64_t>(*tier.capacity / block_bytes);
    if (blocks == 0) continue;
    identity += fmt::format("; {} of {}: {} {} {} {}", tier.name, sharers(tier, seat, replica), (*tier.capacity).si(),
                            (*tier.read).si(), (*tier.write).si(), (*tier.latency).si());
    serving::KvTier*& known = known_[identity];
    if (!known) {
      serving::KvTierConfig config;
      config.name = tier.name;
      config.blocks = blocks;
      config.block_tokens = static_cast<int>(pool.block_size);
      config.block_bytes = block_bytes;
      config.read = *tier.read;
      config.write = *tier.write;
      config.latency = *tier.latency;
      config.of_one_replica = tier.shared_by == hardware::MemoryTier::Sharing::replica;
      known = &tiers_.emplace_back(config, stack.empty() ? nullptr : stack.back());
    }
    stack.push_back(known);
  }
  std::ranges::reverse(stack);
  return stack;
}

std::vector<TierResult> Tiers::results(Seconds end) const {
  std::vector<TierResult> results;
  for (const serving::KvTier& tier : tiers_) {
    tier.check_invariants();
    const serving::KvTierConfig& config = tier.config();
    const serving::KvTierTotals& totals = tier.totals();
    auto found = std::ranges::find(results, config.name, &TierResult::name);
    if (found == results.end()) {
      found = results.insert(results.end(), TierResult());
      found->name = config.name;
    }
    const auto bytes = [&config](std::int64_t blocks) { return static_cast<double>(blocks) * config.block_bytes.si(); };
    ++found->memories;
    found->capacity_bytes += bytes(config.blocks);
    found->peak_bytes += bytes(totals.peak_blocks);
    found->asked_tokens += totals.asked_tokens;
    found->fetched_tokens += totals.blocks_read * config.block_tokens;
    found->read_bytes += bytes(totals.blocks_read);
    found->written_bytes += bytes(totals.blocks_written);
    found->evicted_bytes += bytes(totals.evicted);
    found->rejected_bytes += bytes(totals.rejected);
    if (end > Seconds()) {
      found->read_use += tier.reads().busy(end) / end;
      found->write_use += tier.writes().busy(end) / end;
    }
  }
  for (TierResult& tier : results) {
    tier.read_use /= static_cast<double>(tier.memories);
    tier.write_use /= static_cast<double>(tier.memories);
    if (tier.asked_tokens > 0)
      tier.hit_rate = static_cast<double>(tier.fetched_tokens) / static_cast<double>(tier.asked_tokens);
  }
  return results;
}

}  // namespace llmscape::run
