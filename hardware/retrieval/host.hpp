// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

namespace llmscape::hardware {

// What one core does for a query.
struct QueryWork {
  Flops vector;          // on the vector units: distances
  Flops matrix;          // on the matrix units, where the host has them: a narrow encoder
  double look_ups = 0;   // in tables that stay in the core's cache
  Bytes bytes;           // streamed from memory
  double dependent = 0;  // reads from memory that wait for the one before
};

// A server whose cores take one query each and share the memory's bandwidth.
struct RetrievalHost {
  std::string name, description;
  std::int64_t cores = 1;
  Sourced<Bytes> capacity;
  Sourced<BytesPerSecond> memory_bandwidth;            // of the whole host
  Sourced<double> memory_efficiency;                   // share of it that all cores together reach
  Sourced<BytesPerSecond> core_bandwidth;              // what one core can stream
  Sourced<FlopsPerSecond> vector_peak;                 // of all cores, fp32
  std::optional<Sourced<FlopsPerSecond>> matrix_peak;  // of all cores, bf16
  Sourced<double> compute_efficiency;                  // share of the peaks
  Sourced<PerSecond> look_up_rate;                     // of one core
  Sourced<Seconds> memory_latency, per_query;
  Sourced<Watts> tdp, idle;

  // Bandwidth that all queries of the host share.
  [[nodiscard]] BytesPerSecond shared_bandwidth() const { return *memory_efficiency * *memory_bandwidth; }
  // Time of the work on one core while the others leave the memory alone: the longer of computing and streaming, and a
  // latency for each dependent read.
  [[nodiscard]] Seconds time(const QueryWork& work) const;
  // What a busy core draws beyond its share of the idle host.
  [[nodiscard]] Watts power_per_core() const { return (*tdp - *idle) / static_cast<double>(cores); }
};
const Fields<RetrievalHost>& retrieval_host_fields();

}  // namespace llmscape::hardware
