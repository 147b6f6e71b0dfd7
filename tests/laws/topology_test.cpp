// SPDX-License-Identifier: Apache-2.0
// For each topology: what half of the nodes can send to the other half, and who shares a cable with whom, by hand, on
// both clocks.
#include <doctest/doctest.h>
#include <cctype>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml_reader.hpp"
#include "sim/kernel/topology.hpp"
#include "tests/support/fabric_script.hpp"

namespace topology_test {

using namespace llmscape;
using namespace llmscape::fabric_testing;

namespace {

struct Transfer {
  std::int64_t from, to;
  std::int64_t plane = 0;
};

// Each moves 1 GB from 0 s on; returns what check_ends takes.
Setup transfers(const std::string& topology, const std::vector<Transfer>& all) {
  Diagnostics diagnostics;
  const YamlNode node =
      read_yaml(std::make_shared<const SourceText>(SourceText{"topology.yaml", topology}), diagnostics);
  const auto read = kernel::topologies().read(node, diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  return [=](Fabric& fabric, FabricScript& script) {
    const auto wiring = read->build(fabric);
    for (const auto& [from, to, plane] : all) {
      const std::string name = std::to_string(fabric.links()) + " of " + std::to_string(from);
      const auto a = fabric.add_endpoint("out " + name), b = fabric.add_endpoint("in " + name);
      const kernel::Wiring::Way way = wiring->way(from, to, plane);
      fabric.add_route(a, b, way.links, way.latency);
      script.move(0, a, b, 1e9);
    }
  };
}

// The first half of the nodes to the other one, node by node.
std::vector<Transfer> across(std::int64_t nodes) {
  std::vector<Transfer> all;
  for (std::int64_t node = 0; node < nodes / 2; ++node) all.push_back({node, node + nodes / 2});
  return all;
}

std::vector<double> each(std::size_t count, double end) { return std::vector<double>(count, end); }

}  // namespace

TEST_CASE("a fat tree carries across its middle what the cables between its switches do") {
  // 16 nodes under four switches: two switches of either half have two cables up each, 4 GB/s for 8 GB.
  check_ends(transfers("{kind: fat_tree, down: [4, 4], up: [1, 2], bandwidth: 1 GB/s, latency: 0 s}", across(16)),
             each(8, 2));
  // With as many cables up as down it is as good as one switch.
  check_ends(transfers("{kind: fat_tree, down: [4, 4], up: [1, 4], bandwidth: 1 GB/s, latency: 0 s}", across(16)),
             each(8, 1));
}

TEST_CASE("in a fat tree the receiver's place chooses the switch above, so that two ways meet or do not") {
  const std::string tree = "{kind: fat_tree, down: [4, 4], up: [1, 2], bandwidth: 1 GB/s, latency: 0 s}";
  check_ends(transfers(tree, {{0, 4}, {1, 6}}), {2, 2});  // 4 and 6 are even: one cable up from the first switch
  check_ends(transfers(tree, {{0, 4}, {1, 5}}), {1, 1});
  check_ends(transfers(tree, {{0, 1}, {2, 3}}), {1, 1});  // no cable above the first switch
}

TEST_CASE("each cable on the way has its latency, which is paid before the first byte") {
  const std::string tree = "{kind: fat_tree, down: [4, 4], up: [1, 2], bandwidth: 1 GB/s, latency: 1 ms}";
  check_ends(transfers(tree, {{0, 1}, {2, 4}}), {1.002, 1.004});
}

TEST_CASE("a torus carries across its middle what the two cuts through its rings do") {
  // Two cuts through four rings of four, 4 GB/s each way of 8: each of 8 nodes sends 1 GB to the one opposite, which is
  // two hops away along the second dimension, so that a cable has two transfers.
  check_ends(transfers("{kind: torus, dimensions: [4, 4], bandwidth: 1 GB/s, latency: 0 s}", across(16)), each(8, 2));
  // A ring of seven, each to the third from it: three hops the same way round, so that a cable has three.
  std::vector<Transfer> third;
  for (std::int64_t node = 0; node < 7; ++node) third.push_back({node, (node + 3) % 7});
  check_ends(transfers("{kind: torus, dimensions: [7], bandwidth: 1 GB/s, latency: 0 s}", third), each(7, 3));
  // The other way round every cable is free.
  check_ends(transfers("{kind: torus, dimensions: [8], bandwidth: 1 GB/s, latency: 0 s}", {{0, 3}, {3, 0}}), {1, 1});
}

TEST_CASE("a torus crosses its dimensions in turn, so that two ways meet or do not") {
  const std::string torus = "{kind: torus, dimensions: [4, 4], bandwidth: 1 GB/s, latency: 0 s}";
  check_ends(transfers(torus, {{0, 5}, {1, 5}}), {2, 2});  // 0, 1, 5
  check_ends(transfers(torus, {{0, 5}, {4, 5}}), {1, 1});
}

TEST_CASE("a dragonfly carries from group to group what the cables between them do") {
  const std::string rest = "chassis: 1, routers: 2, nodes: 2, bandwidth: 1 GB/s, latency: 0 s}";
  check_ends(transfers("{kind: dragonfly, groups: 2, " + rest, across(8)), each(4, 4));
  check_ends(transfers("{kind: dragonfly, groups: 2, group_cables: 2, " + rest, across(8)), each(4, 2));
}

TEST_CASE("in a dragonfly nodes of one router share what leads from it, and others do not") {
  const std::string two =
      "{kind: dragonfly, groups: 2, chassis: 1, routers: 2, nodes: 2, bandwidth: 1 GB/s, latency: 0 s}";
  check_ends(transfers(two, {{0, 2}, {1, 3}}), {2, 2});  // the cable between the two routers of a chassis
  check_ends(transfers(two, {{0, 1}, {2, 3}}), {1, 1});
  check_ends(transfers(two, {{0, 4}, {5, 1}}), {1, 1});  // either way of the cable between the groups
}

TEST_CASE("transfers inside the second chassis of a dragonfly share what they share inside the first") {
  // Two chassis of three routers of two nodes. To the two nodes of the second router, from those of the first and the
  // third: each over a cable of its own.
  const std::string two =
      "{kind: dragonfly, groups: 2, chassis: 2, routers: 3, nodes: 2, bandwidth: 1 GB/s, latency: 1 ms}";
  check_ends(transfers(two, {{0, 2}, {4, 3}}), {1.003, 1.003});
  check_ends(transfers(two, {{6, 8}, {10, 9}}), {1.003, 1.003});
  // From one chassis to another router of the other one: a cable in the sender's, and one between the two.
  check_ends(transfers(two, {{0, 8}, {6, 2}}), {1.004, 1.004});
}

// Names say what a cable joins: a walk from the sender's router has to stand at one end of each, and goes to the other.
TEST_CASE("in a dragonfly each way is a chain of cables") {
  const std::int64_t chassis = 3, routers = 3, group = chassis * routers, places = 2 * group;
  const auto kernel = kernel::make_event_queue_kernel();
  Diagnostics diagnostics;
  const YamlNode node = read_yaml(
      std::make_shared<const SourceText>(SourceText{
          "t.yaml", "{kind: dragonfly, groups: 2, chassis: 3, routers: 3, nodes: 1, bandwidth: 1 GB/s, latency: 0 s}"}),
      diagnostics);
  const auto topology = kernel::topologies().read(node, diagnostics);
  REQUIRE(topology);
  const auto wiring = topology->build(kernel->fabric());
  const auto numbers = [](const std::string& name) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < name.size(); ++i)
      if (std::isdigit(static_cast<unsigned char>(name[i]))) {
        all.push_back(std::stoll(name.substr(i)));
        while (i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1]))) ++i;
      }
    return all;
  };
  for (std::int64_t from = 0; from < places; ++from)
    for (std::int64_t to = 0; to < places; ++to) {
      if (from == to) continue;
      std::int64_t at = from;
      const auto links = wiring->way(from, to, 0).links;
      for (std::size_t i = 1; i + 1 < links.size(); ++i) {  // behind the sender's own cable, before the receiver's
        const std::string name = kernel->fabric().name_of(links[i]);
        const auto said = numbers(name);
        CAPTURE(name);
        const std::int64_t g = at / group, c = at % group / routers, r = at % routers;
        if (name.starts_with("green")) {  // group, chassis, routers
          REQUIRE((said[0] == g && said[1] == c && (said[2] == r || said[3] == r)));
          at += (said[2] == r ? said[3] : said[2]) - r;
        } else if (name.starts_with("black")) {  // group, chassis, routers
          REQUIRE((said[0] == g && said[3] == r && (said[1] == c || said[2] == c)));
          at += ((said[1] == c ? said[2] : said[1]) - c) * routers;
        } else {  // from the router of the other group's index in the first chassis
          REQUIRE((c == 0 && r == 1 - g));
          at = (1 - g) * group + g;
        }
      }
      CHECK(at == to);
    }
}

