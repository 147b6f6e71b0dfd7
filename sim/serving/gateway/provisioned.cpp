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

std::vector<Provisioned::Span> united(std::vector<Provisioned::Span> spans) {
  std::ranges::stable_sort(spans, {}, &Provisioned::Span::from);
  std::vector<Provisioned::Span> all;
  for (const Provisioned::Span& span : spans) {
    if (all.empty() || span.from > all.back().to) all.push_back(span);
    else all.back().to = std::max(all.back().to, span.to);
  }
  return all;
}

Seconds Provisioned::time(Seconds end) const { return length_of(spans(end)); }

Seconds length_of(const std::vector<Provisioned::Span>& spans) {
  Seconds sum;
  for (const Provisioned::Span& span : spans) sum += span.to - span.from;
  return sum;
}

}  // namespace llmscape::serving
