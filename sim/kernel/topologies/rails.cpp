// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/rails.hpp"

namespace llmscape::kernel {

const Fields<Rails>& rails_fields() {
  static const Fields<Rails> fields = [] {
    Fields<Rails> f("rails", "a switch for each index of devices in their nodes");
    f.add("rails", &Rails::rails, "switches, each with a cable to every node").required().between(1, 4096);
    f.add("nodes", &Rails::nodes, "ports of a switch").required().between(1, 4096);
    add_cable_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::kernel
