// SPDX-License-Identifier: Apache-2.0
#include "hardware/cpu.hpp"

#include "hardware/power_cap.hpp"
#include "hardware/step_tables.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

// Adds an operator of each kind to a part.
struct CpuPricer {
  const Cpu& cpu;
  PartCost& part;
  double count;

  void operator()(const models::Gemm& g) const {
    add(OperatorFamily::gemm, product_cost(cpu.products, cpu.threads, g));
  }
  void operator()(const models::GroupedGemm& g) const {
    const models::Gemm all{g.rows, g.n, g.k, g.weights, g.activations};
    const double experts = std::max(1.0, g.experts_touched);
    add(OperatorFamily::grouped_gemm, product_cost(cpu.products, cpu.threads, all, experts));
  }
  void operator()(const models::PrefillAttention& a) const {
    add(OperatorFamily::prefill_attention, attention_cost(cpu.prefill_attention, cpu.threads, a));
  }
  void operator()(const models::DecodeAttention& a) const {
    add(OperatorFamily::decode_attention, attention_cost(cpu.decode_attention, cpu.threads, a));
  }
  void operator()(const models::IndexScores& s) const {
    add(s.chunks.empty() ? OperatorFamily::decode_attention : OperatorFamily::prefill_attention,
        index_cost(cpu.decode_attention, cpu.threads, s));
  }
  void operator()(const models::StateUpdate& u) const {
    add(u.scan ? OperatorFamily::prefill_attention : OperatorFamily::decode_attention,
        state_cost(cpu.decode_attention, cpu.threads, u));
  }
  void operator()(const models::Elementwise& e) const { stream(OperatorFamily::elementwise, e); }
  void operator()(const models::Copy& c) const { stream(OperatorFamily::elementwise, c); }
  void operator()(const models::Sample& s) const { stream(OperatorFamily::sampling, s); }
  void operator()(const models::Collective&) const {}  // problems() refuses plans that have any

 private:
  void add(OperatorFamily family, const KernelCost& cost) const {
    part.add(family, cost, cost.bf16_flops * *cpu.compute_energy, count);
  }
  template <class Operator>
  void stream(OperatorFamily family, const Operator& op) const {
    add(family, elementwise_cost(cpu.elementwise, cpu.threads, op));
  }
};

class CpuStepModel final : public StepModel {
 public:
  CpuStepModel(const Cpu& cpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Device::Settings& settings)
      : cpu_(cpu), model_(model), plan_(plan),
        tables_(model, plan, settings, [this](const auto& operators) { return priced(operators); }) {}
  CpuStepModel(const CpuStepModel&) = delete;  // the tables price through it
  CpuStepModel& operator=(const CpuStepModel&) = delete;

  StepPhases phases(const models::Batch& batch) override {
    PartCost part;
    const std::int64_t chunk_tokens = batch.prefill_tokens(), decode_tokens = batch.decode_tokens();
    if (chunk_tokens + decode_tokens > 0) {
      part += tables_.token_part(chunk_tokens, decode_tokens, batch);
      if (batch.adapters > 0) part += tables_.adapter_part(chunk_tokens + decode_tokens, batch.adapters);
      tables_.add_logits(part, batch);
      tables_.add_states(part, batch);
      part += priced(models::attention_work(model_, plan_, batch));
      tables_.add_execution(part, batch);
    }
    const PowerModel power{Watts(), *cpu_.memory_energy, JoulesPerByte()};
    const Rates rates{static_cast<double>(cpu_.threads) * cpu_.products.rate, cpu_.products.bandwidth};
    return phases_of(part, rates, power, plan_.devices());
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

std::vector<std::string> Cpu::problems(const models::ModelSpec&, const models::ParallelPlan& plan) const {
  if (plan.all_devices() == 1) return {};
  return {"a CPU runs a model alone: tensor, pipeline and data parallelism have to be 1"};
}

std::array<Tag, kOperatorFamilies> Cpu::provenance() const {
  return {products.tag,    products.tag, prefill_attention.tag, decode_attention.tag,
          elementwise.tag, Tag::assumed, elementwise.tag,       weaker(per_step.tag, per_request.tag)};
}

Spreads Cpu::spreads(const models::ModelSpec& model, const models::ParallelPlan& plan, const Settings& settings) const {
  Spreads all = Device::spreads(model, plan, settings);
  const auto know = [&all](OperatorFamily family, const Fit& fit) {
    all[static_cast<std::size_t>(family)] = spread_of(fit.tag, fit.residuals);
  };
  know(OperatorFamily::gemm, products);
  know(OperatorFamily::grouped_gemm, products);
  know(OperatorFamily::prefill_attention, prefill_attention);
  know(OperatorFamily::decode_attention, decode_attention);
  know(OperatorFamily::elementwise, elementwise);
  know(OperatorFamily::sampling, elementwise);
  return all;
}

std::unique_ptr<StepModel> Cpu::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                     const Settings& settings) const {
  const auto at_clock = [cpu = *this, model, plan, settings](double share) -> std::unique_ptr<StepModel> {
    Cpu clocked = cpu;
    clocked.compute_energy.value *= energy_of_operation(share);
    for (FlopsPerSecond* rate :
         {&clocked.products.rate, &clocked.prefill_attention.rate, &clocked.decode_attention.rate})
      *rate *= share;
    return std::make_unique<CpuStepModel>(clocked, model, plan, settings);
  };
  return under_power_limit(at_clock, limit() - *idle, plan.devices());
}

std::vector<HostDriven> Cpu::hosts(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  HostParameters host;
  host.per_step = *per_step;
  host.per_request = *per_request;
  return {{host, false, model, plan}};
}

const Fields<Cpu>& cpu_fields() {
  static const Fields<Cpu> fields = [] {
    Fields<Cpu> f("cpu", "processor cores with prepacked matrix kernels");
    add_common_fields(f);
    f.add("threads", &Cpu::threads, "threads that compute").required().at_least(1);
    f.add_group("gemm", &Cpu::products, cpu_products_fields(), "GEMMs").required();
    f.add_group("prefill_attention", &Cpu::prefill_attention, cpu_attention_fields(), "attention of prompt chunks")
        .required();
    f.add_group("decode_attention", &Cpu::decode_attention, cpu_attention_fields(), "attention of decodes").required();
    f.add_group("elementwise", &Cpu::elementwise, cpu_elementwise_fields(), "kernels that read and write rows")
        .required();
    f.add("capacity", &Cpu::capacity, "memory for weights, KV and activations").required().above(0);
    add_power_fields(f);
    f.add("per_step", &Cpu::per_step, "scheduling of a step").required().at_least(0);
    f.add("per_request", &Cpu::per_request, "for each request in the step").required().at_least(0);
    f.add("compute_energy", &Cpu::compute_energy, "dynamic energy of work").required().at_least(0);
    f.add("memory_energy", &Cpu::memory_energy, "dynamic energy of memory traffic").required().at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
