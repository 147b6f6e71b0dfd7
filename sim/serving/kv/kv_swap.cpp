// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_swap.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::serving {

namespace {

constexpr std::int64_t kStep = 256;  // tokens of the first piece of the profile; each further one is twice as long

}  // namespace

KvSwap::KvSwap(KvSwapConfig config, std::function<Seconds(std::int64_t, std::int64_t)> prefill_time)
    : config_(config), prefill_time_(std::move(prefill_time)), reads_(config.read, config.latency),
      writes_(config.write, config.latency) {}

Seconds KvSwap::recompute_time(std::int64_t tokens) {
  if (profile_.empty()) profile_.emplace_back();
  std::int64_t low = 0, high = kStep;
  std::size_t piece = 0;
  for (; high < tokens; ++piece) {
    low = high;
    high *= 2;
  }
  for (std::int64_t length = kStep << (profile_.size() - 1); profile_.size() < piece + 2; length *= 2)
    profile_.push_back(prefill_time_(0, length));
  const double share = static_cast<double>(tokens - low) / static_cast<double>(high - low);
  return profile_[piece] + share * (profile_[piece + 1] - profile_[piece]);
}

bool KvSwap::pays(std::int64_t tokens, std::int64_t blocks, Seconds now) {
  const Seconds out = writes_.arrival(bytes(blocks), now) - now;
  const Seconds in = bytes(blocks) / config_.read + config_.latency;
  return out + in < recompute_time(tokens);
}

Seconds KvSwap::write(std::int64_t blocks, Seconds now) {
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

}  // namespace llmscape::serving