TEST_CASE("a rail is a switch of its own: nodes share its cables, and nothing of the other rails") {
  const std::string rails = "{kind: rails, rails: 2, nodes: 4, bandwidth: 1 GB/s, latency: 0 s}";
  check_ends(transfers(rails, across(4)), each(2, 1));
  check_ends(transfers(rails, {{0, 2, 0}, {1, 2, 0}}), {2, 2});
  check_ends(transfers(rails, {{0, 2, 0}, {1, 2, 1}}), {1, 1});
}

TEST_CASE("results name cables alike in every run of a process") {
  std::vector<std::string> names[2];
  for (auto& of_run : names) {
    const auto kernel = kernel::make_event_queue_kernel();
    FabricScript script(*kernel);
    transfers("{kind: torus, dimensions: [4], bandwidth: 1 GB/s, latency: 0 s}", {{0, 1}})(kernel->fabric(), script);
    transfers("{kind: fat_tree, down: [2, 2], up: [1, 1], bandwidth: 1 GB/s, latency: 0 s}", {{0, 2}})(kernel->fabric(),
                                                                                                       script);
    transfers("{kind: rails, rails: 2, nodes: 2, bandwidth: 1 GB/s, latency: 0 s}", {{0, 1, 1}})(kernel->fabric(),
                                                                                                 script);
    for (std::size_t link = 0; link < kernel->fabric().links(); ++link)
      of_run.push_back(kernel->fabric().name_of(link));
  }
  CHECK(names[0] == names[1]);
  REQUIRE(names[0].size() == 7);
  CHECK(names[0].front() == "link from 0 to 1, up");
  CHECK(names[0].back() == "rail 1, link of node 1, down");
}

