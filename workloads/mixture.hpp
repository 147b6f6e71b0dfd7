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
  // The names in a component, as indices of the scenario's lists.
  struct Indices {
    int slo_class = 0;
    int model = 0;                  // of calls that name none
    std::vector<int> stage_models;  // of the first stages of each program
  };
  // `indices[i]` belongs to component i.
  Mixture(const std::vector<MixtureComponent>& components, const std::vector<Indices>& indices,
          const RandomStreams& streams);
  Program make(Seconds start) override;

 private:
  struct Part {
    double up_to;  // cumulative weight
    Indices indices;
    int priority;
    std::unique_ptr<ProgramMaker> maker;
  };
  std::vector<Part> parts_;
  RandomStream choice_;
};

}  // namespace llmscape::workloads
