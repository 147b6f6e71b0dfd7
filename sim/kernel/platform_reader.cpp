// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/kernel/simgrid_engine.hpp"
#include "sim/kernel/topologies/platform.hpp"

namespace llmscape::kernel {
namespace {

namespace sg = simgrid::s4u;

constexpr std::size_t kMostHosts = 1024;  // ways grow with their square

// "node-2" before "node-10".
bool before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const auto number = [&](std::string_view& text) {
        const auto end = std::ranges::find_if_not(text, digit) - text.begin();
        std::string_view own = text.substr(0, static_cast<std::size_t>(end));
        text.remove_prefix(own.size());
        own.remove_prefix(std::min(own.find_first_not_of('0'), own.size()));
        return own;
      };
      const std::string_view x = number(a), y = number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

std::vector<sg::Host*> all_hosts(const sg::Engine& engine) {
  std::vector<sg::Host*> hosts = engine.get_all_hosts();
  std::ranges::sort(hosts, [](const sg::Host* a, const sg::Host* b) { return before(a->get_name(), b->get_name()); });
  return hosts;
}

// None where the file lacks one.
std::vector<sg::Host*> hosts_of(const sg::Engine& engine, const std::vector<std::string>& names) {
  std::vector<sg::Host*> hosts;
  for (const std::string& name : names) hosts.push_back(engine.host_by_name_or_null(name));
  if (std::ranges::find(hosts, nullptr) != hosts.end()) hosts.clear();
  return hosts;
}

// Of the half of a split link, "x_UP": "x, up".
std::string name_of(const sg::Link& link) {
  std::string name = link.get_name();
  if (name.ends_with("_UP")) return name.substr(0, name.size() - 3) + ", up";
  if (name.ends_with("_DOWN")) return name.substr(0, name.size() - 5) + ", down";
  return name;
}

}  // namespace
}  // namespace llmscape::kernel

// The module's third function, in a child: `ways.hosts` names hosts of the file, or none, which asks for all. Where the
// file lacks one of them they become those that it has, and there are no ways. Throws std::exception where SimGrid
// does, or hosts or links are not of use.
extern "C" void llmscape_simgrid_platform(const std::string& file, llmscape::kernel::PlatformWays& ways) {
  using namespace llmscape::kernel;
  sg::Engine& engine = engine_of_child();
  engine.load_platform(file);
  const std::vector<sg::Host*> all = all_hosts(engine);
  const std::vector<sg::Host*> hosts = ways.hosts.empty() ? all : hosts_of(engine, ways.hosts);
  ways.hosts.clear();
  for (const sg::Host* host : hosts.empty() ? all : hosts) ways.hosts.push_back(host->get_name());
  if (all.empty()) throw std::invalid_argument("it has no host");
  if (hosts.size() > kMostHosts)
    throw std::invalid_argument("it has " + std::to_string(hosts.size()) + " hosts: at most " +
                                std::to_string(kMostHosts));
  std::map<const sg::Link*, std::uint64_t> known;  // only asked, never walked
  for (const sg::Host* from : hosts)
    for (const sg::Host* to : hosts) {
      PlatformWays::Way& way = ways.ways.emplace_back();
      if (from == to) continue;
      std::vector<sg::Link*> links;
      from->route_to(to, links, &way.latency);
      if (links.empty())
        throw std::invalid_argument("no link leads from '" + from->get_name() + "' to '" + to->get_name() + "'");
      for (const sg::Link* link : links) {
        const auto [place, fresh] = known.emplace(link, ways.links.size());
        if (std::ranges::find(way.links, place->second) != way.links.end())
          throw std::invalid_argument("the way from '" + from->get_name() + "' to '" + to->get_name() + "' crosses '" +
                                      link->get_name() + "' twice");
        way.links.push_back(place->second);
        if (!fresh) continue;
        if (link->get_sharing_policy() == sg::Link::SharingPolicy::FATPIPE)
          throw std::invalid_argument("link '" + link->get_name() + "' is a fat pipe, which transfers do not share");
        if (!(link->get_bandwidth() > 0))
          throw std::invalid_argument("link '" + link->get_name() + "' has no bandwidth");
        ways.links.push_back({name_of(*link), llmscape::BytesPerSecond(link->get_bandwidth())});
      }
    }
}
