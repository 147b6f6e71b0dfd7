// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/kernel/fabric.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/metrics/window.hpp"
#include "sim/serving/gateway/gateway.hpp"
#include "sim/world/links.hpp"

// What the kernel wakes beside replicas.
namespace llmscape::world {

class GatewayProcess : public kernel::Process {
 public:
  explicit GatewayProcess(serving::Gateway& gateway) : gateway_(gateway) {}
  Seconds next_event() override { return gateway_.next_event(); }
  bool wake(Seconds now) override {
    now_ = now;
    gateway_.wake(now);
    return !gateway_.done();
  }
  [[nodiscard]] Seconds now() const { return now_; }

 private:
  serving::Gateway& gateway_;
  Seconds now_;
};

// Slows links down, breaks and repairs them.
class LinkProfile : public kernel::Process {
 public:
  LinkProfile(kernel::Fabric& fabric, std::vector<LinkChange> changes)
      : fabric_(fabric), changes_(std::move(changes)) {}
  Seconds next_event() override { return next_ < changes_.size() ? changes_[next_].at : serving::kNever; }
  bool wake(Seconds now) override {
    for (; next_ < changes_.size() && changes_[next_].at <= now; ++next_)
      fabric_.set_bandwidth(changes_[next_].link, changes_[next_].bandwidth, now);
    return true;
  }

 private:
  kernel::Fabric& fabric_;
  std::vector<LinkChange> changes_;
  std::size_t next_ = 0;
};

// Passes edges of the window whose time is known beforehand.
class WindowEdges : public kernel::Process {
 public:
  explicit WindowEdges(metrics::WindowTracker& window) : window_(window) {}
  Seconds next_event() override { return window_.next_edge(); }
  bool wake(Seconds now) override {
    window_.pass(now);
    return true;
  }

 private:
  metrics::WindowTracker& window_;
};

}  // namespace llmscape::world
