// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "workloads/workload.hpp"

namespace llmscape::workloads {

// Draws a component by weight for each start; a workload with a single stream is a mixture of one. Component i makes
// the same programs, in the same order, whatever the others are.
class Mixture : public ProgramMaker {
 public:
  // `slo_classes[i]` is the index of component i's SLO class.
  Mixture(const std::vector<MixtureComponent>& components, const std::vector<int>& slo_classes,
          const RandomStreams& streams);
  Program make(Seconds start) override;

 private:
  struct Part {
    double up_to;  // cumulative weight
    int slo_class, priority;
    std::unique_ptr<ProgramMaker> maker;
  };
  std::vector<Part> parts_;
  RandomStream choice_;
};

}  // namespace llmscape::workloads
