// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_host.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/attention_pairs.hpp"

namespace llmscape::serving {

KvHost::KvHost(KvHostConfig config)
    : config_(std::move(config)),
      token_bytes_(std::accumulate(config_.law_bytes.begin(), config_.law_bytes.end(), 0.0)) {}

double KvHost::on_host(std::int64_t used) const {
  return static_cast<double>(std::max<std::int64_t>(0, used - config_.device_blocks));
}

// Chunks that pass a group of layers write the entries of that group.
double KvHost::written_tokens(const models::Batch& batch) const {
  return static_cast<double>(batch.prefill_tokens()) * batch.prefill_layers +
         static_cast<double>(batch.decode_tokens());
}

// Entries of earlier steps that this one attends to.
Bytes KvHost::attended(const models::Batch& batch) const {
  double bytes = 0;
  for (std::size_t law = 0; law < config_.laws.size(); ++law) {
    double entries = 0;
    for (const models::PrefillChunk& chunk : batch.chunks)
      entries += static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, config_.laws[law]) - chunk.tokens) *
                 batch.prefill_layers;
    if (batch.decodes > 0)
      entries += static_cast<double>(std::max<std::int64_t>(0, batch.attended[law].sum - batch.decode_tokens()));
    bytes += entries * config_.law_bytes[law];
  }
  return Bytes(bytes);
}

KvHostTraffic KvHost::traffic(const models::Batch& batch, std::int64_t used_before, std::int64_t used,
                              Seconds compute) const {
  double old_share = 1, new_share = 1;
  if (config_.device_blocks > 0) {
    old_share = used_before > 0 ? on_host(used_before) / static_cast<double>(used_before) : 0;
    if (used > used_before)
      new_share = (on_host(used) - on_host(used_before)) / static_cast<double>(used - used_before);
    else new_share = on_host(used) > 0 ? 1 : 0;
  }
  KvHostTraffic step;
  step.read = old_share * attended(batch);
  step.written = Bytes(new_share * written_tokens(batch) * token_bytes_);
  Seconds in, out;
  if (step.read > Bytes()) in = step.read / config_.read + static_cast<double>(config_.caches) * config_.latency;
  if (step.written > Bytes())
    out = step.written / config_.write + static_cast<double>(config_.caches) * config_.latency;
  if (in + out == Seconds()) return step;
  if (config_.copies == KvCopies::in_turn) {
    step.wait = in + out;
  } else {
    // Layers alike in a line of three: entries come, the layer computes, its new entries go.
    const double layers = config_.caches;
    const Seconds all = (in + compute + out + (layers - 1) * std::max({in, compute, out})) / layers;
    step.wait = std::max(Seconds(), all - compute);
  }
  return step;
}

void KvHost::count(const KvHostTraffic& traffic, std::int64_t used) {
  total_.read += traffic.read;
  total_.written += traffic.written;
  total_.wait += traffic.wait;
  peak_ = std::max(peak_, std::max<std::int64_t>(0, used - config_.device_blocks));
}

}  // namespace llmscape::serving
