// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/kernel/topology.hpp"

namespace llmscape::kernel {

// What a platform file of SimGrid says of its hosts: each way between two of them. Read with SimGrid itself, in a
// process of its own, which has one engine (sim/kernel/platform_reader.cpp).
struct PlatformWays {
  struct Link {
    std::string name;
    BytesPerSecond bandwidth;
    template <class Message>
    void cross(Message& m) {
      double rate = bandwidth.si();
      m(name, rate);
      bandwidth = BytesPerSecond(rate);
    }
  };
  struct Way {
    std::vector<std::uint64_t> links;  // indices
    double latency = 0;                // seconds, of all of them
    template <class Message>
    void cross(Message& m) {
      m(links, latency);
    }
  };
  std::vector<std::string> hosts;  // by place
  std::vector<Link> links;
  std::vector<Way> ways;  // from one host to each, the next one to each ...; to itself: no link

  template <class Message>
  void cross(Message& m) {
    m(hosts, links, ways);
  }
};

// A network that a platform file of SimGrid describes, its links and latencies as they stand there: hosts are nodes. A
// link that is not split carries both ways together.
struct Platform : Topology {
  std::string file;
  std::vector<std::string> hosts;             // by place; none: all of the file
  std::shared_ptr<const PlatformWays> known;  // there once it is read

  [[nodiscard]] std::optional<std::int64_t> places() const override {
    return static_cast<std::int64_t>(known->hosts.size());
  }
  [[nodiscard]] std::unique_ptr<Wiring> build(Fabric& fabric) const override;
};
FamilyMember<Topology> platform_kind();

}  // namespace llmscape::kernel
