// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/fault_config.hpp"

namespace llmscape::scenario {
namespace {

const Fields<FaultConfig>& fault_fields() {
  static const Fields<FaultConfig> fields = [] {
    Fields<FaultConfig> f("fault", "something breaks at a known time");
    f.add("at", &FaultConfig::at, "when").required().at_least(0);
    f.add("lasts", &FaultConfig::lasts, "until it is repaired; absent: for good").above(0);
    f.add("group", &FaultConfig::group, "name of the group of devices that it is in");
    f.add("device", &FaultConfig::device, "which device of the group, from 0: replicas on it are lost").at_least(0);
    f.add("node", &FaultConfig::node, "which node of the group, from 0: replicas with a device in it are lost")
        .at_least(0);
    f.add("replica", &FaultConfig::replica, "which replica of the group, from 0").at_least(0);
    f.add("site", &FaultConfig::site, "name of the site whose uplink it is");
    f.add("uplink", &FaultConfig::uplink,
          "the uplink of the node or the site, and not what stands behind it: what it still carries; 0: nothing")
        .at_least(0);
    f.check([](const FaultConfig& c, const YamlNode& node, Diagnostics& d) {
      const int parts = (c.device ? 1 : 0) + (c.node ? 1 : 0) + (c.replica ? 1 : 0);
      if (c.group.has_value() == c.site.has_value()) {
        d.error(node.where, "a fault is in a 'group' or at a 'site'");
      } else if (c.site) {
        if (parts > 0 || !c.uplink) d.error(node.where, "what breaks of a site is its 'uplink'", "uplink: 0 B/s");
      } else if (parts != 1) {
        d.error(node.where, "what breaks of a group is one 'device', 'node' or 'replica'");
      } else if (c.uplink && !c.node) {
        d.error(node.where, "of a group, only a 'node' has an 'uplink'");
      }
    });
    return f;
  }();
  return fields;
}

const Fields<MtbfConfig>& mtbf_fields() {
  static const Fields<MtbfConfig> fields = [] {
    Fields<MtbfConfig> f("mtbf", "how often each device of a group breaks; exponential times");
    f.add("mtbf", &MtbfConfig::mtbf, "mean time from a repair, or the start, to the next fault").required().above(0);
    f.add("mttr", &MtbfConfig::mttr, "mean time to repair; then the replica loads its weights").required().above(0);
    return f;
  }();
  return fields;
}

}  // namespace

const Fields<FaultsConfig>& faults_fields() {
  static const Fields<FaultsConfig> fields = [] {
    Fields<FaultsConfig> f("faults", "what breaks, and when it is repaired");
    f.add_group("schedule", &FaultsConfig::schedule, fault_fields(), "at known times");
    f.add_group("mtbf", &FaultsConfig::mtbf, mtbf_fields(), "at random times, by group of devices");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::scenario
