// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <simgrid/s4u.hpp>

#include <simgrid/version.h>  // needs the macros of the others

#include <functional>
#include <string>
#include <utility>
#include <vector>

// What differs between the versions of SimGrid that we build with, 3.32 to 4.1. Private to this folder.
namespace llmscape::kernel {

#if SIMGRID_VERSION >= 40100
template <class F>
auto start_actor(simgrid::s4u::Host* host, const std::string& name, F body) {
  return host->add_actor(name, body);
}
inline simgrid::s4u::NetZone* make_root(simgrid::s4u::Engine& engine) {
  return engine.get_netzone_root()->add_netzone_full("root");
}
inline simgrid::s4u::NetZone* make_full_zone(simgrid::s4u::NetZone* parent, const std::string& name) {
  return parent->add_netzone_full(name);
}
#else
template <class F>
auto start_actor(simgrid::s4u::Host* host, const std::string& name, F body) {
  return simgrid::s4u::Actor::create(name, host, body);
}
inline simgrid::s4u::NetZone* make_root(simgrid::s4u::Engine&) { return simgrid::s4u::create_full_zone("root"); }
inline simgrid::s4u::NetZone* make_full_zone(simgrid::s4u::NetZone* parent, const std::string& name) {
  return simgrid::s4u::create_full_zone(name)->set_parent(parent);
}
#endif

// `host` makes what stands at a place of a zone: (zone, place) -> Host*. Since 4.0 SimGrid calls what makes hosts, and
// takes what makes netpoints without ever calling it.
template <class MakeHost>
simgrid::s4u::ClusterCallbacks at_each_place(MakeHost host) {
  using Zone = simgrid::s4u::NetZone;
  using Place = std::vector<unsigned long>;
#if SIMGRID_VERSION >= 40000
  return simgrid::s4u::ClusterCallbacks(std::function<simgrid::s4u::ClusterCallbacks::ClusterHostCb>(
      [host](Zone* inside, const Place&, unsigned long place) { return host(inside, place); }));
#else
  using NetPoint = simgrid::kernel::routing::NetPoint;
  return simgrid::s4u::ClusterCallbacks([host](Zone* inside, const Place&, unsigned long place) {
    return std::pair<NetPoint*, NetPoint*>(host(inside, place)->get_netpoint(), nullptr);
  });
#endif
}

// An engine leaves behind what it wants to be told of platforms, and the next one that reads one would tell it.
template <class Engine>
void delete_engine() {
  if constexpr (requires {
                  Engine::on_platform_created.disconnect_slots();
                })  // of SimGrid's own alone in some versions
    Engine::on_platform_created.disconnect_slots();
  delete Engine::get_instance();
}
// Below a last bit of any time: what SimGrid takes for one instant is what has one time. Sums of the same terms in
// another order differ by some bits, and at 1e-12 those events came in the order of their actors instead of their
// times.
inline constexpr const char* kPrecision = SIMGRID_VERSION >= 33400 ? "precision/timing:1e-18" : "surf/precision:1e-18";

}  // namespace llmscape::kernel
