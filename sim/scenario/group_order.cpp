// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/group_order.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace llmscape::scenario {
namespace {

// The scenario as one group sees it: its own name and those of all others are alike wherever they stand.
class View {
 public:
  View(const YamlNode& root, const YamlNode& own) : own_(own.find("name")->text) {
    for (const YamlNode& device : root.find("hardware")->find("devices")->items)
      if (const YamlNode* name = device.find("name")) names_.push_back(name->text);
  }

  [[nodiscard]] std::string text(YamlNode root, YamlNode own) const {
    root.find("hardware")->erase("devices");
    own.erase("name");
    blind(root);
    return write_yaml(own) + write_yaml(root);
  }

 private:
  [[nodiscard]] bool is_group(const std::string& name) const { return std::ranges::find(names_, name) != names_.end(); }
  [[nodiscard]] std::string blinded(const std::string& name) const { return name == own_ ? "this" : "another"; }

  void blind(YamlNode& node) const {
    if (node.is_scalar() && is_group(node.text)) node.text = blinded(node.text);
    bool names = !node.items.empty(), keys = false;
    for (YamlNode& item : node.items) {
      names = names && item.is_scalar() && is_group(item.text);
      blind(item);
    }
    if (names) std::ranges::sort(node.items, {}, &YamlNode::text);
    for (YamlNode::Entry& entry : node.entries) {
      blind(entry.value);
      if (!is_group(entry.key)) continue;
      keys = true;
      entry.key = blinded(entry.key);
    }
    if (keys)
      std::ranges::sort(node.entries, {},
                        [](const YamlNode::Entry& entry) { return entry.key + write_yaml(entry.value); });
  }

  std::string own_;
  std::vector<std::string> names_;
};

}  // namespace

void sort_groups(std::vector<std::string>& names, const YamlNode& root) {
  if (names.size() < 2) return;
  std::map<std::string, std::string> views;
  for (const YamlNode& device : root.find("hardware")->find("devices")->items)
    if (const YamlNode* name = device.find("name")) views[name->text] = View(root, device).text(root, device);
  std::ranges::sort(names, {}, [&](const std::string& name) { return views[name]; });
}

}  // namespace llmscape::scenario
