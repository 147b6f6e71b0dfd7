// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/step_model.hpp"

#include <algorithm>

#include "hardware/cim/attention.hpp"
#include "models/attention_pairs.hpp"

namespace llmscape::hardware {
namespace {

constexpr std::size_t index(OperatorFamily family) { return static_cast<std::size_t>(family); }

std::array<Seconds, kResources> busy(const CimTimes& t) {
  std::array<Seconds, kResources> busy{};
  busy[static_cast<std::size_t>(Resource::arithmetic)] = t.compute;
  busy[static_cast<std::size_t>(Resource::write)] = t.write;
  busy[static_cast<std::size_t>(Resource::vector)] = t.vector;
  busy[static_cast<std::size_t>(Resource::memory)] = t.memory;
  return busy;
}

// How much of the step a family's load accounts for: its share of whatever the step waits for.
double share(const CimTimes& part, const CimTimes& whole, bool overlaps) {
  if (!overlaps) return (part.memory + part.macros + part.vector) / (whole.memory + whole.macros + whole.vector);
  if (whole.memory >= whole.macros && whole.memory >= whole.vector) return part.memory / whole.memory;
  return whole.macros >= whole.vector ? part.macros / whole.macros : part.vector / whole.vector;
}

}  // namespace

CimStepModel::CimStepModel(CimDevice chip, const models::ModelSpec& model, const models::ExpertCoverage& coverage)
    : chip_(std::move(chip)), kv_(model.precision.kv), shape_(model, coverage),
      mapping_(shape_, chip_.macro, chip_.pinnable_macros()),
      computing_macros_(chip_.computing_macros(mapping_.pinned_macros)) {}

CimLoad CimStepModel::products(const MatrixSet& set, const TiledSet& tiled, double pinned, double streamed,
                               double vectors, double tokens) const {
  CimLoad load;
  load.write_rounds = tiled.rounds(streamed, chip_.packing, computing_macros_);
  // A pinned matrix computes in one round, as all its tiles have macros of their own. In a pipeline a step waits for
  // those that one token passes; what the others add is in loads().
  const double kept = pinned * static_cast<double>(tiled.matrices());
  load.vector_passes =
      chip_.pipelined ? (load.write_rounds + kept / tokens) * vectors : (load.write_rounds + kept) * vectors;
  load.weights = load.written = streamed * set.bytes;
  const double uses = (pinned + streamed) * vectors;
  load.multiply(uses * set.weights, set.format, chip_.macro);
  load.additions = uses * tiled.partial_sums();
  const Bytes input(static_cast<double>(*chip_.macro.input_bits) / 8);
  load.activations = uses * set.elements * input;
  for (const auto& matrix : set.matrices) {
    const Bytes held = vectors * static_cast<double>(matrix.k + matrix.n) * input;
    load.spilled += (pinned + streamed) * std::max(Bytes(), held - *chip_.buffer);
  }
  return load;
}

CimLoad CimStepModel::prefill_attention(const LayerShape& layer, const models::Batch& batch,
                                        const AttentionLoad& work) const {
  if (chip_.attention == AttentionUnit::vector) return vector_attention(layer, work);
  CimLoad load = softmax(layer, work);
  for (const auto& chunk : batch.chunks) {
    const auto keys = static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, layer.window));
    load += macro_attention(chip_.macro, computing_macros_, layer, kv_,
                            {1, keys, static_cast<double>(chunk.tokens), static_cast<double>(layer.window)});
  }
  return load;
}

CimLoad CimStepModel::decode_attention(const LayerShape& layer, const models::Batch& batch,
                                       const AttentionLoad& work) const {
  if (chip_.attention == AttentionUnit::vector) return vector_attention(layer, work);
  CimLoad load = softmax(layer, work);
  if (batch.decodes > 0)
    load +=
        macro_attention(chip_.macro, computing_macros_, layer, kv_,
                        {static_cast<double>(batch.decodes), work.keys, static_cast<double>(batch.tokens_per_decode)});
  return load;
}

CimStepModel::Loads CimStepModel::loads(const models::Batch& batch) const {
  const auto tokens = static_cast<double>(batch.tokens());
  Loads loads;
  CimLoad& gemm = loads[index(OperatorFamily::gemm)];
  const bool keeps_layers =
      std::ranges::any_of(mapping_.layers, [](const Mapping::Layers& layers) { return layers.pinned > 0; });
  for (std::size_t i = 0; i < shape_.layers.size(); ++i) {
    const LayerShape& layer = shape_.layers[i];
    const Mapping::Layers& mapped = mapping_.layers[i];
    const LayerLoad work = shape_.load(layer, batch);
    gemm += products(layer.common, mapped.common, mapped.pinned, mapped.streamed, tokens, tokens);
    if (work.experts_touched > 0)
      loads[index(OperatorFamily::grouped_gemm)] +=
          products(layer.expert, mapped.expert, mapped.pinned * work.experts_touched,
                   mapped.streamed * work.experts_touched, work.expert_rows / work.experts_touched, tokens);
    loads[index(OperatorFamily::prefill_attention)] += prefill_attention(layer, batch, work.prefill);
    loads[index(OperatorFamily::decode_attention)] += decode_attention(layer, batch, work.decode);
  }
  if (const auto rows = batch.logit_rows(); rows > 0 && shape_.head.weights > 0) {
    const auto heads = static_cast<double>(rows);
    gemm += products(shape_.head, mapping_.head, mapping_.head_pinned, !mapping_.head_pinned, heads,
                     keeps_layers ? heads : 1);
    if (chip_.streams_embedding) gemm.weights += shape_.embedding;
  }
  // T tokens pass M matrices in T + M - 1 passes.
  if (chip_.pipelined && keeps_layers) gemm.vector_passes += tokens - 1;
  // Norms, rope and activations do about one operation for each byte they move as 16-bit numbers (assumed).
  loads[index(OperatorFamily::elementwise)].vector = Flops(tokens * shape_.elementwise_bytes);
  return loads;
}

StepPhases CimStepModel::phases(const models::Batch& batch) {
  StepPhases phases;
  if (batch.tokens() == 0) return phases;
  const Loads parts = loads(batch);
  CimLoad whole;
  for (const CimLoad& part : parts) whole += part;
  const CimTimes t = step_times(chip_, whole);

  std::array<double, kOperatorFamilies> shares{};
  std::array<CimTimes, kOperatorFamilies> times;
  double sum = 0;
  for (std::size_t f = 0; f < shares.size(); ++f) {
    times[f] = step_times(chip_, parts[f]);
    sum += shares[f] = share(times[f], t, chip_.overlaps());
  }
  for (std::size_t f = 0; f < shares.size(); ++f) {
    Phase& phase = phases.of(f);
    phase.time = t.step * (shares[f] / sum);
    phase.energy = step_energy(chip_, parts[f]);
    phase.busy = busy(times[f]);
    phase.bytes = parts[f].traffic();
    // Where the parts overlap, all families wait for what the step waits for.
    phase.bound = chip_.overlaps() ? bound_of(t.step, busy(t)) : bound_of(phase.time, phase.busy);
  }
  phases.flops = Flops(2 * whole.multiply_adds) + whole.vector;
  return phases;
}

}  // namespace llmscape::hardware
