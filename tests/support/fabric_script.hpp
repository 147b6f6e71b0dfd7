// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "sim/kernel/kernel.hpp"

// Transfers over a fabric in tests: on the bare event queue, and on SimGrid in a child process.
namespace llmscape::fabric_testing {

using kernel::Fabric;
using kernel::Kernel;

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
inline constexpr double kExact = 1e-9;

// Does things at given times and ends when all of its transfers have.
class FabricScript final : public kernel::Process {
 public:
  explicit FabricScript(Kernel& kernel) : kernel_(kernel) {}
  void at(double time, std::function<void(Seconds)> what) { todo_.emplace(time, std::move(what)); }
  // A transfer whose end is noted; failed ones as a negative time.
  void move(double time, Fabric::Endpoint from, Fabric::Endpoint to, double bytes) {
    const std::size_t index = ends.size();
    ends.push_back(0);
    transfers.push_back(0);
    ++open_;
    at(time, [=, this](Seconds now) {
      transfers[index] = kernel_.fabric().move(from, to, Bytes(bytes), now, [=, this](bool arrived, Seconds end) {
        ends[index] = arrived ? end.si() : -end.si();
        if (--open_ == 0) last_ = end;
        kernel_.ring(*this);
      });
    });
  }
  Seconds next_event() override {
    if (!todo_.empty()) return Seconds(todo_.begin()->first);
    return open_ > 0 ? kNever : last_;
  }
  bool wake(Seconds now) override {
    while (!todo_.empty() && todo_.begin()->first <= now.si()) {
      const auto what = std::move(todo_.begin()->second);
      todo_.erase(todo_.begin());
      what(now);
    }
    if (open_ > 0 || !todo_.empty()) return true;
    kernel_.fabric().check_invariants(now);
    return false;
  }
  std::vector<double> ends;
  std::vector<Fabric::Transfer> transfers;  // of those that have begun

 private:
  Kernel& kernel_;
  std::multimap<double, std::function<void(Seconds)>> todo_;
  int open_ = 0;
  Seconds last_;
};

using Setup = std::function<void(Fabric&, FabricScript&)>;

inline std::vector<double> ends_on(std::unique_ptr<Kernel> kernel, const Setup& setup) {
  FabricScript script(*kernel);
  setup(kernel->fabric(), script);
  kernel->lead(script);
  kernel->run();
  CHECK(kernel->fabric().in_flight() == 0);
  return script.ends;
}

// SimGrid runs once in the life of a process.
inline std::vector<double> ends_on_simgrid(const Setup& setup, std::size_t count) {
  const auto outcome = in_child<std::vector<double>>([&] { return ends_on(kernel::make_simgrid_kernel(), setup); });
  REQUIRE_MESSAGE(outcome.answer, outcome.error);
  REQUIRE(outcome.answer->size() == count);
  return *outcome.answer;
}

inline void check_ends(const Setup& setup, const std::vector<double>& expected) {
  const auto fluid = ends_on(kernel::make_event_queue_kernel(), setup);
  const auto simgrid = ends_on_simgrid(setup, expected.size());
  REQUIRE(fluid.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(fluid[i] - expected[i]) < kExact);
    CHECK(std::abs(simgrid[i] - expected[i]) < kExact);
  }
}

inline BytesPerSecond gb_per_s(double value) { return BytesPerSecond(value * 1e9); }

}  // namespace llmscape::fabric_testing
