// SPDX-License-Identifier: Apache-2.0
// Transfers share links max-min fairly, exactly: closed forms on SimGrid and on the fluid model, and both against each
// other.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/kernel/fluid_fabric.hpp"
#include "sim/kernel/max_min.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/fabric_script.hpp"

namespace fabric_test {

using namespace llmscape;
using namespace llmscape::fabric_testing;
using llmscape::testing::approx;

TEST_CASE("two unequal transfers on one link: half the rate each, then all of it for the one that is left") {
  check_ends(
      [](Fabric& fabric, FabricScript& script) {
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
      [](Fabric& fabric, FabricScript& script) {
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
      [](Fabric& fabric, FabricScript& script) {
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

TEST_CASE("routes are declared in any order, and the last one between two endpoints is theirs") {
  // 10 GB: from b to a at 2 GB/s, from a to b at 10 and not at the 1 that was declared first, from a to c at 4.
  check_ends(
      [](Fabric& fabric, FabricScript& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b"), c = fabric.add_endpoint("c");
        fabric.add_route(b, a, {fabric.add_link("back", gb_per_s(2))}, Seconds(0));
        fabric.add_route(a, b, {fabric.add_link("once", gb_per_s(1))}, Seconds(0));
        fabric.add_route(a, c, {fabric.add_link("aside", gb_per_s(4))}, Seconds(0));
        fabric.add_route(a, b, {fabric.add_link("there", gb_per_s(10))}, Seconds(0));
        script.move(0, b, a, 10e9);
        script.move(0, a, b, 10e9);
        script.move(0, a, c, 10e9);
      },
      {5, 1, 2.5});
}

TEST_CASE("a link that slows down, fails and comes back does so for what it carries") {
  check_ends(
      [](Fabric& fabric, FabricScript& script) {
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
    return [=](Fabric& fabric, FabricScript& script) {
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
      [](Fabric& fabric, FabricScript& script) {
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

TEST_CASE("transfers that one link holds back are told apart when it widens, and when a port of one fails") {
  // Two ports of 4 GB/s behind a link of 10: 4 GB each until 1 s. It has 2 GB/s then, 1 for each, and from 2 s on 10
  // again: 3 GB are left. If the first port fails at 1.5 s, the other one has all 2 GB/s until 2 s.
  const auto narrows = [](bool fails) {
    return [=](Fabric& fabric, FabricScript& script) {
      const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b"), c = fabric.add_endpoint("c");
      const auto port_a = fabric.add_link("port a", gb_per_s(4)), port_b = fabric.add_link("port b", gb_per_s(4)),
                 wire = fabric.add_link("wire", gb_per_s(10));
      fabric.add_route(a, c, {port_a, wire}, Seconds(0));
      fabric.add_route(b, c, {port_b, wire}, Seconds(0));
      const auto set = [&](double at, Fabric::Link link, double bandwidth) {
        script.at(at,
                  [&fabric, link, bandwidth](Seconds now) { fabric.set_bandwidth(link, gb_per_s(bandwidth), now); });
      };
      script.move(0, a, c, 8e9);
      script.move(0, b, c, 8e9);
      set(1, wire, 2);
      if (fails) set(1.5, port_a, 0);
      set(2, wire, 10);
    };
  };
  check_ends(narrows(false), {2.75, 2.75});
  check_ends(narrows(true), {-1.5, 2.625});
}

TEST_CASE("more transfers at once than SimGrid follows, and one after them") {
  check_ends(
      [](Fabric& fabric, FabricScript& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
        fabric.add_route(a, b, {fabric.add_link("wire", gb_per_s(10))}, Seconds(0));
        for (int i = 0; i < 300; ++i) script.move(0, a, b, 1e9);
        script.move(40, a, b, 1e9);
      },
      [] {
        std::vector<double> ends(300, 30);
        ends.push_back(40.1);
        return ends;
      }());
}

TEST_CASE("200 random transfers over two sites end at the same times on SimGrid and on the fluid model") {
  constexpr int kSites = 2, kEndpoints = 6, kTransfers = 200;
  const Setup setup = [](Fabric& fabric, FabricScript& script) {
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
  const std::vector<std::size_t> flows = {2, 1, 1, 1};
  const std::vector<double> links = {1, 1, 0.25, 1};
  kernel::MaxMinRates rates;
  for (std::size_t link = 0; link < links.size(); ++link) rates.set_bandwidth(link, links[link]);
  for (std::size_t i = 0; i < paths.size(); ++i) rates.set_flows(rates.add_crowd(paths[i]), flows[i]);
  rates.settle();
  const std::vector<double> expected = {1.0 / 3, 1.0 / 3, 0.25, 0.75};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(rates.rate(i) == approx(expected[i]));
  // One of the first two leaves, and the wide link is left to two: nobody else is looked at.
  rates.set_flows(0, 1);
  CHECK(rates.settle() == std::vector<std::size_t>{0, 1});
  CHECK(rates.rate(0) == 0.5);
}

TEST_CASE("rates that are kept while crowds come and go are those of the same crowds from nothing") {
  constexpr std::size_t kLinks = 12, kCrowds = 40;
  RandomStream random(3);
  std::vector<std::vector<std::size_t>> paths;
  for (std::size_t i = 0; i < kCrowds; ++i) {
    std::vector<std::size_t> path;
    for (std::size_t link = 0; link < kLinks; ++link)
      if (random.below(6) == 0) path.push_back(link);
    if (path.empty()) path.push_back(random.below(kLinks));
    paths.push_back(path);
  }
  std::vector<double> bandwidths(kLinks, 1);
  std::vector<std::size_t> flows(kCrowds, 0);
  kernel::MaxMinRates kept;
  for (std::size_t link = 0; link < kLinks; ++link) kept.set_bandwidth(link, bandwidths[link]);
  for (const auto& path : paths) kept.add_crowd(path);
  for (int change = 0; change < 500; ++change) {
    CAPTURE(change);
    if (change % 10 == 0) {
      const std::size_t link = random.below(kLinks);
      kept.set_bandwidth(link, bandwidths[link] = 0.5 + random.uniform());
    } else {
      const std::size_t crowd = random.below(kCrowds);
      kept.set_flows(crowd, flows[crowd] = random.below(3));
    }
    kept.settle();
    kernel::MaxMinRates fresh;
    for (std::size_t link = 0; link < kLinks; ++link) fresh.set_bandwidth(link, bandwidths[link]);
    for (std::size_t i = 0; i < kCrowds; ++i) fresh.set_flows(fresh.add_crowd(paths[i]), flows[i]);
    fresh.settle();
    std::vector<double> carried(kLinks, 0);
    for (std::size_t i = 0; i < kCrowds; ++i) {
      CHECK(kept.rate(i) == approx(fresh.rate(i)).epsilon(1e-12));
      for (const std::size_t link : paths[i]) carried[link] += static_cast<double>(flows[i]) * kept.rate(i);
    }
    // Max-min: each flow crosses a full link on which nobody is faster.
    for (std::size_t i = 0; i < kCrowds; ++i) {
      if (flows[i] == 0) continue;
      bool held = false;
      for (const std::size_t link : paths[i]) {
        CHECK(carried[link] <= bandwidths[link] * (1 + 1e-12));
        bool fastest = carried[link] >= bandwidths[link] * (1 - 1e-12);
        for (std::size_t other = 0; other < kCrowds; ++other)
          if (std::ranges::find(paths[other], link) != paths[other].end())
            fastest = fastest && kept.rate(other) <= kept.rate(i) * (1 + 1e-12);
        held = held || fastest;
      }
      CHECK(held);
    }
  }
}

TEST_CASE("what a transfer costs grows with the logarithm of those that are on the way with it, at most") {
  // Over one link of 10 GB/s, from a port for each of 50 senders; ten of 1 GB begin in the time of one of them: most
  // are on the way together.
  const auto visits_of = [](int transfers) {
    kernel::FluidFabric fabric;
    const auto wire = fabric.add_link("wire", gb_per_s(10));
    const auto to = fabric.add_endpoint("to");
    std::vector<Fabric::Endpoint> from;
    for (int i = 0; i < 50; ++i) {
      const std::string name = std::to_string(i);
      from.push_back(fabric.add_endpoint(name));
      fabric.add_route(from.back(), to, {fabric.add_link("port " + name, gb_per_s(25)), wire}, Seconds(1e-6));
    }
    int open = transfers;
    for (int i = 0; i < transfers; ++i) {
      const Seconds now(0.01 * i);
      while (fabric.next_event() < now) fabric.advance(fabric.next_event());
      fabric.move(from[static_cast<std::size_t>(i) % from.size()], to, Bytes(1e9 + i), now,
                  [&](bool arrived, Seconds) { open -= arrived ? 1 : 0; });
    }
    while (fabric.next_event() < fabric_testing::kNever) fabric.advance(fabric.next_event());
    CHECK(open == 0);
    return fabric.visits();
  };
  const std::int64_t few = visits_of(250), many = visits_of(4000);
  CHECK(std::log(static_cast<double>(many) / static_cast<double>(few)) / std::log(16) < 1.2);
  CHECK(few < 250 * 40);  // some twenty at most in its heap, and its lane twice
}

TEST_CASE("moving bytes where no route is declared is a mistake of ours, and says so") {
  const auto kernel = kernel::make_event_queue_kernel();
  const auto a = kernel->fabric().add_endpoint("a"), b = kernel->fabric().add_endpoint("b");
  CHECK_THROWS_WITH_AS(kernel->fabric().move(a, b, Bytes(1), Seconds(0), [](bool, Seconds) {}),
                       "no route from 'a' to 'b'", std::logic_error);
}

}  // namespace fabric_test
