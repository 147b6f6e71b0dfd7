// SPDX-License-Identifier: Apache-2.0
#include "hardware/table/table_step_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace llmscape::hardware {
namespace {

enum class Layers { all, dense, some };  // that run the entry; some: only those of models that have it

// How often a step calls what dense.csv times.
struct DenseEntry {
  std::string_view name;
  OperatorFamily family;
  Layers where;
  int calls;  // of each layer; 0: once in the step
};
constexpr std::array kDenseEntries = {
    DenseEntry{"qkv_proj", OperatorFamily::gemm, Layers::all, 1},
    DenseEntry{"o_proj", OperatorFamily::gemm, Layers::all, 1},
    DenseEntry{"gate_up_proj", OperatorFamily::gemm, Layers::dense, 1},
    DenseEntry{"down_proj", OperatorFamily::gemm, Layers::dense, 1},
    DenseEntry{"act_fn", OperatorFamily::elementwise, Layers::dense, 1},
    DenseEntry{"layernorm", OperatorFamily::elementwise, Layers::all, 2},
    DenseEntry{"rotary_emb", OperatorFamily::elementwise, Layers::all, 1},
    DenseEntry{"qk_norm", OperatorFamily::elementwise, Layers::some, 1},
    DenseEntry{"embedding", OperatorFamily::elementwise, Layers::all, 0},
    DenseEntry{"final_layernorm", OperatorFamily::elementwise, Layers::all, 0},
};

bool routed(const models::ModelSpec& model) { return model.groups.front().feed_forward.routed(); }

bool needs(const models::ModelSpec& model, const DenseEntry& entry) {
  if (entry.where == Layers::some) return model.groups.front().softmax().qk_norm;
  return entry.where == Layers::all || !routed(model);
}

Grid grid_of(const std::vector<traces::LayerTables::Count>& counts) {
  Grid grid;
  for (const auto& row : counts) grid.add(std::array{static_cast<double>(row.count)}, row.time.si());
  return grid;
}

// All entries of the family, as often as a step calls them: exact, since a sum of lines is a line between the points of
// all of them.
Grid sum_of(const traces::LayerTables& tables, const models::ModelSpec& model, OperatorFamily family) {
  std::vector<std::pair<int, Grid>> parts;
  std::set<double> points;
  for (const DenseEntry& entry : kDenseEntries) {
    if (entry.family != family || !needs(model, entry)) continue;
    const Grid& grid = parts
                           .emplace_back(entry.calls > 0 ? entry.calls * model.layers() : 1,
                                         grid_of(tables.dense.at(std::string(entry.name))))
                           .second;
    for (const double x : grid.firsts()) points.insert(x);
  }
  Grid sum;
  for (const double x : points) {
    double seconds = 0;
    for (const auto& [calls, grid] : parts) seconds += calls * grid.at(std::array{x});
    sum.add(std::array{x}, seconds);
  }
  return sum;
}

Grid grid_of(const std::vector<traces::LayerTables::Experts>& rows) {
  Grid grid;
  for (const auto& row : rows)
    grid.add(std::array{static_cast<double>(row.tokens), static_cast<double>(row.experts)}, row.time.si());
  return grid;
}

PartCost collectives_of(const Links& links, const std::vector<models::Operator>& operators) {
  PartCost part;
  for (const models::Operator& op : operators)
    if (const auto* collective = std::get_if<models::Collective>(&op.what))
      part.add(OperatorFamily::collective, {collective_time(links, *collective), Flops(), Flops(), Bytes()}, Joules(),
               op.count);
  return part;
}

}  // namespace

std::vector<std::string> TableStepModel::missing(const traces::LayerTables& tables, const models::ModelSpec& model) {
  std::vector<std::string> missing;
  const auto require = [&](bool there, std::string_view what) {
    if (!there) missing.push_back(fmt::format("the tables have no {}", what));
  };
  for (const DenseEntry& entry : kDenseEntries)
    if (needs(model, entry)) require(tables.dense.contains(std::string(entry.name)), entry.name);
  for (const char* entry : {"lm_head", "sampler"}) require(tables.per_sequence.contains(entry), entry);
  if (routed(model)) require(!tables.experts.empty(), "expert block (moe.csv)");
  using Row = traces::LayerTables::Attention;
  const auto any = [&](auto&& kind) { return std::ranges::any_of(tables.attention, kind); };
  require(any([](const Row& row) { return row.chunk == 0 && row.decodes > 0; }), "attention of decodes");
  require(any([](const Row& row) { return row.chunk > 0 && row.decodes == 0; }), "attention of prompt chunks");
  require(any([](const Row& row) { return row.chunk > 0 && row.decodes > 0; }), "attention of chunks beside decodes");
  return missing;
}

TableStepModel::TableStepModel(const TableDevice& device, const traces::LayerTables& tables,
                               const models::ModelSpec& model, const models::ParallelPlan& plan,
                               const Device::Settings& settings)
    : device_(device), model_(model), plan_(plan), shape_(model, settings.coverage),
      products_(sum_of(tables, model, OperatorFamily::gemm)),
      streams_(sum_of(tables, model, OperatorFamily::elementwise)), head_(grid_of(tables.per_sequence.at("lm_head"))),
      sampler_(grid_of(tables.per_sequence.at("sampler"))), experts_(grid_of(tables.experts)), attention_(tables),
      collectives_(model, plan, settings,
                   [this](const auto& operators) { return collectives_of(device_.links, operators); }) {}

