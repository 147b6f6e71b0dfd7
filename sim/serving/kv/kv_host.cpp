// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_host.hpp"

#include <algorithm>
#include <utility>

#include "models/attention_pairs.hpp"
#include "models/step_work.hpp"

namespace llmscape::serving {

KvHost::KvHost(KvHostConfig config) : config_(std::move(config)) {
  for (const KvHostConfig::Layers& layers : config_.layers) token_bytes_ += layers.token_bytes;
}

double KvHost::on_host(std::int64_t blocks) const {
  return static_cast<double>(std::max<std::int64_t>(0, blocks - config_.device_blocks));
}

// Chunks that pass a group of layers write the entries of that group.
double KvHost::written_tokens(const models::Batch& batch) const {
  return static_cast<double>(batch.prefill_tokens()) * batch.prefill_layers +
         static_cast<double>(batch.decode_tokens());
}

namespace {

// Entries of earlier steps that the tokens of a chunk attend to. Whose choices are their own may choose unlike ones.
std::int64_t read_by_chunk(const KvHostConfig::Layers& layers, const models::PrefillChunk& chunk) {
  const std::int64_t cached = layers.change.cached(chunk.cached);
  if (layers.chosen > 0) return std::min(cached, chunk.tokens * layers.chosen);
  return models::keys_read(chunk.tokens, cached, layers.window) - chunk.tokens;
}

}  // namespace

// What of earlier steps this one attends to, or scores for that.
Bytes KvHost::attended(const models::Batch& batch) const {
  double bytes = 0;
  for (const KvHostConfig::Layers& layers : config_.layers) {
    double entries = 0;
    for (const models::PrefillChunk& chunk : batch.chunks)
      entries += static_cast<double>(read_by_chunk(layers, chunk)) * batch.prefill_layers;
    if (batch.decodes > 0)
      entries += static_cast<double>(std::max<std::int64_t>(0, batch.attended[layers.law].sum - batch.decode_tokens()));
    bytes += entries * layers.token_bytes;
  }
  return Bytes(bytes);
}

KvStepCopies KvHost::copies(const models::Batch& batch, std::int64_t before, std::int64_t now, Seconds compute) const {
  double old_share = 1, new_share = 1;
  if (config_.device_blocks > 0) {
    old_share = before > 0 ? on_host(before) / static_cast<double>(before) : 0;
    if (now > before) new_share = (on_host(now) - on_host(before)) / static_cast<double>(now - before);
    else if (config_.evicts) new_share = old_share;
    else new_share = on_host(now) > 0 ? 1 : 0;
  }
  KvStepCopies step;
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

void KvHost::count(const KvStepCopies& copies, std::int64_t now) {
  total_.read += copies.read;
  total_.written += copies.written;
  total_.wait += copies.wait;
  peak_ = std::max(peak_, std::max<std::int64_t>(0, now - config_.device_blocks));
}

std::vector<KvFigure> KvHost::figures(Seconds) const {
  return {{"peak_bytes", static_cast<double>(peak_) * config_.block_bytes.si(), KvFigure::Over::most},
          {"written_bytes", total_.written.si()},
          {"read_bytes", total_.read.si()},
          {"wait_s", total_.wait.si()}};
}

const Fields<KvHostMemory>& kv_host_fields() {
  static const Fields<KvHostMemory> fields = [] {
    using Keeps = KvHostMemory::Keeps;
    Fields<KvHostMemory> f("kv_host", "host memory for KV entries of running requests, and the link to it");
    hardware::add_memory_tier_fields(f);
    f.add_enum("keeps", &KvHostMemory::keeps, {{"overflow", Keeps::overflow}, {"all", Keeps::all}},
               "entries that do not fit into the devices' memory, or all entries");
    f.add_enum("copies", &KvHostMemory::copies, {{"overlapped", KvCopies::overlapped}, {"in_turn", KvCopies::in_turn}},
               "copies of a layer run beside those of others and beside what computes, or one after the other with it");
    return f;
  }();
  return fields;
}

// The stages of a pipeline would have a link each; a draft model's entries and recurrent states stay on the devices.
KvPart KvHostPlace::part() const {
  return {"'kv_host'", {KvProperty::one_stage, KvProperty::one_model, KvProperty::entries_alone}, {}, {}};
}

std::vector<KvPlace::Problem> KvHostPlace::problems(const KvLocation&) const {
  if (kv_host->shared_by == hardware::MemoryTier::Sharing::replica) return {};
  return {{"the memory of 'kv_host' is that of one replica", "shared_by: replica"}};
}

KvPoolBlocks KvHostPlace::pool(const KvPoolBlocks& without, Bytes block, std::int64_t tenants) const {
  KvPoolBlocks with = without;
  with.below = static_cast<std::int64_t>(*kv_host->capacity / static_cast<double>(tenants) / block);
  if (kv_host->keeps == KvHostMemory::Keeps::all && with.below > 0) with.devices = 0;
  return with;
}

void KvHostPlace::build(const KvSite& site, KvBelow& below) const {
  if (site.pool.below == 0) return;
  KvHostConfig host;
  host.device_blocks = site.pool.devices;
  const std::vector<std::int64_t> laws = models::kv_laws(site.model);
  // A device with a profile says how large entries are, whatever the model's are.
  const double stored =
      site.block_bytes.si() / (static_cast<double>(site.block_tokens) * models::kv_bytes_per_token(site.model));
  for (const models::LayerGroup& group : site.model.groups) {
    const int caches = group.caches();
    const models::SequenceState state = group.state(site.model.precision);
    if (state.bytes_per_token == 0) continue;
    const auto law_of = [&laws](std::int64_t reach) {
      return static_cast<std::size_t>(std::ranges::lower_bound(laws, reach) - laws.begin());
    };
    const double index = state.index_bytes.value_or(0);
    const std::int64_t chosen = state.index_bytes ? state.reach : 0;
    // A ring is one of decodes: prompts attend as without a plan.
    const std::int64_t window =
        group.change.prompt_reach.value_or(models::state_of(group.mixer, site.model.precision).reach);
    host.layers.push_back(
        {law_of(state.reach), window, group.change, stored * caches * (state.bytes_per_token - index), chosen});
    if (index > 0) host.layers.push_back({law_of(0), 0, group.change, stored * caches * index});
    host.caches += caches;
  }
  host.read = *kv_host->read;
  host.write = *kv_host->write;
  host.latency = *kv_host->latency;
  host.copies = kv_host->copies;
  host.evicts = site.prefix_caching;
  host.block_bytes = site.block_bytes;
  below.stores.push_back(std::make_shared<KvHost>(std::move(host)));
}

}  // namespace llmscape::serving
