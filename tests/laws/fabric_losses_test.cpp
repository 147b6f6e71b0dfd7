// SPDX-License-Identifier: Apache-2.0
// What links have carried of transfers that are lost, given up or under way.
#include <doctest/doctest.h>
#include <vector>

#include "sim/kernel/fluid_fabric.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/fabric_script.hpp"

namespace fabric_losses_test {

using namespace llmscape;
using namespace llmscape::fabric_testing;
using llmscape::testing::approx;

TEST_CASE("what has a link carried while transfers are under way, and when it fails?") {
  kernel::FluidFabric fabric;
  const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
  const auto wire = fabric.add_link("wire", gb_per_s(10)), port = fabric.add_link("port", gb_per_s(40));
  fabric.add_route(a, b, {wire, port}, Seconds(0.5));
  int arrived = 0, lost = 0;
  const auto move = [&](double bytes) {
    fabric.move(a, b, Bytes(bytes), Seconds(0), [&](bool whole, Seconds) { ++(whole ? arrived : lost); });
  };
  move(5e9);
  move(20e9);
  const auto until = [&](double now) {
    while (fabric.next_event() <= Seconds(now)) fabric.advance(fabric.next_event());
    const std::vector<Bytes> carried = fabric.carried(Seconds(now));
    CHECK(carried[port] == carried[wire]);
    fabric.check_invariants(Seconds(now));
    return carried[wire].si() / 1e9;
  };
  CHECK(until(0.4) == 0);  // latency
  CHECK(until(1) == approx(5));
  CHECK(until(1.5) == approx(10));  // the smaller one has arrived
  CHECK(arrived == 1);
  CHECK(until(2) == approx(15));
  fabric.set_bandwidth(wire, BytesPerSecond(), Seconds(2.25));
  CHECK(until(3) == approx(17.5));
  CHECK(lost == 1);
}

TEST_CASE("a transfer that is given up leaves the link to the others") {
  check_ends(
      [](Fabric& fabric, FabricScript& script) {
        const auto a = fabric.add_endpoint("a"), b = fabric.add_endpoint("b");
        fabric.add_route(a, b, {fabric.add_link("wire", gb_per_s(10))}, Seconds(0.5));
        script.move(0, a, b, 10e9);
        script.move(0, a, b, 30e9);
        script.move(1, a, b, 10e9);
        const auto cancel = [&fabric, &script](double at, std::size_t which) {
          script.at(at, [&fabric, &script, which](Seconds now) { fabric.cancel(script.transfers[which], now); });
        };
        cancel(1.25, 2);  // before its first byte
        cancel(1.5, 0);   // 5 GB of both have moved
        cancel(9, 1);     // long over
      },
      {-1.5, 4, -1.25});
}

}  // namespace fabric_losses_test
