// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario_paths.hpp"

#include <initializer_list>
#include <string_view>

#include "base/schema.hpp"

namespace llmscape::scenario {
namespace {

namespace fs = std::filesystem;

YamlNode* at(YamlNode& root, std::initializer_list<std::string_view> keys) {
  YamlNode* node = &root;
  for (const std::string_view key : keys)
    if (node) node = node->find(key);
  return node && node->is_scalar() ? node : nullptr;
}

// Where a value of a device starts from: values that a preset brought stand in its file, all others in the scenario,
// whatever file or option spelled them.
fs::path start_of(const YamlNode& value, const fs::path& folder) { return folder_of_preset(value).value_or(folder); }

YamlNode* devices_of(YamlNode& scenario) {
  YamlNode* hardware = scenario.find("hardware");
  return hardware ? hardware->find("devices") : nullptr;
}

YamlNode* platform_of(YamlNode& scenario) { return at(scenario, {"hardware", "topology", "file"}); }

}  // namespace

void visit_paths(YamlNode& scenario, const fs::path& folder,
                 const std::function<void(YamlNode& path, const fs::path& from)>& visit) {
  const auto visit_model = [&](YamlNode& model) {
    if (YamlNode* file = at(model, {"hf_config"})) visit(*file, folder);
  };
  if (YamlNode* model = scenario.find("model")) visit_model(*model);
  if (YamlNode* models = scenario.find("models"))
    for (YamlNode::Entry& entry : models->entries) visit_model(entry.value);
  if (YamlNode* trace = at(scenario, {"workload", "replay", "trace"})) visit(*trace, folder);
  if (YamlNode* prices = at(scenario, {"cost", "preset"})) visit(*prices, folder);
  if (YamlNode* platform = platform_of(scenario)) visit(*platform, folder);
  YamlNode* devices = devices_of(scenario);
  if (!devices) return;
  for (YamlNode& device : devices->items) {
    if (YamlNode* tables = at(device, {"tables"})) visit(*tables, start_of(*tables, folder));
    if (YamlNode* own = at(device, {"preset"}); own && own->text.ends_with(".yaml")) visit(*own, folder);
  }
}

AnchoredPaths::AnchoredPaths(YamlNode& scenario, const fs::path& folder) : scenario_(scenario) {
  const auto anchor = [&](Place place) {
    YamlNode* path = path_at(place);
    if (!path || fs::path(path->text).is_absolute() || start_of(*path, folder) != folder) return;
    const auto& source = path->where.source;
    if (source && fs::path(source->name).parent_path() == folder && fs::is_regular_file(source->name)) return;
    written_.emplace_back(place, path->text);
    path->text = fs::absolute(folder / path->text).string();
  };
  anchor(std::nullopt);
  const YamlNode* devices = devices_of(scenario);
  for (std::size_t device = 0; devices && device < devices->items.size(); ++device) anchor(device);
}
AnchoredPaths::~AnchoredPaths() {
  for (auto& [place, text] : written_)
    if (YamlNode* path = path_at(place)) path->text = std::move(text);
}

YamlNode* AnchoredPaths::path_at(Place device) const {
  return device ? at(devices_of(scenario_)->items[*device], {"tables"}) : platform_of(scenario_);
}

YamlNode moved_paths(YamlNode scenario, const fs::path& folder, const fs::path& to) {
  visit_paths(scenario, folder, [&to](YamlNode& path, const fs::path& from) {
    if (fs::path(path.text).is_relative())
      path.text = fs::proximate(fs::absolute(from / path.text), fs::absolute(to)).string();
  });
  return scenario;
}

}  // namespace llmscape::scenario
