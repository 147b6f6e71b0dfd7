// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/step_model.hpp"

#include <algorithm>

#include "hardware/collectives.hpp"
#include "hardware/dataflow/placement.hpp"
#include "models/memory.hpp"
#include "models/operator_list.hpp"
#include "models/step_work.hpp"

namespace llmscape::hardware {
namespace {

constexpr std::size_t family_index(OperatorFamily family) { return static_cast<std::size_t>(family); }

// The part of a section's time that a family accounts for: its share of what the section waits for.
double share(const SectionLoad& part, const SectionLoad& whole, const SectionTimes& times) {
  if (times.memory == times.longest()) return (part.weights + part.kv) / (whole.weights + whole.kv);
  return times.compute == times.longest() ? part.flops / whole.flops : part.sent / whole.sent;
}

// `sets` sets of matrices, through which `rows` rows pass in all.
SectionLoad products(const MatrixSet& set, double sets, double rows) {
  return {sets * set.bytes, Bytes(), Flops(2 * rows * set.weights), Bytes()};
}

SectionLoad attention(const LayerShape& layer, const AttentionLoad& part) {
  return {Bytes(), Bytes((part.keys + part.tokens) * layer.kv_bytes), Flops(part.flops), Bytes()};
}

// Whether the matrix is a stage. What models::attention_alone leaves of matrices, of one row or one column, is computed
// by another device.
bool is_stage(const Matrix& matrix) { return std::min(matrix.k, matrix.n) > 1; }

// Whether the attention is one: not where each token attends to itself alone, as models::without_context leaves it for
// a device whose attention is computed by another one.
bool attends(const LayerShape& layer) { return layer.window != 1; }

// The stages of a layer, as placement.hpp has them: what each holds, and what each has to do.
std::vector<Bytes> stage_weights(const LayerShape& layer) {
  std::vector<Bytes> weights;
  if (attends(layer)) weights.emplace_back();
  for (const auto& matrix : layer.common.matrices)
    if (is_stage(matrix)) weights.push_back(matrix.bytes());
  for (const auto& matrix : layer.expert.matrices)
    if (is_stage(matrix)) weights.push_back(layer.experts_per_token * matrix.bytes());
  return weights;
}

std::vector<double> stage_work(const LayerShape& layer, const LayerLoad& load, double tokens) {
  std::vector<double> work;
  if (attends(layer)) work.push_back(load.prefill.flops + load.decode.flops);
  const auto products = [&work](const MatrixSet& set, double rows) {
    for (const auto& matrix : set.matrices)
      if (is_stage(matrix)) work.push_back(2 * rows * static_cast<double>(matrix.k) * static_cast<double>(matrix.n));
  };
  products(layer.common, tokens);
  products(layer.expert, load.expert_rows);
  return work;
}

// What one socket sends of a token in all layers.
Bytes sent_per_token(const models::ModelSpec& model, const models::ParallelPlan& plan,
                     const models::ExpertCoverage& coverage) {
  Bytes sent;
  for (const auto& op : models::token_work(model, plan, 0, 1, coverage))
    if (const auto* collective = std::get_if<models::Collective>(&op.what)) sent += op.count * moved(*collective);
  return sent;
}

}  // namespace

DataflowStepModel::DataflowStepModel(DataflowDevice socket, const models::ModelSpec& model,
                                     const models::ParallelPlan& plan, const models::ExpertCoverage& coverage)
    : socket_(std::move(socket)), shape_(model, coverage),
      padded_(socket_.shapes, *socket_.fabric.tile_tokens, models::kv_laws(model)), sockets_(plan.tensor),
      groups_(plan.pipeline), weights_held_(models::memory_need(model, {}, 1, 1).weights),
      sent_per_layer_(sent_per_token(model, {plan.tensor}, coverage) / model.layers()),
      hidden_state_(static_cast<double>(model.hidden) * models::hidden_format(model.precision).bytes) {
  for (const LayerShape& layer : shape_.layers)
    sections_.push_back(sections_of(stage_weights(layer), socket_.fabric, socket_.tiers, sockets_));
  head_sections_ = sections_of({shape_.head.bytes}, socket_.fabric, socket_.tiers, sockets_);
  calls_ = 1;
  if (socket_.hardware_loop) return;
  calls_ = static_cast<double>(head_sections_);
  for (std::size_t i = 0; i < sections_.size(); ++i)
    calls_ += shape_.layers[i].count * static_cast<double>(sections_[i]);
}

DataflowStepModel::Loads DataflowStepModel::layer_loads(const LayerShape& layer, const LayerLoad& work,
                                                        double tokens) const {
  Loads loads;
  loads[family_index(OperatorFamily::gemm)] = products(layer.common, 1, tokens);
  loads[family_index(OperatorFamily::grouped_gemm)] = products(layer.expert, work.experts_touched, work.expert_rows);
  loads[family_index(OperatorFamily::prefill_attention)] = attention(layer, work.prefill);
  loads[family_index(OperatorFamily::decode_attention)] = attention(layer, work.decode);
  loads[family_index(OperatorFamily::collective)].sent = tokens * sent_per_layer_;
  return loads;
}

DataflowStepModel::Loads DataflowStepModel::head_loads(const models::Batch& batch) const {
  Loads loads;
  SectionLoad& gemm = loads[family_index(OperatorFamily::gemm)];
  gemm = products(shape_.head, 1, static_cast<double>(batch.logit_rows()));
  if (socket_.streams_embedding) gemm.weights += shape_.embedding;
  return loads;
}

bool DataflowStepModel::resident(const models::Batch& batch) const {
  // Sequences that share blocks are read one by one, and padding is read as what it pads: more may be read than is
  // held.
  if (*socket_.tiers.hbm == Bytes()) return true;
  const int sockets = sockets_ * groups_;
  if (!sram_resident(socket_.tiers, weights_held_, sockets)) return false;
  Bytes held = weights_held_;
  for (const LayerShape& layer : shape_.layers) {
    const LayerLoad work = shape_.load(layer, batch);
    held += Bytes(layer.count * layer.kv_bytes * (work.prefill.keys + work.decode.keys));
  }
  return sram_resident(socket_.tiers, held, sockets);
}

void DataflowStepModel::add(StepPhases& phases, const Loads& loads, double count, std::int64_t sections,
                            const SectionRun& run) const {
  SectionLoad whole;
  for (const SectionLoad& load : loads) whole += load;
  const SectionTimes t = section_times(socket_.fabric, socket_.tiers, whole, run);
  const Seconds longest = through_groups(whole, run, t.longest());
  const Seconds time = count * (longest + static_cast<double>(sections) * *socket_.fabric.fill);

  const Bound bound = count * longest < kFilled * time ? Bound::overhead
                      : t.memory == t.longest()        ? Bound::memory
                      : t.compute == t.longest()       ? Bound::arithmetic
                                                       : Bound::links;
  const DataflowEnergy& e = socket_.energy;
  const bool from_hbm = !run.resident && *socket_.tiers.hbm > Bytes();
  const double layers = count / groups_;  // that one socket has a part of
  for (std::size_t f = 0; f < loads.size(); ++f) {
    const SectionLoad& load = loads[f];
    Phase& phase = phases.of(f);
    const Seconds some = time * share(load, whole, t);
    if (some > phase.time) phase.bound = bound;
    phase.time += some;
    const Bytes read = load.weights + load.kv;
    phase.energy_of(EnergyComponent::compute) += count * load.flops * *e.compute;
    phase.energy_of(EnergyComponent::on_chip) += count * read * *e.sram;
    phase.energy_of(EnergyComponent::interconnect) += count * sockets_ * load.sent * *e.link;
    phase.busy_of(Resource::arithmetic) += layers * load.flops / sockets_ / *socket_.fabric.peak;
    phase.busy_of(Resource::links) += layers * load.sent / *socket_.fabric.link_bandwidth;
    if (!from_hbm) continue;
    phase.energy_of(EnergyComponent::memory) += count * read * *e.hbm;
    phase.bytes += layers * read / sockets_;
    phase.busy_of(Resource::memory) += layers * read / sockets_ / *socket_.tiers.hbm_bandwidth;
  }
  phases.flops += layers * whole.flops / sockets_;
}

Seconds DataflowStepModel::through_groups(const SectionLoad& all, const SectionRun& run, Seconds in_turn) const {
  if (groups_ == 1) return in_turn;
  SectionRun one = run;
  one.tiles = 1;
  const double part = 1 / run.tiles;
  // A section has its weights before it sends the first tile on, whichever of them that one needs.
  const Seconds first =
      section_times(socket_.fabric, socket_.tiers, {all.weights, part * all.kv, part * all.flops, part * all.sent}, one)
          .longest();
  return first + (in_turn - first) / groups_;
}

void DataflowStepModel::finish(StepPhases& phases, double tokens) const {
  const Seconds sections = phases.time();
  const Seconds device = (sections + calls_ * *socket_.call) / groups_;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)  // calls are part of every family's time
    if (phases.has(f)) phases.of(f).time *= device / sections;
  if (groups_ == 1) return;
  const Bytes crossing = tokens * hidden_state_;
  Phase& hops = phases.of(OperatorFamily::collective);
  hops.time += *socket_.fabric.hop + crossing / padded_.tiles() / sockets_ / *socket_.fabric.link_bandwidth;
  hops.busy_of(Resource::links) += crossing / sockets_ / *socket_.fabric.link_bandwidth;
  hops.bound = Bound::links;
  hops.energy_of(EnergyComponent::interconnect) += groups_ * crossing * *socket_.energy.link;
}

StepPhases DataflowStepModel::phases(const models::Batch& batch) {
  StepPhases phases;
  if (batch.tokens() == 0) return phases;
  const models::Batch& padded = padded_.pad(batch);
  const auto tokens = static_cast<double>(padded.tokens());
  SectionRun run{sockets_, padded_.tiles(), resident(padded)};
  for (std::size_t i = 0; i < shape_.layers.size(); ++i) {
    const LayerShape& layer = shape_.layers[i];
    const LayerLoad work = shape_.load(layer, padded);
    run.balance = stage_balance(stage_work(layer, work, tokens), socket_.fabric, sections_[i]);
    add(phases, layer_loads(layer, work, tokens), layer.count, sections_[i], run);
    if (layer.experts > 0) phases.of(OperatorFamily::grouped_gemm).time += layer.count * *socket_.fabric.routed_layer;
  }
  run.balance = 1;
  if (padded.logit_rows() > 0 && shape_.head.weights > 0) add(phases, head_loads(padded), 1, head_sections_, run);
  finish(phases, tokens);
  return phases;
}

}  // namespace llmscape::hardware
