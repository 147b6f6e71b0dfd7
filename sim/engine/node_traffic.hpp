// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/collectives.hpp"
#include "sim/engine/engine_model.hpp"

namespace llmscape::engine {

// What one device of a replica sends to other nodes in a step.
struct NodeBytes {
  Bytes in_rank;  // to its counterpart in the next node of its rank: collectives of tensor ranks, which go round a ring
  Bytes by_rank;  // to its counterpart in the next rank that lies in another node: gathers between data-parallel ranks
  Bytes to_all;   // in even parts to its counterparts in all other nodes: all-to-all
  // Where ranks hold unlike numbers of tokens, what comes back for this one's: in even parts from all other nodes.
  Bytes from_all;
  Bytes priced;  // that the price of the step holds: of the fullest rank
  // Messages one after another of each of these, whose latencies the price holds.
  double hops_in_rank = 0, hops_by_rank = 0, hops_to_all = 0;
};

// What the collectives of steps send from node to node, where the links of a device say how far a node reaches
// (hardware::Domain). Sends between the stages of a pipeline are none.
class NodeTraffic {
 public:
  // All that is handed in outlives it. `links` have a domain.
  NodeTraffic(const hardware::Device& device, const hardware::Links& links, const models::ModelSpec& model,
              const models::ParallelPlan& plan, const Settings& settings);

  // Of the batch as EngineModel::step prices it, padding included.
  [[nodiscard]] NodeBytes of(const models::Batch& batch) const;
  // What the price of that step holds for these bytes: all but latencies.
  [[nodiscard]] Seconds priced(const NodeBytes& bytes) const { return bytes.priced / *links_.domain->outer_bandwidth; }
  [[nodiscard]] Seconds latency() const { return *links_.domain->outer_latency; }             // of a hop in that price
  [[nodiscard]] BytesPerSecond bandwidth() const { return *links_.domain->outer_bandwidth; }  // of one device

 private:
  void divide(NodeBytes& sent, const models::Batch& batch) const;

  const hardware::Links& links_;
  const models::ModelSpec& model_;
  models::ParallelPlan plan_;
  Settings settings_;
  bool captured_ = false;
};

}  // namespace llmscape::engine
