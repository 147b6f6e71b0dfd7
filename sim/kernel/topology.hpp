// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "sim/kernel/fabric.hpp"

namespace llmscape::kernel {

// The switches and cables of a topology, as links of a fabric.
class Wiring {
 public:
  Wiring() = default;
  Wiring(const Wiring&) = delete;
  Wiring& operator=(const Wiring&) = delete;
  virtual ~Wiring() = default;

  struct Way {
    std::vector<Fabric::Link> links;  // in the order in which bytes cross them
    Seconds latency;                  // of all of them
  };
  // Between two nodes, by their places, in one of the topology's planes. A link is part of the fabric from the first
  // way on that crosses it. Before the run.
  virtual Way way(std::int64_t from, std::int64_t to, std::int64_t plane) = 0;
};

// How the nodes of a scenario are joined. A node takes one place; groups of devices take places in the order in which
// the scenario names them.
class Topology {
 public:
  virtual ~Topology() = default;
  // How many nodes it has places for; nothing: any number.
  [[nodiscard]] virtual std::optional<std::int64_t> places() const = 0;
  // Networks side by side, each with a port of every node, which has as much of its uplink there as in the others.
  [[nodiscard]] virtual std::int64_t planes() const { return 1; }
  // Adds its cables to the fabric, as ways are asked for; nullptr: it has none, and racks and sites join the nodes.
  [[nodiscard]] virtual std::unique_ptr<Wiring> build(Fabric& fabric) const = 0;
};

// The table of kinds: key `kind` of a scenario's `hardware.topology`.
const Family<Topology>& topologies();

}  // namespace llmscape::kernel
