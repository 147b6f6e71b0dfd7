// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.hpp"
#include "hardware/fabric.hpp"
#include "hardware/profile/length_profile.hpp"

namespace llmscape::run {

using hardware::LengthProfile;

// Instances that compute prompts.
struct PrefillInstances {
  double count = 0;
  LengthProfile seconds;  // of one prompt on one instance
};

// What carries KV entries home: links that all share, and the network of the nodes that instances fill on either side,
// one node after the other; without a node, instances are no limit. Instances have one way each, so a call has one.
struct OffloadLink {
  BytesPerSecond shared;
  std::optional<hardware::Node> remote{}, home{};
  std::int64_t planes = 1;  // rails, each a part of a node's uplink: then adapters are no limit of their own
  [[nodiscard]] BytesPerSecond between(double remote_instances, double home_instances) const;
};

// A serving system at home, and instances elsewhere that compute the prompts that are longer than a threshold; their KV
// entries come home over a link, layer by layer as they are computed.
struct OffloadSystem {
  std::vector<double> lengths;  // of equally likely prompts, ascending: a sample of a workload, or its quantiles
  PrefillInstances remote, local;
  double decode_instances = 0;
  double decode_rate = 0;  // requests per second that one of them answers: sequences / (output tokens x time per token)
  LengthProfile kv_bytes;  // of one prompt
  OffloadLink link;
};

// What the system carries by the formula of Prefill-as-a-Service (arXiv 2604.15039, section 3): rates in requests per
// second, each as if the others had no limit. Times and bytes of a group of prompts are those of its mean length, as
// there: where times are not in proportion to lengths, their mean is another (h200 at the paper's threshold: 3 % less
// is carried), so that a run may answer more. Waiting is not in it.
struct OffloadCapacity {
  double offloaded = 0;  // share of the prompts
  double remote = 0;     // min(N / T(l_long), link of all / S(l_long))
  double local = 0;      // N / T(l_short)
  double decode = 0;
  double total = 0;             // min(remote / p, local / (1 - p), decode)
  BytesPerSecond egress;        // at that rate
  Seconds mean_ttft, p90_ttft;  // the longer of computing and moving, one call alone
};
OffloadCapacity offload_capacity(const OffloadSystem& system, double threshold);

// The threshold, and how many of `instances` at home compute prompts rather than decode, that carry most.
struct OffloadPlan {
  double threshold = 0;
  std::int64_t local = 0, decode = 0;
  OffloadCapacity capacity;
};
OffloadPlan best_offload(OffloadSystem system, std::int64_t instances, const std::vector<double>& thresholds);

}  // namespace llmscape::run
