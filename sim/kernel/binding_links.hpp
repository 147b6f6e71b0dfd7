// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llmscape::kernel {

// Which links can hold transfers back. What crosses a link together with one that is not wider, whatever its route,
// never fills it first: a port behind a busy uplink changes no rate. Routes that differ in such links alone are one.
class BindingLinks {
 public:
  // All of them, before it is asked; each link of a path once.
  void add_route(std::span<const std::uint32_t> path);
  // The bandwidth of each link. True: other links bind than before.
  bool set_bandwidths(const std::vector<double>& bandwidths);
  // Those of a path, at least one.
  [[nodiscard]] std::vector<std::size_t> on(std::span<const std::uint32_t> path) const;

 private:
  struct Link {
    bool crossed = false;
    std::vector<std::size_t> companions;  // that all routes over it cross, too
    bool binds = true;
  };
  [[nodiscard]] bool binds(std::size_t link, const std::vector<double>& bandwidths) const;

  std::vector<Link> links_;
};

}  // namespace llmscape::kernel
