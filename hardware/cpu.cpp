// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu.hpp"

#include "hardware/step_tables.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

constexpr double kActivationBytes = 2;
constexpr double kLogitBytes = 4;

// Adds an operator of each kind to a part.
struct CpuPricer {
  const Cpu& cpu;
  PartCost& part;
  int count;

  void roofline(OperatorFamily family, Flops flops, FlopsPerSecond rate, Bytes bytes) const {
    part.add(family, {std::max(flops / rate, bytes / *cpu.bandwidth), flops, flops, bytes}, count);
  }
  void stream(OperatorFamily family, double bytes) const { roofline(family, Flops(), *cpu.thread_rate, Bytes(bytes)); }
  void attention(OperatorFamily family, double flops, double bytes) const {
    roofline(family, Flops(flops), cpu.attention_efficiency * static_cast<double>(cpu.threads) * *cpu.thread_rate,
             Bytes(bytes));
  }

  void operator()(const models::Gemm& g) const { part.add(OperatorFamily::gemm, cpu.product_cost(g), count); }
  void operator()(const models::GroupedGemm& g) const {
    const models::Gemm all{g.rows, g.n, g.k, g.weights, g.activations};
    part.add(OperatorFamily::grouped_gemm, cpu.product_cost(all, std::max(1.0, g.experts_touched)), count);
  }
  void operator()(const models::PrefillAttention& a) const {
    const double widths = a.head_dim + (a.mla ? a.v_dim : a.head_dim);
    double pairs = 0, keys = 0, queries = 0;
    for (const models::PrefillChunk& chunk : a.chunks) {
      pairs += models::windowed_pairs(chunk.tokens, chunk.cached, a.window);
      keys += static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, a.window));
      queries += static_cast<double>(chunk.tokens);
    }
    attention(OperatorFamily::prefill_attention, 2 * a.heads * widths * pairs,
              keys * a.kv_heads * widths * a.kv.bytes_with_scales() + queries * a.heads * widths * kActivationBytes);
  }
  void operator()(const models::DecodeAttention& a) const {
    const double score_width = a.mla ? a.kv_rank + a.rope_dim : a.head_dim;
    const double value_width = a.mla ? a.kv_rank : a.head_dim;
    const double stored = a.mla ? score_width : score_width + value_width;
    const double entries = static_cast<double>(a.attended.sum), queries = static_cast<double>(a.tokens_per_sequence);
    attention(OperatorFamily::decode_attention, 2 * a.heads * (score_width + value_width) * entries * queries,
              entries * a.kv_heads * stored * a.kv.bytes_with_scales());
  }
  void operator()(const models::Elementwise& e) const { stream(OperatorFamily::elementwise, e.bytes); }
  void operator()(const models::Copy& c) const { stream(OperatorFamily::elementwise, c.bytes); }
  void operator()(const models::Sample& s) const {
    stream(OperatorFamily::sampling, kLogitBytes * static_cast<double>(s.rows) * static_cast<double>(s.vocabulary));
  }
  void operator()(const models::Collective&) const {}  // problems() refuses plans that have any
};

class CpuStepModel final : public StepModel {
 public:
  CpuStepModel(const Cpu& cpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Device::Settings& settings)
      : cpu_(cpu), model_(model), plan_(plan),
        tables_(model, plan, settings.coverage, [this](const auto& operators) { return priced(operators); }) {}
  CpuStepModel(const CpuStepModel&) = delete;  // the tables price through it
  CpuStepModel& operator=(const CpuStepModel&) = delete;

