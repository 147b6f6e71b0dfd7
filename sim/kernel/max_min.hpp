// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace llmscape::kernel {

// Flows over the same links: their indices, at least one, each once.
struct Crowd {
  const std::vector<std::size_t>* path;
  std::size_t flows;
};

// Max-min fair rates, of one flow of each crowd: all rates rise together; a flow stops rising when a link on its path
// is full.
std::vector<double> max_min_rates(std::span<const Crowd> crowds, std::span<const double> bandwidths);

}  // namespace llmscape::kernel
