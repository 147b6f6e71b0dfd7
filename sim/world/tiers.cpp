// SPDX-License-Identifier: Apache-2.0
#include "sim/world/tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace llmscape::world {
namespace {

// Those who have the tier together.
std::string sharers(const hardware::MemoryTier& tier, const Seat& seat) {
  using Sharing = hardware::MemoryTier::Sharing;
  if (tier.shared_by == Sharing::all) return "all";
  // The streams of a pipeline are one replica.
  if (tier.shared_by == Sharing::replica) return fmt::format("device {} of {}", seat.first_device, seat.group);
  return fmt::format("node {} of {}", node_of(seat), seat.group);
}

// Of each of its memories, what the replica may use: models that take turns divide the replica's own.
Bytes capacity(const hardware::MemoryTier& tier, const scenario::PoolConfig& pool) {
  if (tier.shared_by != hardware::MemoryTier::Sharing::replica) return *tier.capacity;
  return *tier.capacity / static_cast<double>(pool.tenants());
}

// What its devices read of it over their own links: each gets all that it will hold of an entry, of latents the whole.
BytesPerSecond links_to(const hardware::MemoryTier& tier, const Seat& seat, double copies) {
  if (!tier.device_link) return serving::KvPrefixes::kAnyLinks;
  return static_cast<double>(seat.devices) / copies * **tier.device_link;
}

// How many memories of this description the replica has together: each of its nodes has one.
std::int64_t memories(const hardware::MemoryTier& tier, const Seat& seat) {
  if (tier.shared_by != hardware::MemoryTier::Sharing::node) return 1;
  return static_cast<std::int64_t>(by_node(seat).size());
}

}  // namespace

std::vector<serving::KvSite::Tier> Tiers::below(const scenario::PoolConfig& pool, const Seat& seat,
                                                const scenario::ReplicaSize& size, double copies) {
  const Bytes block_bytes = size.block_bytes;
  const Bytes state_bytes(models::state_bytes_per_sequence(scenario_.model_of(pool)));
  if (block_bytes == Bytes()) return {};  // states alone: no block of tokens that others could share
  std::vector<serving::KvSite::Tier> stack;
  // From the last on: each knows what lies below it, and so does what tells it from others.
  std::string identity =
      fmt::format("model {}, blocks of {} and {} B", scenario_.model_index(pool), size.block_tokens, block_bytes.si());
  for (const hardware::MemoryTier& tier : pool.kv_tiers | std::views::reverse) {
    const std::int64_t count = memories(tier, seat);
    const std::int64_t blocks = count * static_cast<std::int64_t>(capacity(tier, pool) / block_bytes);
    if (blocks == 0) continue;
    identity += fmt::format("; {} of {}: {} {} {} {}", tier.name, sharers(tier, seat), (*tier.capacity).si(),
                            (*tier.read).si(), (*tier.write).si(), (*tier.latency).si());
    std::shared_ptr<serving::KvTier>& known = known_[identity];
    if (!known) {
      serving::KvTierConfig config;
      config.name = tier.name;
      config.blocks = blocks;
      config.block_tokens = static_cast<int>(size.block_tokens);
      config.block_bytes = block_bytes;
      config.state_bytes = state_bytes;
      config.state_blocks = static_cast<std::int64_t>(std::ceil(state_bytes / block_bytes));
      config.read = static_cast<double>(count) * *tier.read;  // each node copies what its devices hold
      config.write = static_cast<double>(count) * *tier.write;
      config.memories = count;
      config.latency = *tier.latency;
      config.of_one_replica = tier.shared_by == hardware::MemoryTier::Sharing::replica;
      known = std::make_shared<serving::KvTier>(config, stack.empty() ? nullptr : stack.back().tier.get());
      tiers_.push_back(known);
    }
    stack.push_back({known, links_to(tier, seat, copies)});
  }
  std::ranges::reverse(stack);
  return stack;
}

std::vector<result::TierResult> Tiers::results(Seconds end) const {
  std::vector<result::TierResult> results;
  for (const scenario::PoolConfig& pool : scenario_.pools)
    for (const hardware::MemoryTier& tier : pool.kv_tiers)
      if (std::ranges::find(results, tier.name, &result::TierResult::name) == results.end())
        if (result::TierResult result = sum(tier.name, end); result.memories > 0) results.push_back(result);
  return results;
}

result::TierResult Tiers::sum(const std::string& name, Seconds end) const {
  result::TierResult sum;
  sum.name = name;
  Seconds reading, writing;
  for (const auto& one : tiers_) {
    const serving::KvTier& tier = *one;
    const serving::KvTierConfig& config = tier.config();
    if (config.name != name) continue;
    tier.check_invariants();
    const serving::KvTierTotals& totals = tier.totals();
    const auto bytes = [&config](std::int64_t blocks) { return static_cast<double>(blocks) * config.block_bytes.si(); };
    sum.memories += config.memories;
    sum.capacity_bytes += bytes(config.blocks);
    sum.peak_bytes += bytes(totals.peak_blocks);
    sum.asked_tokens += totals.asked_tokens;
    sum.fetched_tokens += totals.blocks_read * config.block_tokens;
    const auto moved = [&](const serving::Channel& channel, std::int64_t blocks, std::int64_t states) {
      const Bytes asked =
          static_cast<double>(blocks) * config.block_bytes + static_cast<double>(states) * config.state_bytes;
      return channel.moved(asked, end).si();
    };
    sum.read_bytes += moved(tier.reads(), totals.blocks_read, totals.states_read);
    sum.written_bytes += moved(tier.writes(), totals.blocks_written, totals.states_written);
    sum.evicted_bytes += bytes(totals.evicted);
    sum.rejected_bytes += bytes(totals.rejected);
    reading += static_cast<double>(config.memories) * tier.reads().busy(end);
    writing += static_cast<double>(config.memories) * tier.writes().busy(end);
  }
  if (const Seconds all = static_cast<double>(sum.memories) * end; all > Seconds()) {
    sum.read_use = reading / all;
    sum.write_use = writing / all;
  }
  if (sum.asked_tokens > 0)
    sum.hit_rate = static_cast<double>(sum.fetched_tokens) / static_cast<double>(sum.asked_tokens);
  return sum;
}

}  // namespace llmscape::world