  StepCost step(const models::Batch& batch) override {
    PartCost part;
    const std::int64_t chunk_tokens = batch.prefill_tokens(), decode_tokens = batch.decodes * batch.tokens_per_decode;
    if (chunk_tokens + decode_tokens > 0) {
      part += tables_.token_part(chunk_tokens, decode_tokens);
      part += tables_.logit_part(batch.logit_rows());
      part += priced(models::attention_work(model_, plan_, batch));
    }
    const auto requests = static_cast<double>(batch.decodes) + static_cast<double>(batch.chunks.size());
    const PowerModel power{*cpu_.compute_energy, *cpu_.memory_energy, JoulesPerByte(), *cpu_.tdp, *cpu_.idle};
    return step_cost(part, *cpu_.per_step + requests * *cpu_.per_request, power, plan_.devices());
  }

 private:
  [[nodiscard]] PartCost priced(const std::vector<models::Operator>& operators) const {
    PartCost part;
    for (const auto& op : operators) std::visit(CpuPricer{cpu_, part, op.count}, op.what);
    return part;
  }

  Cpu cpu_;
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  StepTables tables_;
};

}  // namespace

KernelCost Cpu::product_cost(const models::Gemm& g, double matrices) const {
  const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  const Flops flops(2 * m * n * k), paid(2 * (m + matrices * overhead_rows) * n * k);
  const Bytes bytes(matrices * n * k * g.weights.bytes_with_scales() + m * (n + k) * g.activations.bytes);
  return {std::max(paid / (static_cast<double>(threads) * *thread_rate), bytes / *bandwidth), flops, flops, bytes};
}

std::vector<std::string> Cpu::problems(const models::ModelSpec&, const models::ParallelPlan& plan) const {
  if (plan.devices() == 1) return {};
  return {"a CPU runs a model alone: tensor, pipeline and data parallelism have to be 1"};
}

std::array<Tag, kOperatorFamilies> Cpu::provenance() const {
  std::array<Tag, kOperatorFamilies> tags;
  tags.fill(weaker(thread_rate.tag, bandwidth.tag));
  tags[static_cast<std::size_t>(OperatorFamily::prefill_attention)] = Tag::assumed;
  tags[static_cast<std::size_t>(OperatorFamily::decode_attention)] = Tag::assumed;
  tags[static_cast<std::size_t>(OperatorFamily::host)] = weaker(per_step.tag, per_request.tag);
  return tags;
}

std::unique_ptr<StepModel> Cpu::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                     const Settings& settings) const {
  return std::make_unique<CpuStepModel>(*this, model, plan, settings);
}

const Fields<Cpu>& cpu_fields() {
  static const Fields<Cpu> fields = [] {
    Fields<Cpu> f("cpu", "processor cores with prepacked matrix kernels");
    add_common_fields(f);
    f.add("threads", &Cpu::threads, "threads that compute").required().at_least(1);
    f.add("thread_rate", &Cpu::thread_rate, "rate of one thread in large products").required().above(0);
    f.add("overhead_rows", &Cpu::overhead_rows, "rows of work that a product of few rows pays on top")
        .required()
        .at_least(0);
    f.add("attention_efficiency", &Cpu::attention_efficiency, "share of the rate in scores and values")
        .required()
        .above(0)
        .at_most(1);
    f.add("bandwidth", &Cpu::bandwidth, "memory bandwidth of all threads").required().above(0);
    f.add("capacity", &Cpu::capacity, "memory for weights, KV and activations").required().above(0);
    f.add("tdp", &Cpu::tdp, "power limit").required().above(0);
    f.add("idle_power", &Cpu::idle, "power when idle").required().at_least(0);
    f.add("per_step", &Cpu::per_step, "scheduling of a step").required().at_least(0);
    f.add("per_request", &Cpu::per_request, "for each request in the step").required().at_least(0);
    f.add("compute_energy", &Cpu::compute_energy, "dynamic energy of work").required().at_least(0);
    f.add("memory_energy", &Cpu::memory_energy, "dynamic energy of memory traffic").required().at_least(0);
    f.check([](const Cpu& cpu, const YamlNode& node, Diagnostics& diagnostics) {
      if (*cpu.idle >= *cpu.tdp) diagnostics.error(node.where, "idle_power is not below tdp");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
