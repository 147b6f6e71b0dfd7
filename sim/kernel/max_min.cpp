// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/max_min.hpp"

#include <algorithm>
#include <limits>

namespace llmscape::kernel {

std::vector<double> max_min_rates(std::span<const Crowd> crowds, std::span<const double> bandwidths) {
  std::vector<double> rates(crowds.size(), -1);  // negative: still rising
  std::vector<double> left(bandwidths.begin(), bandwidths.end());
  std::vector<std::size_t> rising(bandwidths.size(), 0);  // flows on each link
  for (const Crowd& crowd : crowds)
    for (const std::size_t link : *crowd.path) rising[link] += crowd.flows;
  for (std::size_t fixed = 0; fixed < crowds.size();) {
    // The link that fills up first gives its flows their share.
    std::size_t fullest = 0;
    double share = std::numeric_limits<double>::infinity();
    for (std::size_t link = 0; link < left.size(); ++link)
      if (rising[link] > 0 && left[link] / static_cast<double>(rising[link]) < share) {
        share = left[link] / static_cast<double>(rising[link]);
        fullest = link;
      }
    for (std::size_t i = 0; i < crowds.size(); ++i) {
      const std::vector<std::size_t>& path = *crowds[i].path;
      if (rates[i] >= 0 || std::ranges::find(path, fullest) == path.end()) continue;
      rates[i] = share;
      ++fixed;
      for (const std::size_t link : path) {
        for (std::size_t flow = 0; flow < crowds[i].flows; ++flow) left[link] = std::max(0.0, left[link] - share);
        rising[link] -= crowds[i].flows;
      }
    }
  }
  return rates;
}

}  // namespace llmscape::kernel
