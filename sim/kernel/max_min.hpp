// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace llmscape::kernel {

// Max-min fair rates of crowds, which are flows over the same links: all rates rise together; a flow stops rising when
// a link on its path is full. They are kept while crowds grow and shrink: a change is worked through among the links
// that crowds join with those that changed, and costs O(links and crowds there), however many flows a crowd has.
class MaxMinRates {
 public:
  // Without flows. The path, at least one link, each once, has to outlive it.
  std::size_t add_crowd(const std::vector<std::size_t>& path);
  void set_flows(std::size_t crowd, std::size_t flows);
  // Above 0 where a crowd with flows crosses the link.
  void set_bandwidth(std::size_t link, double bandwidth);

  // Sets the rates anew; the crowds with flows whose rates may have moved since it was last called.
  const std::vector<std::size_t>& settle();
  // Of one flow, as settle() has set it.
  [[nodiscard]] double rate(std::size_t crowd) const { return crowds_[crowd].rate; }
  // So often settle() has looked at a crowd.
  [[nodiscard]] std::int64_t visits() const { return visits_; }

 private:
  struct Crowd {
    const std::vector<std::size_t>* path;
    std::vector<std::size_t> places;  // in Link::crowds, link by link of the path
    std::size_t flows = 0;
    double rate = 0;
    std::uint64_t reached = 0;  // in this settlement, last
    bool rising = false;
  };
  struct Link {
    double bandwidth = 0;
    std::vector<std::size_t> crowds;  // with flows
    std::uint64_t reached = 0;        // in this settlement, last
    double left = 0;                  // bandwidth that nobody has yet
    std::size_t rising = 0;           // flows whose rates rise
  };

  Link& link_at(std::size_t link);
  void enter(std::size_t crowd);
  void leave(std::size_t crowd);
  void reach(std::size_t link);
  void reach_all();
  void fix(std::size_t crowd, double rate);

  std::vector<Crowd> crowds_;
  std::vector<Link> links_;
  std::vector<std::size_t> changed_;  // links
  std::uint64_t settlement_ = 0;
  std::vector<std::size_t> reached_links_, reached_crowds_;  // of the last settlement
  std::vector<std::pair<double, std::size_t>> filling_;      // a heap of what a flow gets of a link, and the link
  std::int64_t visits_ = 0;
};

}  // namespace llmscape::kernel
