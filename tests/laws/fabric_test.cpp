// SPDX-License-Identifier: Apache-2.0
// Transfers share links max-min fairly, exactly: closed forms on SimGrid and on the fluid model, and both against each
// other.
#include <doctest/doctest.h>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "base/random.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/kernel/max_min.hpp"

namespace fabric_test {

using namespace llmscape;
using kernel::Fabric;
using kernel::Kernel;

namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
constexpr double kExact = 1e-9;

// Does things at given times and ends when all of its transfers have.
class Script final : public kernel::Process {
 public:
  explicit Script(Kernel& kernel) : kernel_(kernel) {}
  void at(double time, std::function<void(Seconds)> what) { todo_.emplace(time, std::move(what)); }
  // A transfer whose end is noted; failed ones as a negative time.
  void move(double time, Fabric::Endpoint from, Fabric::Endpoint to, double bytes) {
    const std::size_t index = ends.size();
    ends.push_back(0);
    ++open_;
    at(time, [=, this](Seconds now) {
      kernel_.fabric().move(from, to, Bytes(bytes), now, [=, this](bool arrived, Seconds end) {
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

 private:
  Kernel& kernel_;
  std::multimap<double, std::function<void(Seconds)>> todo_;
  int open_ = 0;
  Seconds last_;
};

using Setup = std::function<void(Fabric&, Script&)>;

std::vector<double> ends_on(std::unique_ptr<Kernel> kernel, const Setup& setup) {
  Script script(*kernel);
  setup(kernel->fabric(), script);
  kernel->lead(script);
  kernel->run();
  CHECK(kernel->fabric().in_flight() == 0);
  return script.ends;
}

// SimGrid runs once in the life of a process.
std::vector<double> ends_on_simgrid(const Setup& setup, std::size_t count) {
  const auto outcome = in_child<std::vector<double>>([&] { return ends_on(kernel::make_simgrid_kernel(), setup); });
  REQUIRE_MESSAGE(outcome.answer, outcome.error);
  REQUIRE(outcome.answer->size() == count);
  return *outcome.answer;
}

void check_ends(const Setup& setup, const std::vector<double>& expected) {
  const auto fluid = ends_on(kernel::make_event_queue_kernel(), setup);
  const auto simgrid = ends_on_simgrid(setup, expected.size());
  REQUIRE(fluid.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(fluid[i] - expected[i]) < kExact);
    CHECK(std::abs(simgrid[i] - expected[i]) < kExact);
  }
}

BytesPerSecond gb_per_s(double value) { return BytesPerSecond(value * 1e9); }

}  // namespace

TEST_CASE("two unequal transfers on one link: half the rate each, then all of it for the one that is left") {
  check_ends(
      [](Fabric& fabric, Script& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
        fabric.add_route(a, b, {fabric.add_link("wire", gb_per_s(10))}, Seconds(0));
        script.move(0, a, b, 10e9);
        script.move(0, a, b, 30e9);
      },
      {2, 4});
}

TEST_CASE("over three hops the narrowest link counts, and what it leaves goes to the others") {
  // x crosses all three links, y only the last one: x is held to 2 GB/s by the second, y gets the other 6.
  check_ends(
      [](Fabric& fabric, Script& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b"), c = fabric.add_endpoint("c");
        const auto first = fabric.add_link("first", gb_per_s(10)), second = fabric.add_link("second", gb_per_s(2)),
                   third = fabric.add_link("third", gb_per_s(8));
        fabric.add_route(a, b, {first, second, third}, Seconds(0));
        fabric.add_route(c, b, {third}, Seconds(0));
        script.move(0, a, b, 10e9);
        script.move(0, c, b, 12e9);
      },
      {5, 2});
}

TEST_CASE("latency is paid before the first byte, and gives nobody more or less of a link") {
  // Two caches of 10 GB into c, one out of it, over ports of 12.5 GB/s.
  check_ends(
      [](Fabric& fabric, Script& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b"), c = fabric.add_endpoint("c");
        const auto port = [&](const std::string& name) { return fabric.add_link(name, gb_per_s(12.5)); };
        const auto a_out = port("a out"), a_in = port("a in"), b_out = port("b out"), c_in = port("c in"),
                   c_out = port("c out");
        fabric.add_route(a, c, {a_out, c_in}, Seconds(1e-6));
        fabric.add_route(b, c, {b_out, c_in}, Seconds(11e-6));
        fabric.add_route(c, a, {c_out, a_in}, Seconds(5e-6));
        script.move(0, a, c, 10e9);  // alone for 10 us, then half the port
        script.move(0, b, c, 10e9);
        script.move(0, c, a, 10e9);  // the other direction is free
      },
      {1.599991, 1.600001, 0.800005});
}

TEST_CASE("a link that slows down, fails and comes back does so for what it carries") {
  check_ends(
      [](Fabric& fabric, Script& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
        const auto wire = fabric.add_link("wire", gb_per_s(10));
        fabric.add_route(a, b, {wire}, Seconds(0));
        script.move(0, a, b, 20e9);  // 1 s at 10 GB/s, the rest at 5
        script.at(1, [&fabric, wire](Seconds now) { fabric.set_bandwidth(wire, gb_per_s(5), now); });
        script.move(4, a, b, 50e9);  // lost at 5 s
        script.at(5, [&fabric, wire](Seconds now) { fabric.set_bandwidth(wire, BytesPerSecond(0), now); });
        script.move(6, a, b, 1e9);  // never starts
        script.at(7, [&fabric, wire](Seconds now) { fabric.set_bandwidth(wire, gb_per_s(10), now); });
        script.move(8, a, b, 10e9);
      },
      {3, -5, -6, 9});
}

TEST_CASE("when does a transfer end whose link recovers under way?") {
  // 20 GB: 10 s at 1 GB/s carry half of it, the other half takes a second at 10 GB/s. With one of 3 GB beside it from
  // 9 s on: 9 + 0.5 GB until 10 s, 2.5 GB in the half second that the other one needs for as much, 8 GB in 0.8 s.
  const auto recovers = [](double other) {
    return [=](Fabric& fabric, Script& script) {
      const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
      const auto wire = fabric.add_link("wire", gb_per_s(10));
      fabric.add_route(a, b, {wire}, Seconds(0));
      script.at(0, [&fabric, wire](Seconds now) { fabric.set_bandwidth(wire, gb_per_s(1), now); });
      script.move(0, a, b, 20e9);
      script.at(10, [&fabric, wire](Seconds now) { fabric.set_bandwidth(wire, gb_per_s(10), now); });
      if (other > 0) script.move(9, a, b, other);
    };
  };
  check_ends(recovers(0), {11});
  check_ends(recovers(3e9), {11.3, 10.5});
}

TEST_CASE("is a transfer lost that meets a link in the instant in which it fails or recovers?") {
  check_ends(
      [](Fabric& fabric, Script& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
        const auto wire = fabric.add_link("wire", gb_per_s(10));
        fabric.add_route(a, b, {wire}, Seconds(1));
        const auto set = [&](double at, double bandwidth) {
          script.at(at,
                    [&fabric, wire, bandwidth](Seconds now) { fabric.set_bandwidth(wire, gb_per_s(bandwidth), now); });
        };
        script.move(0, a, b, 20e9);  // its last byte arrives at 3 s: before the link fails
        script.move(2, a, b, 20e9);  // begins at 3 s: lost
        set(3, 0);
        set(5, 10);
        script.move(4, a, b, 20e9);  // begins at 5 s, before the link is repaired: lost
        script.move(5, a, b, 20e9);  // crosses it at 7 s, when it fails and is repaired: lost
        set(7, 0);
        set(7, 10);
        script.move(7, a, b, 20e9);
      },
      {3, -3, -5, -7, 10});
}

TEST_CASE("200 random transfers over two sites end at the same times on SimGrid and on the fluid model") {
  constexpr int kSites = 2, kEndpoints = 6, kTransfers = 200;
  const Setup setup = [](Fabric& fabric, Script& script) {
    RandomStream random(7);
    std::vector<Fabric::Link> up, down, wan;
    for (int site = 0; site < kSites; ++site) wan.push_back(fabric.add_link("wan" + std::to_string(site), gb_per_s(3)));
    for (int e = 0; e < kEndpoints; ++e) {
      fabric.add_endpoint("e" + std::to_string(e));
      up.push_back(fabric.add_link("up" + std::to_string(e), gb_per_s(2 + e)));
      down.push_back(fabric.add_link("down" + std::to_string(e), gb_per_s(5)));
    }
    for (std::size_t from = 0; from < kEndpoints; ++from)
      for (std::size_t to = 0; to < kEndpoints; ++to) {
        if (from == to) continue;
        std::vector<Fabric::Link> path = {up[from], down[to]};
        if (from % 2 != to % 2) path.insert(path.begin() + 1, wan[from % 2]);
        fabric.add_route(from, to, path, Seconds(from % 2 != to % 2 ? 0.01 : 1e-6));
      }
    for (int i = 0; i < kTransfers; ++i) {
      const std::uint64_t from = random.below(kEndpoints), step = 1 + random.below(kEndpoints - 1);
      script.move(10 * random.uniform(), from, (from + step) % kEndpoints, std::floor(1e9 * random.uniform()) + 1);
    }
  };
  const auto fluid = ends_on(kernel::make_event_queue_kernel(), setup);
  const auto simgrid = ends_on_simgrid(setup, kTransfers);
  for (std::size_t i = 0; i < kTransfers; ++i) {
    CAPTURE(i);
    CHECK(fluid[i] == simgrid[i]);  // which says itself where it differs by more than rounding
  }
}

TEST_CASE("max-min rates of a textbook case") {
  // Three sessions share one link, two of them on the same way; a fourth is held by a narrow one, a fifth takes what
  // that leaves.
  const std::vector<std::vector<std::size_t>> paths = {{1}, {0, 1}, {2, 3}, {3}};
  const std::vector<kernel::Crowd> crowds = {{&paths[0], 2}, {&paths[1], 1}, {&paths[2], 1}, {&paths[3], 1}};
  const std::vector<double> links = {1, 1, 0.25, 1};
  const auto rates = kernel::max_min_rates(crowds, links);
  const std::vector<double> expected = {1.0 / 3, 1.0 / 3, 0.25, 0.75};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(rates[i] == doctest::Approx(expected[i]));
}

TEST_CASE("moving bytes where no route is declared is a mistake of ours, and says so") {
  const auto kernel = kernel::make_event_queue_kernel();
  const auto a = kernel->fabric().add_endpoint("a"), b = kernel->fabric().add_endpoint("b");
  CHECK_THROWS_WITH_AS(kernel->fabric().move(a, b, Bytes(1), Seconds(0), [](bool, Seconds) {}),
                       "no route from 'a' to 'b'", std::logic_error);
}

}  // namespace fabric_test
