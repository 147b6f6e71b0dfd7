// SPDX-License-Identifier: Apache-2.0
// Processes act in the order of their planned times, on SimGrid as on the bare event queue.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "base/process_pool.hpp"
#include "base/random.hpp"
#include "sim/kernel/kernel.hpp"

using namespace llmscape;

namespace {

// Is woken at given times; the one that leads ends the run with the last of them.
class Sleeper final : public kernel::Process {
 public:
  Sleeper(std::vector<double> times, std::vector<double>& woken, bool leads = false)
      : times_(std::move(times)), woken_(woken), leads_(leads) {}
  Seconds next_event() override {
    return Seconds(next_ < times_.size() ? times_[next_] : std::numeric_limits<double>::infinity());
  }
  bool wake(Seconds now) override {
    woken_.push_back(now.si());
    return ++next_ < times_.size() || !leads_;
  }

 private:
  std::vector<double> times_;
  std::vector<double>& woken_;
  std::size_t next_ = 0;
  bool leads_;
};

// Steps of 25 ms, summed one by one or several at once: many end at the same time but for their last bits.
bool in_order(std::unique_ptr<kernel::Kernel> kernel, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<double> woken;
  std::deque<Sleeper> sleepers;
  std::size_t events = 1;
  for (int i = 0; i < 50; ++i) {
    std::vector<double> times;
    const auto longest = static_cast<double>(random.integer(1, 40));
    for (double now = 0; now < 1000 && times.size() < 200;) {
      now += 0.025 * std::floor(1 + longest * random.uniform());
      times.push_back(now);
    }
    events += times.size();
    sleepers.emplace_back(std::move(times), woken);
  }
  Sleeper leader({2000}, woken, true);
  kernel->lead(leader);
  for (Sleeper& sleeper : sleepers) kernel->add(sleeper);
  kernel->run();
  return woken.size() == events && std::ranges::is_sorted(woken);
}

}  // namespace

TEST_CASE("events that differ in their last bits come in the order of their times (INV-2, INV-14)") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(in_order(kernel::make_event_queue_kernel(), seed));
    // SimGrid runs once in the life of a process.
    const auto outcome = in_child<bool>([seed] { return in_order(kernel::make_simgrid_kernel(), seed); });
    CHECK(outcome.error == "");
    CHECK(outcome.answer == true);
  }
}

// A moment beyond twice x that SimGrid's clock, going there from x, rounds past.
struct Passed {
  double x, moment;
};
static Passed passed(std::uint64_t seed) {
  RandomStream random(seed);
  for (;;) {
    const double x = 0.3 * random.uniform(), moment = random.uniform();
    if (moment > 2 * x && x + (moment - x) > moment) return {x, moment};
  }
}

TEST_CASE("is a process woken where the clock's sum rounds past the moment that it waits for? (INV-2)") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Passed at = passed(seed);
    const auto outcome = in_child<std::vector<double>>([at] {
      std::vector<double> woken;
      const auto kernel = kernel::make_simgrid_kernel();
      Sleeper early({at.x}, woken), leader({at.moment}, woken, true);
      kernel->lead(leader);
      kernel->add(early);
      kernel->run();  // kernel::Deadlock where it is not
      return woken;
    });
    CHECK(outcome.error == "");
    CHECK(outcome.answer == std::vector<double>{at.x, at.moment});
  }
}

// The leader sleeps until it is woken at the end; the other would go on for ever.
TEST_CASE("whoever leads is woken where the clock ends, and nobody later") {
  const auto woken_by = [](std::unique_ptr<kernel::Kernel> kernel) {
    std::vector<double> woken;
    Sleeper leader({1e10}, woken, true), other({1, 4e9, 5e9, 6e9}, woken);
    kernel->lead(leader);
    kernel->add(other);
    kernel->run();
    return woken;
  };
  const std::vector<double> expected{1, 4e9, 4294967296.0};
  CHECK(woken_by(kernel::make_event_queue_kernel()) == expected);
  const auto outcome = in_child<std::vector<double>>([&] { return woken_by(kernel::make_simgrid_kernel()); });
  CHECK(outcome.error == "");
  CHECK(outcome.answer == expected);
}
