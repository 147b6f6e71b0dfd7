// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/max_min.hpp"

#include <algorithm>
#include <limits>

namespace llmscape::kernel {

std::vector<double> max_min_rates(std::span<const std::vector<std::size_t>* const> paths,
                                  std::span<const double> bandwidths) {
  std::vector<double> rates(paths.size(), -1);  // negative: still rising
  std::vector<double> left(bandwidths.begin(), bandwidths.end());
  std::vector<int> rising(bandwidths.size(), 0);  // flows on each link
  for (const auto* path : paths)
    for (const std::size_t link : *path) ++rising[link];
  for (std::size_t fixed = 0; fixed < paths.size();) {
    // The link that fills up first gives its flows their share.
    std::size_t fullest = 0;
    double share = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < left.size(); ++link)
      if (rising[link] > 0 && left[link] / rising[link] < share) {
        share = left[link] / rising[link];
        fullest = link;
      }
    for (std::size_t flow = 0; flow < paths.size(); ++flow) {
      if (rates[flow] >= 0) continue;
      bool crosses = false;
      for (const std::size_t link : *paths[flow]) crosses = crosses || link == fullest;
      if (!crosses) continue;
      rates[flow] = share;
      ++fixed;
      for (const std::size_t link : *paths[flow]) {
        left[link] = std::max(0.0, left[link] - share);
        --rising[link];
      }
    }
  }
  return rates;
}

}  // namespace llmscape::kernel
