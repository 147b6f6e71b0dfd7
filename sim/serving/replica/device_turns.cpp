// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/device_turns.hpp"

#include <algorithm>
#include <utility>

#include "sim/serving/replica/replica.hpp"

namespace llmscape::serving {

DeviceTurns::DeviceTurns(Seconds least_hold, std::size_t resident)
    : least_hold_(least_hold), resident_limit_(resident) {}

void DeviceTurns::add(Replica& replica, Seconds load, std::function<void()> ring) {
  if (resident_.size() < resident_limit_) resident_.push_back(tenants_.size());
  tenants_.push_back({&replica, load, std::move(ring), 0});
  all_.push_back(&replica);
}

std::size_t DeviceTurns::index_of(const Replica& replica) const {
  return static_cast<std::size_t>(std::ranges::find(all_, &replica) - all_.begin());
}

Seconds DeviceTurns::loading(const Replica& replica) const {
  const Tenant& tenant = tenants_[index_of(replica)];
  return static_cast<double>(tenant.loads) * tenant.load - tenant.cut;
}

void DeviceTurns::want(Replica& replica, Seconds now) {
  const std::size_t tenant = index_of(replica);
  tenants_[tenant].lost = false;
  if (tenant == holder_ || std::ranges::find(waiting_, tenant) != waiting_.end()) return;
  if (holder_) tenants_[*holder_].replica->interrupt(now);  // what it has planned ahead counted on being alone
  waiting_.push_back(tenant);
  if (!holder_ || tenants_[*holder_].replica->quiet()) pass_on(now);
  else tenants_[*holder_].ring();
}

Seconds DeviceTurns::runs_from(const Replica& replica) const { return holds(replica) ? since_ : kNever; }

bool DeviceTurns::may_plan(const Replica& replica, Seconds now) const {
  if (now < runs_from(replica)) return false;
  return waiting_.empty() || !worked_ || now - since_ < least_hold_;
}

void DeviceTurns::rest(Replica& replica, bool has_more, Seconds now) {
  if (!holds(replica) || waiting_.empty() || (has_more && now < since_)) return;
  if (has_more && worked_) waiting_.push_back(*holder_);
  pass_on(now);
}

void DeviceTurns::leave(const Replica& replica, Seconds now) {
  const std::size_t tenant = index_of(replica);
  std::erase(waiting_, tenant);
  tenants_[tenant].lost = true;
  if (tenant == holder_) {
    cut_load(now);
    if (!waiting_.empty()) pass_on(now);
  }
  if (!std::ranges::all_of(tenants_, &Tenant::lost)) return;
  resident_.clear();
  holder_.reset();
}

// The holder is lost while its weights come.
void DeviceTurns::cut_load(Seconds now) {
  if (now >= since_) return;
  Tenant& holder = tenants_[*holder_];
  if (now == asked_) --holder.loads;  // nothing of them had come
  else holder.cut += since_ - now;
  since_ = now;
}

void DeviceTurns::pass_on(Seconds now) {
  while (waiting_.size() > 1 && tenants_[waiting_.front()].replica->quiet()) waiting_.pop_front();
  holder_ = waiting_.front();
  waiting_.pop_front();
  worked_ = false;
  const auto found = std::ranges::find(resident_, *holder_);
  asked_ = since_ = now;
  if (found != resident_.end()) {
    resident_.erase(found);
  } else if (resident_.size() >= resident_limit_) {  // else it has made a cold start into an empty memory
    since_ += tenants_[*holder_].load;
    ++tenants_[*holder_].loads;
    tenants_[resident_.back()].replica->unload();
    resident_.pop_back();
  }
  resident_.push_front(*holder_);
  tenants_[*holder_].ring();
}

}  // namespace llmscape::serving
