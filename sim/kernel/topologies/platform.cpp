// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/platform.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/module.hpp"
#include "base/opened_files.hpp"
#include "base/process_pool.hpp"

namespace llmscape::kernel {
namespace {

namespace fs = std::filesystem;

class PlatformWiring final : public Wiring {
 public:
  PlatformWiring(std::shared_ptr<const PlatformWays> known, Fabric& fabric)
      : known_(std::move(known)), fabric_(fabric), links_(known_->links.size()) {}

  Way way(std::int64_t from, std::int64_t to, std::int64_t /*plane*/) override {
    const auto place = static_cast<std::size_t>(from) * known_->hosts.size() + static_cast<std::size_t>(to);
    const PlatformWays::Way& known = known_->ways.at(place);
    Way way{{}, Seconds(known.latency)};
    for (const std::uint64_t link : known.links) way.links.push_back(link_of(link));
    return way;
  }

 private:
  Fabric::Link link_of(std::uint64_t link) {
    std::optional<Fabric::Link>& laid = links_[link];
    if (!laid) laid = fabric_.add_link(known_->links[link].name, known_->links[link].bandwidth);
    return *laid;
  }

  std::shared_ptr<const PlatformWays> known_;
  Fabric& fabric_;
  std::vector<std::optional<Fabric::Link>> links_;  // those that some way crosses
};

const Fields<Platform>& platform_fields() {
  static const Fields<Platform> fields = [] {
    Fields<Platform> f("platform", "a network that a platform file of SimGrid describes");
    f.add("file", &Platform::file, "the platform, an XML file as SimGrid reads it, beside the scenario").required();
    f.add("hosts", &Platform::hosts,
          "its hosts that are nodes, by place; absent: all, numbers in names in their order");
    return f;
  }();
  return fields;
}

// Where the file stands: beside the one that names it.
fs::path beside(const YamlNode& file) {
  const auto& source = file.where.source;
  const bool in_file = source && fs::is_regular_file(source->name);
  return in_file ? fs::path(source->name).parent_path() / file.text : fs::path(file.text);
}

}  // namespace

std::unique_ptr<Wiring> Platform::build(Fabric& fabric) const {
  return std::make_unique<PlatformWiring>(known, fabric);
}

FamilyMember<Topology> platform_kind() {
  FamilyMember<Topology> kind =
      member<Platform, Topology>("platform", "what a platform file of SimGrid describes", platform_fields());
  kind.read = [](const YamlNode& node, Diagnostics& diagnostics) -> std::shared_ptr<const Topology> {
    auto platform = std::make_shared<Platform>();
    const int errors = diagnostics.errors();
    platform_fields().read(*platform, node, diagnostics);
    const YamlNode* file = node.find("file");
    if (diagnostics.errors() != errors || !file) return nullptr;
    const fs::path path = beside(*file);
    if (!fs::is_regular_file(path)) {
      diagnostics.error(file->where, fmt::format("there is no file '{}'", path.string()));
      return nullptr;
    }
    note_opened(path);
    const auto outcome = in_child<PlatformWays>([&] {
      using Read = void(const std::string& file, PlatformWays& ways);
      PlatformWays ways;
      ways.hosts = platform->hosts;
      module_function<Read>("simgrid", "llmscape_simgrid_platform")(path.string(), ways);
      return ways;
    });
    if (!outcome.answer) {
      diagnostics.error(file->where, fmt::format("SimGrid cannot read this platform: {}", outcome.error));
      return nullptr;
    }
    platform->known = std::make_shared<const PlatformWays>(*outcome.answer);
    return platform;
  };
  return kind;
}

}  // namespace llmscape::kernel
