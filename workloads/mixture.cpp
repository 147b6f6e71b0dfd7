// SPDX-License-Identifier: Apache-2.0
#include "workloads/mixture.hpp"

#include <algorithm>

namespace llmscape::workloads {

Mixture::Mixture(const std::vector<MixtureComponent>& components, const std::vector<Indices>& indices,
                 const RandomStreams& streams)
    : choice_(streams.stream("mixture")) {
  double up_to = 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    up_to += components[i].weight;
    parts_.push_back(
        {up_to, indices[i], components[i].priority, components[i].stream->maker(streams.child("stream", i), i)});
  }
}

Program Mixture::make(Seconds start) {
  const double drawn = choice_.uniform() * parts_.back().up_to;
  Part& part = *std::find_if(parts_.begin(), parts_.end() - 1, [drawn](const Part& p) { return drawn < p.up_to; });
  Program program = part.maker->make(start);
  program.slo_class = part.indices.slo_class;
  program.priority = part.priority;
  const std::vector<int>& models = part.indices.stage_models;
  for (std::size_t i = 0; i < program.stages.size(); ++i)
    if (program.stages[i].kind == Stage::Kind::model_call)
      program.stages[i].model = i < models.size() ? models[i] : part.indices.model;
  return program;
}

}  // namespace llmscape::workloads
