// SPDX-License-Identifier: Apache-2.0
#include "hardware/split/attention_offload.hpp"

#include <fmt/format.h>

#include "hardware/step_shape.hpp"
#include "models/model_parts.hpp"
#include "models/operator_list.hpp"

namespace llmscape::hardware {
namespace {

constexpr bool is_attention(std::size_t family) {
  return family == static_cast<std::size_t>(OperatorFamily::prefill_attention) ||
         family == static_cast<std::size_t>(OperatorFamily::decode_attention);
}

models::ModelSpec attention_of(const models::ModelSpec& model, const Device& device) {
  return models::attention_alone(model, static_cast<int>(device.count));
}

// What one token sends in all layers: queries and new KV entries there, outputs back.
Bytes crossing_per_token(const models::ModelSpec& model) {
  double bytes = 0;
  const double element = models::hidden_format(model.precision).bytes;
  for (const LayerShape& layer : StepShape(model, {}).layers)
    bytes += layer.count * (layer.heads * (layer.key_width + layer.value_width) * element + layer.kv_bytes);
  return Bytes(bytes);
}

// Whether a warning is about the families of this part, or about none.
bool concerns(const std::string& warning, bool attention) {
  for (std::size_t f = 0; f < kOperatorFamilyNames.size(); ++f)
    if (warning.starts_with(fmt::format("{} of ", kOperatorFamilyNames[f]))) return is_attention(f) == attention;
  return true;
}

// Each part prices a model that is its work and no more, and of that the families that are its own.
class OffloadStepModel final : public StepModel {
 public:
  OffloadStepModel(AttentionOffload device, const models::ModelSpec& model, const Device::Settings& settings)
      : device_(std::move(device)), attention_(device_.attention->bind(attention_of(model, *device_.attention),
                                                                       plan_of(*device_.attention), settings)),
        weights_(device_.weights->bind(models::without_context(model), plan_of(*device_.weights), settings)),
        crossings_(2 * model.layers()), per_token_(crossing_per_token(model)) {}

  StepPhases phases(const models::Batch& batch) override {
    models::Batch alone = batch;  // each decode attends to the tokens that it computes
    const models::Attended own{batch.decode_tokens(), batch.tokens_per_decode};
    if (batch.decodes > 0) alone.attended = {&own, 1};
    StepPhases sum;
    add(sum, attention_->phases(batch), *device_.attention, true);
    add(sum, weights_->phases(alone), *device_.weights, false);
    if (batch.tokens() > 0)
      add_crossings(sum, device_.link, crossings_, static_cast<double>(batch.tokens()) * per_token_);
    return sum;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    std::vector<std::string> all;
    const auto keep = [&all](const StepModel& part, bool attention) {
      for (std::string& warning : part.range_warnings())
        if (concerns(warning, attention)) all.push_back(std::move(warning));
    };
    keep(*attention_, true);
    keep(*weights_, false);
    return all;
  }

 private:
  static void add(StepPhases& sum, const StepPhases& part, const Device& device, bool attention) {
    Seconds taken;
    for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
      if (is_attention(f) != attention) continue;
      add_time(sum, part, f);
      if (part.has(f)) taken += part.at(f).time;
    }
    const Seconds whole = part.time();
    if (whole > Seconds()) sum.extrapolated += taken / whole * part.extrapolated;
    add_work(sum, part, device);
  }

  AttentionOffload device_;
  std::unique_ptr<StepModel> attention_, weights_;
  int crossings_;
  Bytes per_token_;
};

}  // namespace

std::vector<KvPart> AttentionOffload::kv_parts(const models::ModelSpec& model) const {
  return {{"attention (" + attention->name + ")", attention.get(), attention_of(model, *attention), memory_utilization,
           Bytes()}};
}

