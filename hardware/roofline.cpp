// SPDX-License-Identifier: Apache-2.0
#include "hardware/roofline.hpp"

#include <algorithm>
#include <utility>

#include "hardware/operator_load.hpp"
#include "hardware/power_cap.hpp"
#include "hardware/step_tables.hpp"

namespace llmscape::hardware {
namespace {

bool is_attention(OperatorFamily family) {
  return family == OperatorFamily::prefill_attention || family == OperatorFamily::decode_attention;
}

void add_operator(PartCost& part, const Roofline& device, const models::Operator& op) {
  if (const auto* collective = std::get_if<models::Collective>(&op.what)) {
    part.add(OperatorFamily::collective, {collective_time(*device.links, *collective), {}, {}, {}}, Joules(), op.count);
    part.link_bytes += op.count * average_moved(*collective);
    part.link_wait += op.count * average_wait(*device.links, *collective);
    return;
  }
  const OperatorLoad load = load_of(op.what);
  if (load.flops <= 0 && load.bytes <= 0) return;
  const FlopsPerSecond peak = device.peak(load.weights, load.activations);
  const double efficiency = is_attention(load.family) ? *device.attention_efficiency : *device.compute_efficiency;
  const Seconds time = std::max(Flops(load.flops) / (efficiency * peak),
                                Bytes(load.bytes) / (*device.memory_efficiency * *device.memory_bandwidth));
  const OperatorLoad spent = average_load_of(op.what);
  const Flops flops(spent.flops);
  const Flops bf16_flops = flops * (*device.peak_bf16 / peak);
  part.add(load.family, {*device.per_operator + time, flops, bf16_flops, Bytes(spent.bytes)},
           bf16_flops * *device.compute_energy, op.count);
}

class RooflineStepModel final : public StepModel {
 public:
  RooflineStepModel(Roofline device, models::ModelSpec model, const models::ParallelPlan& plan,
                    const Device::Settings& settings)
      : device_(std::move(device)), model_(std::move(model)), plan_(plan),
        tables_(model_, plan, settings, [this](const auto& operators) { return priced(operators); }) {}
  RooflineStepModel(const RooflineStepModel&) = delete;  // the tables price through it
  RooflineStepModel& operator=(const RooflineStepModel&) = delete;

  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    return accuracy_warning(device_.name, device_.accuracy);
  }

  StepPhases phases(const models::Batch& batch) override {
    PartCost part;
    const std::int64_t tile = device_.prompt_tile;
    const std::int64_t chunk_tokens = (batch.prefill_tokens() + tile - 1) / tile * tile;
    const std::int64_t decode_tokens = batch.decode_tokens();
    if (chunk_tokens + decode_tokens > 0) {
      part += tables_.token_part(chunk_tokens, decode_tokens, batch);
      if (batch.adapters > 0) part += tables_.adapter_part(chunk_tokens + decode_tokens, batch.adapters);
      tables_.add_logits(part, batch);
      tables_.add_states(part, batch);
      part += priced(models::attention_work(model_, plan_, batch));
      tables_.add_execution(part, batch);
    }
    const PowerModel power{Watts(), *device_.memory_energy, *device_.link_energy};
    const Rates rates{*device_.peak_bf16, *device_.memory_bandwidth};
    return phases_of(part, rates, power, plan_.devices());
  }

 private:
  [[nodiscard]] PartCost priced(const std::vector<models::Operator>& operators) const {
    PartCost part;
    for (const models::Operator& op : operators) add_operator(part, device_, op);
    return part;
  }

  Roofline device_;
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  StepTables tables_;
};

}  // namespace

std::vector<std::string> Roofline::problems(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  std::vector<std::string> all = weights_too_large(*this, model, plan);
  if (!links && plan.all_devices() > 1)
    all.push_back("'" + name +
                  "' has no links: tensor, pipeline, expert and data parallelism have to be 1, or the device "
                  "needs `links: {bandwidth: ..., latency: ...}`");
  return all;
}

std::array<Tag, kOperatorFamilies> Roofline::provenance() const {
  const Tag streams = weaker(memory_efficiency.tag, memory_bandwidth.tag);
  const auto with = [&](Tag efficiency) { return weaker(streams, weaker(efficiency, peak_bf16.tag)); };
  std::array<Tag, kOperatorFamilies> tags;
  tags.fill(with(compute_efficiency.tag));
  const auto tag_of = [&tags](OperatorFamily family) -> Tag& { return tags[static_cast<std::size_t>(family)]; };
  tag_of(OperatorFamily::prefill_attention) = tag_of(OperatorFamily::decode_attention) = with(attention_efficiency.tag);
  tag_of(OperatorFamily::elementwise) = tag_of(OperatorFamily::sampling) = streams;
  tag_of(OperatorFamily::collective) = links ? hardware::provenance(*links) : Tag::assumed;
  tag_of(OperatorFamily::host) = weaker(per_step.tag, per_request.tag);
  return tags;
}

std::unique_ptr<StepModel> Roofline::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                          const Settings& settings) const {
  const auto at_clock = [device = *this, model, plan, settings](double share) -> std::unique_ptr<StepModel> {
    Roofline clocked = device;
    clocked.clock *= share;
    clocked.scale_peaks();
    clocked.compute_energy.value *= energy_of_operation(clocked.clock);
    return std::make_unique<RooflineStepModel>(std::move(clocked), model, plan, settings);
  };
  return under_power_limit(at_clock, limit() - *idle, plan.devices());
}

std::vector<HostDriven> Roofline::hosts(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  HostParameters host;
  host.per_step = *per_step;
  host.per_request = *per_request;
  return {{host, false, model, plan}};
}

const Fields<Roofline>& roofline_fields() {
  static const Fields<Roofline> fields = [] {
    using P = Roofline;
    Fields<P> f("roofline", "an accelerator that is known by its data sheet, or by a published speed or two");
    add_common_fields(f);
    f.add("accuracy", &P::accuracy, "what its predictions are worth").required();
    add_peak_fields(f);
    f.add("memory_bandwidth", &P::memory_bandwidth, "bandwidth of the device memory").required().above(0);
    f.add("memory_capacity", &P::memory_capacity, "memory for weights, KV and activations").required().above(0);
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak in GEMMs").required().above(0).at_most(1);
    f.add("attention_efficiency", &P::attention_efficiency, "share of the peak in scores and values")
        .required()
        .above(0)
        .at_most(1);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1);
    f.add("per_operator", &P::per_operator, "fixed time of an operator").required().at_least(0);
    f.add("per_step", &P::per_step, "the host's time of a step").required().at_least(0);
    f.add("per_request", &P::per_request, "for each request in the step").required().at_least(0);
    f.add("prompt_tile", &P::prompt_tile, "prompt tokens of a step are padded to multiples of it").at_least(1);
    f.add_group("links", &P::links, links_fields(),
                "how the devices of a replica are joined; absent: each works alone");
    f.add("load_bandwidth", &P::load, "from the host's memory into the device's; absent: not known, or one memory")
        .above(0);
    add_power_fields(f);
    f.add("compute_energy", &P::compute_energy, "dynamic energy of bf16 work").required().at_least(0);
    f.add("memory_energy", &P::memory_energy, "dynamic energy of memory traffic").required().at_least(0);
    f.add("link_energy", &P::link_energy, "dynamic energy of bytes moved between devices").at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