StepPhases TableStepModel::phases(const models::Batch& batch) {
  StepPhases phases;
  const auto family = [&phases](OperatorFamily f) -> Seconds& { return phases.of(f).time; };
  const std::int64_t prompt_tokens = batch.prefill_tokens(), decode_tokens = batch.decode_tokens();
  if (prompt_tokens + decode_tokens > 0) {
    const std::int64_t computed = prompt_tokens + decode_tokens + batch.padding;
    const auto tokens = static_cast<double>(computed);
    // The engine takes logits of every sequence, unfinished prompts included, and of each of its drafts.
    const auto rows = static_cast<double>(decode_tokens) + static_cast<double>(batch.chunks.size());
    family(OperatorFamily::gemm) = look_up(products_, {tokens}, OperatorFamily::gemm);
    family(OperatorFamily::elementwise) = look_up(streams_, {tokens}, OperatorFamily::elementwise);
    if (model_.vocabulary > 0) {
      family(OperatorFamily::gemm) += look_up(head_, {rows}, OperatorFamily::gemm);
      family(OperatorFamily::sampling) = look_up(sampler_, {rows}, OperatorFamily::sampling);
    }
    if (routed(model_)) {
      const double touched = shape_.load(shape_.layers.front(), batch).experts_touched;
      family(OperatorFamily::grouped_gemm) =
          model_.layers() * look_up(experts_, {tokens, touched}, OperatorFamily::grouped_gemm);
    }
    const AttentionTables::Time attention = attention_.at(batch);
    family(OperatorFamily::prefill_attention) = Seconds(model_.layers() * attention.prefill);
    family(OperatorFamily::decode_attention) = Seconds(model_.layers() * attention.decode);
    if (!attention_.covers(batch)) note(OperatorFamily::decode_attention, attention_.range());
    else if (decode_tokens > batch.decodes) note(OperatorFamily::decode_attention, "to one token of a sequence");
    family(OperatorFamily::collective) =
        collectives_.token_part(prompt_tokens, computed - prompt_tokens, {})
            .by_family[static_cast<std::size_t>(OperatorFamily::collective)] +
        collectives_.logit_part(batch.logit_rows()).by_family[static_cast<std::size_t>(OperatorFamily::collective)];
  }
  const Watts dynamic = plan_.devices() * (*device_.busy - *device_.idle);
  add_work(phases, batch);
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)
    if (phases.has(f)) phases.of(f).energy_of(EnergyComponent::active) = dynamic * phases.at(f).time;
  return phases;
}

Seconds TableStepModel::look_up(const Grid& grid, std::initializer_list<double> point, OperatorFamily family) {
  const std::span<const double> at(point.begin(), point.size());
  if (!grid.covers(at)) note(family, fmt::format("to {}", fmt::join(grid.largest(), " and ")));
  return Seconds(grid.at(at));
}

void TableStepModel::note(OperatorFamily family, std::string_view range) {
  std::string& text = outside_[static_cast<std::size_t>(family)];
  if (text.empty()) text = range;
}

// What the step would have to move and compute; the times know nothing of it.
void TableStepModel::add_work(StepPhases& phases, const models::Batch& batch) const {
  const double tokens = static_cast<double>(batch.tokens()), rows = static_cast<double>(batch.logit_rows());
  struct Work {
    double flops = 0, bytes = 0;
  };
  std::array<Work, kOperatorFamilies> all{};
  const auto add = [&all](OperatorFamily family, double flops, double bytes) {
    Work& work = all[static_cast<std::size_t>(family)];
    work.flops += flops;
    work.bytes += bytes;
  };
  add(OperatorFamily::gemm, 2 * rows * shape_.head.weights, shape_.head.bytes.si());
  for (const LayerShape& layer : shape_.layers) {
    const LayerLoad load = shape_.load(layer, batch);
    const double prefill_entries = load.prefill.keys + load.prefill.tokens;
    add(OperatorFamily::gemm, layer.count * 2 * tokens * layer.common.weights, layer.count * layer.common.bytes.si());
    add(OperatorFamily::grouped_gemm, layer.count * 2 * load.expert_rows * layer.expert.weights,
        layer.count * load.experts_touched * layer.expert.bytes.si());
    add(OperatorFamily::prefill_attention, layer.count * load.prefill.flops,
        layer.count * prefill_entries * layer.kv_bytes);
    add(OperatorFamily::decode_attention, layer.count * load.decode.flops,
        layer.count * load.decode.keys * layer.kv_bytes);
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    Phase& phase = phases.of(f);
    const Flops flops(all[f].flops / plan_.tensor);
    phase.bytes = Bytes(all[f].bytes / plan_.tensor);
    if (device_.peak_bf16) phase.busy_of(Resource::arithmetic) = flops / **device_.peak_bf16;
    if (device_.memory_bandwidth) phase.busy_of(Resource::memory) = phase.bytes / **device_.memory_bandwidth;
    phase.bound = bound_of(phase.time, phase.busy);
    phases.flops += flops;
  }
  Phase& collective = phases.of(OperatorFamily::collective);
  collective.bound = Bound::links;
  collective.busy_of(Resource::links) = collective.time;
}

std::vector<std::string> TableStepModel::range_warnings() const {
  std::vector<std::string> out;
  for (std::size_t family = 0; family < outside_.size(); ++family)
    if (!outside_[family].empty())
      out.push_back(fmt::format("{} of {} left its tables, which go {}: extrapolated in a straight line",
                                kOperatorFamilyNames[family], device_.name, outside_[family]));
  return out;
}

}  // namespace llmscape::hardware
