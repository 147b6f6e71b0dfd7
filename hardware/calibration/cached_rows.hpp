// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace llmscape::hardware {

// What a row reads and computes at least.
struct LeastWork {
  double weight_bytes = 0;
  double compute_seconds = 0;  // at the chip's peak
};

// Takes the rows out whose times depend on weights that may have been in L2: a collector that launches a few copies of
// a kernel in turns finds small weights there, where a server, whose other layers pass in between, reads them from
// memory. That it happened shows in rows that took less than their weights need from memory; then all with no more
// weights than the largest of these go (an L40S: 96 MB of L2, six copies, GEMMs of up to 22 MB at up to 2.9 times the
// memory's bandwidth), but for those that say what a launch or a FLOP costs: whose weights take less than a fifth of
// the fastest row's time and of their FLOPs, so that it hardly shows where they came from (0.2^4, where times blend as
// fourth powers; a fifth at most, where they add up). `work_of` a row. Returns what to say of it; nothing where all
// stay.
template <class Row, class WorkOf>
std::string without_cached_weights(const Chip& chip, std::vector<Row>& rows, const WorkOf& work_of) {
  constexpr double kHardlyShows = 0.2;
  const double bandwidth = chip.hbm_bandwidth.value.si();
  double largest = 0;
  for (const Row& row : rows) {
    const double bytes = work_of(row).weight_bytes;
    if (bytes <= chip.l2.value.si() && bytes > row.time.si() * bandwidth) largest = std::max(largest, bytes);
  }
  if (largest == 0) return "";
  const double fastest = std::ranges::min_element(rows, {}, &Row::time)->time.si();
  const std::size_t left_out = std::erase_if(rows, [&](const Row& row) {
    const LeastWork work = work_of(row);
    return work.weight_bytes <= largest &&
           work.weight_bytes > kHardlyShows * bandwidth * (fastest + work.compute_seconds);
  });
  return fmt::format(", without {} that wait for weights of up to {:.0f} MB, which may have been in L2", left_out,
                     1e-6 * largest);
}

}  // namespace llmscape::hardware
