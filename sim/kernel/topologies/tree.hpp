// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/topology.hpp"

namespace llmscape::kernel {

// The racks and sites of hardware.fabric: each node has an uplink, each rack and each site another one.
struct Tree : Topology {
  [[nodiscard]] std::optional<std::int64_t> places() const override { return std::nullopt; }
  [[nodiscard]] std::unique_ptr<Wiring> build(Fabric&) const override { return nullptr; }
};
const Fields<Tree>& tree_fields();

}  // namespace llmscape::kernel
