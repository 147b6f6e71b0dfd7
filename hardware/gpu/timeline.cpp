// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/timeline.hpp"

namespace llmscape::hardware {
namespace {

// The next of the sizes that engines capture, were there no largest.
std::int64_t next_size(std::int64_t tokens) {
  if (tokens <= 2) return tokens;
  if (tokens <= 4) return 4;
  const std::int64_t step = tokens <= 256 ? 8 : 16;
  return (tokens + step - 1) / step * step;
}

bool captured(std::int64_t tokens, const Device::Settings& settings) {
  return settings.cuda_graphs && next_size(tokens) <= settings.max_captured;
}

}  // namespace

std::int64_t padded_tokens(std::int64_t tokens, const Device::Settings& settings) {
  return captured(tokens, settings) ? next_size(tokens) : tokens;
}

Seconds host_time(const HostParameters& p, const Device::Settings& settings, const models::Batch& batch, int layers) {
  const bool one_graph = batch.chunks.empty() && captured(batch.decodes * batch.tokens_per_decode, settings);
  const auto requests = static_cast<double>(batch.decodes) + static_cast<double>(batch.chunks.size());
  return p.per_step + requests * p.per_request + (one_graph ? p.graph_launch : layers * p.per_eager_layer);
}

Seconds sync_time(const HostParameters& p, const models::Batch& batch) {
  return batch.chunks.empty() ? Seconds() : p.per_prefill_step;
}

const Fields<HostParameters>& host_fields() {
  static const Fields<HostParameters> fields = [] {
    using P = HostParameters;
    Fields<P> f("host", "the host's time of a step");
    f.add("per_step", &P::per_step, "scheduling and input preparation of a step").required().at_least(0);
    f.add("per_request", &P::per_request, "for each request in the step").required().at_least(0);
    f.add("graph_launch", &P::graph_launch, "launch of a captured step").required().at_least(0);
    f.add("per_eager_layer", &P::per_eager_layer, "kernel launches of a layer outside a graph").required().at_least(0);
    f.add("per_prefill_step", &P::per_prefill_step,
          "for a step with prompt chunks, on top of the device's time even where scheduling overlaps it")
        .at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