TEST_CASE("no two cables of a dragonfly have one name") {
  // Places 0 to 7: two groups of one chassis of two routers of two nodes.
  const auto kernel = kernel::make_event_queue_kernel();
  FabricScript script(*kernel);
  transfers("{kind: dragonfly, groups: 2, chassis: 1, routers: 2, nodes: 2, bandwidth: 1 GB/s, latency: 0 s}",
            {{0, 2}, {4, 6}, {0, 6}, {6, 0}, {2, 4}, {4, 2}})(kernel->fabric(), script);
  std::set<std::string> names;
  for (std::size_t link = 0; link < kernel->fabric().links(); ++link) names.insert(kernel->fabric().name_of(link));
  CHECK(names.size() == kernel->fabric().links());
  CHECK(names.contains("green link in group 0, chassis 0 between routers 0 and 1, up"));
  CHECK(names.contains("green link in group 1, chassis 0 between routers 0 and 1, up"));
}

TEST_CASE("a platform of SimGrid joins its hosts as its file says") {
  // Places: node-1, node-2, node-10. The first has a split cable of 1 GB/s to a wire of 2 GB/s that carries both ways
  // together and joins the others.
  const std::string platform = "{kind: platform, file: tests/laws/platform.xml}";
  // Latencies are 4, 1 and 3 us. From 4 us on the two over the cable have half of it each, and the third what they
  // leave of the wire, 1.5 GB/s; 3 kB and 2 kB of the others have gone before.
  check_ends(transfers(platform, {{0, 1}, {0, 2}, {2, 1}}), {2.000001, 1.999998, 4e-6 + (1 - 2e-6) / 1.5});
  // Half of the nodes to the other half and back: the wire is one for both ways, the cable is not.
  check_ends(transfers(platform, {{1, 2}, {2, 1}}), {1.000003, 1.000003});
  check_ends(transfers(platform, {{0, 2}, {2, 0}}), {1.000001, 1.000001});
  // Hosts by name take places in the order in which they are named.
  check_ends(transfers("{kind: platform, file: tests/laws/platform.xml, hosts: [node-10, node-1]}", {{0, 1}, {1, 0}}),
             {1.000001, 1.000001});
}

}  // namespace topology_test