std::vector<HostDriven> AttentionOffload::hosts(const models::ModelSpec& model, const models::ParallelPlan&) const {
  std::vector<HostDriven> all = attention->hosts(attention_of(model, *attention), plan_of(*attention));
  for (HostDriven& host : weights->hosts(models::without_context(model), plan_of(*weights)))
    all.push_back(std::move(host));
  return all;
}

std::vector<std::string> AttentionOffload::problems(const models::ModelSpec& model,
                                                    const models::ParallelPlan& plan) const {
  if (plan.all_devices() > 1 || plan.expert > 1)
    return {fmt::format("{} is a replica of its own: the degrees of parallelism of the engine must be 1", name)};
  if (auto refused = layers_refused(*this, model); !refused.empty()) return refused;
  std::vector<std::string> found =
      problems_of("attention (" + attention->name + ")", *attention, attention_of(model, *attention));
  const std::string role = "weights (" + weights->name + ")";
  const models::ModelSpec gemms = models::without_context(model);
  for (std::string& problem : problems_of(role, *weights, gemms)) found.push_back(std::move(problem));
  if (!found.empty() || weights->kv_tokens(gemms, plan_of(*weights)) > 0) return found;  // it says itself what fits
  const Bytes held = models::memory_need(gemms, plan_of(*weights), 1, 1).weights;
  if (held > weights->memory() * memory_utilization)
    found.push_back(
        fmt::format("{}: {:.4g} GB of weights on each exceed {:g} (memory_utilization) of its {:.4g} GB of "
                    "memory",
                    role, held.si() / 1e9, memory_utilization, weights->memory().si() / 1e9));
  return found;
}

std::array<Tag, kOperatorFamilies> AttentionOffload::provenance() const {
  const auto attending = attention->provenance();
  auto tags = weights->provenance();
  for (std::size_t f = 0; f < tags.size(); ++f)
    if (is_attention(f)) tags[f] = attending[f];
  const auto weaken = [&tags](OperatorFamily family, Tag tag) {
    Tag& own = tags[static_cast<std::size_t>(family)];
    own = weaker(own, tag);
  };
  weaken(OperatorFamily::collective, link.tag());
  weaken(OperatorFamily::host, attending[static_cast<std::size_t>(OperatorFamily::host)]);
  return tags;
}

Spreads AttentionOffload::spreads(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                  const Settings& settings) const {
  const auto attending = attention->spreads(model, plan, settings);
  auto spreads = weights->spreads(model, plan, settings);
  for (std::size_t f = 0; f < spreads.size(); ++f)
    if (is_attention(f)) spreads[f] = attending[f];
  const auto widen = [&spreads](OperatorFamily family, const Spread& spread) {
    Spread& own = spreads[static_cast<std::size_t>(family)];
    own = wider(own, spread);
  };
  widen(OperatorFamily::collective, spread_of(link.tag()));
  widen(OperatorFamily::host, attending[static_cast<std::size_t>(OperatorFamily::host)]);
  return spreads;
}

std::unique_ptr<StepModel> AttentionOffload::bind(const models::ModelSpec& model, const models::ParallelPlan&,
                                                  const Settings& settings) const {
  return std::make_unique<OffloadStepModel>(*this, model, settings);
}

const Fields<AttentionOffload>& attention_offload_fields() {
  static const Fields<AttentionOffload> fields = [] {
    using A = AttentionOffload;
    Fields<A> f("attention_offload", "attention and KV cache on one device, GEMMs with weights on another");
    add_common_fields(f);
    f.add_family("attention", &A::attention, single_devices(),
                 "the device with the KV cache; `count` of them share its heads")
        .preset_from("hardware")
        .required();
    f.add_family("weights", &A::weights, single_devices(),
                 "the device with the weights; `count` of them share each layer by tensor parallelism")
        .preset_from("hardware")
        .required();
    f.add_group("link", &A::link, split_link_fields(), "between the two, crossed twice in a layer").required();
    f.add("memory_utilization", &A::memory_utilization,
          "share of a part's memory for weights and KV; the rest is for activations")
        .above(0)
        .at_most(1);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
