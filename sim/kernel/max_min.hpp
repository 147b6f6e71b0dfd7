// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace llmscape::kernel {

// Max-min fair rates of flows over links: all rates rise together; a flow stops rising when a link on its path is full.
// Each path names links by index, at least one, each once.
std::vector<double> max_min_rates(std::span<const std::vector<std::size_t>* const> paths,
                                  std::span<const double> bandwidths);

}  // namespace llmscape::kernel
