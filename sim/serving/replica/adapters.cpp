// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/adapters.hpp"

#include <stdexcept>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

int AdapterLaw::of(const Request& request) const {
  RandomStream random =
      request.session != 0 ? streams_.stream("session", request.session) : streams_.stream("request", request.id);
  return static_cast<int>(ranks_.draw(random));
}

bool AdapterSlots::fits(int adapter) const {
  return adapter < 0 || holds(adapter) || held_ < resident_ || !idle_.empty();
}

void AdapterSlots::use(int adapter) {
  if (adapter < 0) return;
  const auto index = static_cast<std::size_t>(adapter);
  if (index >= adapters_.size()) adapters_.resize(index + 1);
  if (!adapters_[index].held) {
    if (held_ == resident_) {
      if (idle_.empty()) throw std::logic_error("more adapters run than the devices can hold");
      adapters_[static_cast<std::size_t>(idle_.front())].held = false;
      idle_.pop_front();
      --held_;
    }
    adapters_[index].held = true;
    ++held_;
    ++loads_;
  } else if (adapters_[index].users == 0) {
    idle_.erase(adapters_[index].idle);
  }
  ++adapters_[index].users;
}

void AdapterSlots::leave(int adapter) {
  if (adapter < 0) return;
  Held& held = adapters_[static_cast<std::size_t>(adapter)];
  if (--held.users == 0) held.idle = idle_.insert(idle_.end(), adapter);
}

void AdapterSlots::evict() {
  for (const int adapter : idle_) adapters_[static_cast<std::size_t>(adapter)].held = false;
  held_ -= static_cast<std::int64_t>(idle_.size());
  idle_.clear();
  loads_ += held_;
}

void AdapterSlots::forget() {
  adapters_.clear();
  idle_.clear();
  held_ = 0;
}

}  // namespace llmscape::serving
