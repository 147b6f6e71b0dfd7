// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/written.hpp"

#include <utility>

#include "base/restate.hpp"
#include "sim/scenario/scenario_paths.hpp"

namespace llmscape::scenario {

YamlNode written(const Scenario& scenario) {
  YamlNode tree = scenario.resolved;
  const YamlNode schema = *tree.find("schema");
  tree.erase("schema");
  {
    const AnchoredPaths as_read(tree, scenario.folder);
    restate(tree, scenario_fields().write(scenario.config), scenario_fields().info());
  }
  YamlNode whole = YamlNode::mapping(tree.where);
  whole.set("schema", schema);
  for (YamlNode::Entry& entry : tree.entries) whole.entries.push_back(std::move(entry));
  return whole;
}

}  // namespace llmscape::scenario
