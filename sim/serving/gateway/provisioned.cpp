// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/provisioned.hpp"

#include <algorithm>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

void Provisioned::switch_on(Seconds at) { spans_.push_back({at, kNever}); }

void Provisioned::switch_off(Seconds at) { spans_.back().to = at; }

std::vector<Provisioned::Span> Provisioned::spans(Seconds end) const {
  std::vector<Span> until;
  for (const Span& span : spans_)
    if (span.from < end) until.push_back({span.from, std::min(span.to, end)});
  return until;
}

Seconds Provisioned::time(Seconds end) const {
  Seconds sum;
  for (const Span& span : spans(end)) sum += span.to - span.from;
  return sum;
}

}  // namespace llmscape::serving
