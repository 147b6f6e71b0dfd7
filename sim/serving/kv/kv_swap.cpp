// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_swap.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::serving {

bool KvSwap::pays(Seconds recompute, std::int64_t blocks, Seconds now) const {
  const Seconds out = writes_.arrival(bytes(blocks), now) - now;
  const Seconds in = bytes(blocks) / config_.read + config_.latency;
  return out + in < recompute;
}

Seconds KvSwap::write(std::int64_t blocks, Seconds now) {
  ++swaps_;
  used_ += blocks;
  peak_ = std::max(peak_, used_);
  written_ += blocks;
  return *arrivals_.insert(writes_.send(bytes(blocks), now));
}

Seconds KvSwap::read(std::int64_t blocks, Seconds now) {
  used_ -= blocks;
  read_ += blocks;
  return *arrivals_.insert(reads_.send(bytes(blocks), now));
}

void KvSwap::check_invariants(bool waiting) const {
  if (used_ < 0 || used_ > config_.blocks || (!waiting && used_ != 0))
    throw std::logic_error("INV-16: KV blocks that are swapped out do not add up");
}

std::vector<KvFigure> KvSwap::figures(Seconds now) const {
  using Over = KvFigure::Over;
  const double block = config_.block_bytes.si();
  return {{"swaps", static_cast<double>(swaps_), Over::sum, true},
          {"share", static_cast<double>(swaps_), Over::of_preemptions},
          {"peak_bytes", block * static_cast<double>(peak_), Over::most},
          {"written_bytes", block * static_cast<double>(written_)},
          {"read_bytes", block * static_cast<double>(read_)},
          {"write_use", writes_.busy(now).si(), Over::of_time},
          {"read_use", reads_.busy(now).si(), Over::of_time}};
}

// Streams of batches would each have the whole memory and its link.
KvPart KvSwapPlace::part() const {
  return {"'kv_swap'",
          {KvProperty::swapping, KvProperty::one_stream, KvProperty::entries_alone},
          {},
          {KvProperty::swap_space}};
}

std::vector<KvPlace::Problem> KvSwapPlace::problems(const KvLocation&) const {
  if (kv_swap->shared_by == hardware::MemoryTier::Sharing::replica) return {};
  return {{"the memory of 'kv_swap' is that of one replica", "shared_by: replica"}};
}

void KvSwapPlace::build(const KvSite& site, KvBelow& below) const {
  const auto blocks =
      static_cast<std::int64_t>(*kv_swap->capacity / static_cast<double>(site.tenants) / site.block_bytes);
  if (blocks == 0) return;
  below.stores.push_back(std::make_shared<KvSwap>(
      KvSwapConfig{blocks, site.block_bytes, *kv_swap->read, *kv_swap->write, *kv_swap->latency}));
}

}  // namespace llmscape::serving
