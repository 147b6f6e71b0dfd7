// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/tree.hpp"

namespace llmscape::kernel {

const Fields<Tree>& tree_fields() {
  static const Fields<Tree> fields("tree", "racks and sites, as hardware.fabric names them");
  return fields;
}

}  // namespace llmscape::kernel
