// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
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
    f.add("file", &Platform::file, "path of the platform, an XML file as SimGrid reads it").required();
    f.add("hosts", &Platform::hosts,
          "its hosts that are nodes, by place, each once; absent: all, numbers in names in their order");
    f.check([](const Platform&, const YamlNode& node, Diagnostics& diagnostics) {
      const YamlNode* hosts = node.find("hosts");
      if (!hosts) return;
      std::set<std::string> named;
      for (const YamlNode& host : hosts->items)
        if (!named.insert(host.text).second)
          diagnostics.error(host.where, fmt::format("host '{}' is two nodes", host.text));
    });
    return f;
  }();
  return fields;
}

// Where the file stands: beside the one that names it.
fs::path beside(const YamlNode& file) {
  const auto& source = file.where.source;
  const bool in_file = source && fs::is_regular_file(source->name);
  return in_file ? (fs::path(source->name).parent_path() / file.text).lexically_normal() : fs::path(file.text);
}

TaskOutcome<PlatformWays> read_in_child(const fs::path& file, const std::vector<std::string>& hosts) {
  return in_child<PlatformWays>([&] {
    using Read = void(const std::string& file, PlatformWays& ways);
    PlatformWays ways{hosts, {}, {}};
    module_function<Read>("simgrid", "llmscape_simgrid_platform")(file.string(), ways);
    return ways;
  });
}

// SimGrid says "Parse error at FILE:LINE: ..." of what it does not understand, which is told where that stands.
void report(const std::string& reason, const fs::path& file, const SourceRange& named, Diagnostics& diagnostics) {
  const std::string place = file.string() + ":";
  const std::size_t at = reason.find(place);
  int line = 0;
  if (at != std::string::npos) line = std::atoi(reason.c_str() + at + place.size());
  const std::size_t text = line > 0 ? reason.find(": ", at + place.size()) : std::string::npos;
  if (text == std::string::npos) {
    diagnostics.error(named, fmt::format("SimGrid cannot read this platform: {}", reason));
    return;
  }
  SourceText source{file.string(), "", 1, ""};
  if (named.source) source.note = fmt::format("named in {}:{}", named.source->name, named.line);
  diagnostics.error({std::make_shared<const SourceText>(std::move(source)), line, 1}, reason.substr(text + 2));
}

// Files that were read, for the scenarios of a sweep.
struct Remembered {
  fs::file_time_type written;
  std::uintmax_t bytes = 0;
  std::shared_ptr<const PlatformWays> ways;
};

std::shared_ptr<const PlatformWays> ways_of(const Platform& platform, const YamlNode& node, const YamlNode& named,
                                            Diagnostics& diagnostics) {
  static std::map<std::pair<fs::path, std::vector<std::string>>, Remembered> known;
  const fs::path file = beside(named);
  if (!fs::is_regular_file(file)) {
    diagnostics.error(named.where, fmt::format("there is no file '{}'", file.string()));
    return nullptr;
  }
  note_opened(file);
  Remembered& read = known[{file, platform.hosts}];
  std::error_code unreadable;
  const auto written = fs::last_write_time(file, unreadable);
  const std::uintmax_t bytes = fs::file_size(file, unreadable);
  if (read.ways && read.written == written && read.bytes == bytes) return read.ways;
  const auto outcome = read_in_child(file, platform.hosts);
  if (!outcome.answer) {
    report(outcome.error, file, named.where, diagnostics);
    return nullptr;
  }
  if (outcome.answer->ways.empty()) {
    const std::vector<std::string>& there = outcome.answer->hosts;
    for (const YamlNode& host : node.find("hosts")->items)
      if (std::ranges::find(there, host.text) == there.end())
        diagnostics.error(host.where, fmt::format("the platform has no host '{}'", host.text),
                          did_you_mean(host.text, there));
    return nullptr;
  }
  read = {written, bytes, std::make_shared<const PlatformWays>(*outcome.answer)};
  return read.ways;
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
    platform->known = ways_of(*platform, node, *file, diagnostics);
    if (!platform->known) return nullptr;
    return platform;
  };
  return kind;
}

}  // namespace llmscape::kernel
