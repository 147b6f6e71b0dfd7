// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gpu.hpp"

#include "hardware/gpu/carried_spread.hpp"
#include "hardware/gpu/gpu_step_model.hpp"
#include "hardware/gpu/kernel_fits.hpp"
#include "hardware/gpu/timed_clocks.hpp"
#include "hardware/power_cap.hpp"
#include "models/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::hardware {
namespace {

// A fit times a figure of the data sheet is worth the fit, unless the figure is assumed.
Tag worth(Tag fit, Tag figure) { return figure == Tag::assumed ? Tag::assumed : fit; }

template <class Parameters>
const Parameters& of_kv(const std::map<std::string, Parameters>& by_format, const models::KvFormat& kv,
                        const Parameters& other) {
  const auto own = kv.alike() ? by_format.find(kv.keys.name) : by_format.end();
  return own != by_format.end() ? own->second : other;
}

template <class Map>
void lay_over(Map& below, const Map& above) {
  for (const auto& [format, parameters] : above) below[format] = parameters;
}

// A flop of padding takes the share `padding` of one that was asked for.
Joules work_of(const KernelCost& cost, double padding, const std::optional<JoulesPerFlop>& own, JoulesPerFlop in_bf16) {
  if (own) return (cost.flops + padding * cost.padding) * *own;
  const double padded = cost.flops > Flops() ? 1 + padding * (cost.padding / cost.flops) : 1;
  return padded * cost.bf16_flops * in_bf16;
}

const std::string kScaledByTensor = "fp8", kScaledByBlock = "fp8_block";

// W8A16: no kernel that was timed.
bool widened_bytes(const models::Format& weights, const models::Format& inputs) {
  return weights.bytes == 1 && inputs.bytes > 1;
}

}  // namespace

const GemmParameters& Gpu::gemm_of(const models::Format& weights, const models::Format& inputs) const {
  const auto own = widened_bytes(weights, inputs) ? gemm_by_format.end() : gemm_by_format.find(weights.name);
  return own != gemm_by_format.end() ? own->second : gemm;
}

const PrefillAttentionParameters& Gpu::prefill_attention_of(const models::PrefillAttention& a) const {
  const bool latent = a.kernel != models::AttentionKernel::softmax;
  return of_kv(latent ? latent_prefill_attention : prefill_attention_by_kv, a.kv, prefill_attention);
}

const DecodeAttentionParameters& Gpu::decode_attention_of(const models::DecodeAttention& a) const {
  const bool latent = a.kernel != models::AttentionKernel::softmax;
  return of_kv(latent ? latent_decode_attention : decode_attention_by_kv, a.kv, decode_attention);
}

Gpu Gpu::of_engine(const std::string& whose) const {
  const auto set = kernel_sets.find(whose);
  Gpu gpu = *this;
  gpu.kernel_sets.clear();
  if (set == kernel_sets.end()) return gpu;
  const KernelSet& own = set->second;
  gpu.engine = whose;
  gpu.quantises_in = own.quantises_in;
  gpu.elementwise.scales.reset();
  if (own.scales) gpu.elementwise.scales = own.scales->parameters();
  if (own.gemm) gpu.gemm = *own.gemm;
  if (own.expert_gemm) gpu.expert_gemm = own.expert_gemm;
  if (own.prefill_attention) gpu.prefill_attention = *own.prefill_attention;
  if (own.decode_attention) gpu.decode_attention = *own.decode_attention;
  lay_over(gpu.gemm_by_format, own.gemm_by_format);
  lay_over(gpu.expert_gemm_by_format, own.expert_gemm_by_format);
  lay_over(gpu.prefill_attention_by_kv, own.prefill_attention_by_kv);
  lay_over(gpu.decode_attention_by_kv, own.decode_attention_by_kv);
  lay_over(gpu.latent_prefill_attention, own.latent_prefill_attention);
  lay_over(gpu.latent_decode_attention, own.latent_decode_attention);
  lay_over(gpu.indexed_attention, own.indexed_attention);
  if (!own.collectives.empty()) {
    std::erase_if(gpu.links.collectives, [&own](const CollectiveFit& fit) {
      return fit.below && std::ranges::any_of(own.collectives, [&fit](const CollectiveFit& of_engine) {
               return of_engine.kind == fit.kind && of_engine.ranks == fit.ranks;
             });
    });
    gpu.links.collectives.insert(gpu.links.collectives.end(), own.collectives.begin(), own.collectives.end());
  }
  return gpu;
}

bool Gpu::fused(const models::Elementwise& kernel) const {
  using Input = models::Elementwise::Input;
  if (kernel.input == Input::elsewhere) return false;
  return std::ranges::find(quantises_in, kernel.input == Input::norm ? "norm" : "activation") != quantises_in.end();
}

std::shared_ptr<const Device> Gpu::with_kernels_of(const std::string& whose) const {
  if (!kernel_sets.contains(whose)) return nullptr;
  return std::make_shared<Gpu>(of_engine(whose));
}

const SparseAttentionParameters& Gpu::sparse_attention_of(const std::string& kernel) const {
  const auto own = sparse_attention.find(kernel);
  return own != sparse_attention.end() ? own->second : assumed_sparse_attention();
}

const IndexedAttentionParameters* Gpu::known_indexed_attention(const models::KvFormat& kv) const {
  const auto own = indexed_attention.find(kv.keys.name);
  return own != indexed_attention.end() ? &own->second : nullptr;
}

const IndexedAttentionParameters& Gpu::indexed_attention_of(const models::KvFormat& kv) const {
  const IndexedAttentionParameters* own = known_indexed_attention(kv);
  if (!own) own = known_indexed_attention(models::Format());
  return own ? *own : assumed_indexed_attention();
}

const IndexedAttentionParameters& Gpu::indexed_attention_of(const models::PrefillAttention& a) const {
  const IndexedAttentionParameters& own = indexed_attention_of(a.kv);
  const bool widened = own.most_prompt_heads > 0 && a.heads > own.most_prompt_heads;
  return widened ? indexed_attention_of(models::Format()) : own;
}

const StateKernels& Gpu::state_of(models::StateForm form) const {
  const auto own = state_kernels.find(std::string(models::kStateFormNames[static_cast<std::size_t>(form)]));
  return own != state_kernels.end() ? own->second : assumed_state_kernels(form);
}

bool Gpu::prices_as_block_scaled(const models::Format& weights, const models::Format& inputs) const {
  return weights.name == kScaledByTensor && !widened_bytes(weights, inputs) &&
         !expert_gemm_by_format.contains(weights.name) && expert_gemm_by_format.contains(kScaledByBlock);
}

const GemmParameters& Gpu::grouped_gemm_of(const models::Format& weights, const models::Format& inputs) const {
  if (widened_bytes(weights, inputs)) return grouped_gemm();
  const auto own = expert_gemm_by_format.find(prices_as_block_scaled(weights, inputs) ? kScaledByBlock : weights.name);
  return own != expert_gemm_by_format.end() ? own->second : grouped_gemm();
}

Joules Gpu::work_of_gemm(const models::Format& weights, const models::Format& inputs, const KernelCost& cost) const {
  const auto own = widened_bytes(weights, inputs) ? std::nullopt : energy.own_compute(weights.name);
  return work_of(cost, energy.padding, own, energy.compute);
}

Joules Gpu::work_of_experts(const models::Format& weights, const models::Format& inputs, const KernelCost& cost) const {
  const auto own = widened_bytes(weights, inputs) ? std::nullopt : energy.own_experts(weights.name);
  return work_of(cost, energy.padding, own, energy.experts.value_or(energy.compute));
}

JoulesPerFlop Gpu::work_of_attention(const models::KvFormat& kv) const {
  const auto own = kv.alike() ? energy.own_attention(kv.keys.name) : std::nullopt;
  return own ? *own : energy.attention.value_or(energy.compute);
}

PowerModel Gpu::power() const {
  PowerModel power{energy.active, energy.memory, energy.link};
  if (energy.measured_limit) power.most = *energy.measured_limit - *idle;
  return power;
}

std::vector<std::string> Gpu::problems(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  return weights_too_large(*this, model, plan);
}

std::array<Tag, kOperatorFamilies> Gpu::provenance() const {
  const Tag chip = weaker(peak_bf16.tag, weaker(hbm_bandwidth.tag, multiprocessors.tag));
  return {worth(gemm.tag, chip),
          expert_gemm ? worth(expert_gemm->tag, chip) : Tag::assumed,
          worth(prefill_attention.tag, chip),
          worth(decode_attention.tag, chip),
          worth(elementwise.tag, hbm_bandwidth.tag),
          hardware::provenance(links),
          worth(elementwise.tag, hbm_bandwidth.tag),
          host.tag};
}

Spreads Gpu::spreads(const models::ModelSpec& model, const models::ParallelPlan& plan, const Settings& settings) const {
  const Gpu own = of_engine(settings.engine);
  const auto tags = own.provenance();
  const Fit messages{hardware::provenance(own.links), {}, residuals(own.links)};
  const Fit nothing;
  const KernelFits fits = kernel_fits(own, model, plan, settings.coverage);
  Spreads spreads;
  for (std::size_t family = 0; family < spreads.size(); ++family)
    for (std::size_t regime = 0; regime < kRegimes; ++regime) {
      const auto of = static_cast<OperatorFamily>(family);
      const Fit* fit = fits[family][regime];
      if (!fit) fit = of == OperatorFamily::host ? &own.host : &messages;
      // How GEMMs lay about their fit says nothing of experts that are priced with it.
      if (of == OperatorFamily::grouped_gemm && fit == &own.gemm) fit = &nothing;
      const bool carried = fit->tag == Tag::assumed && !known(fit->residuals);
      const Tag tag = tags[family] == Tag::assumed ? Tag::assumed : fit->tag;
      spreads[family][regime] = (carried ? carried_spread(of) : spread_of(tag, fit->residuals))[regime];
    }
  return spreads;
}

std::unique_ptr<StepModel> Gpu::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                     const Settings& settings) const {
  const auto priced = [model, plan, settings](const Gpu& gpu, double at) -> std::unique_ptr<StepModel> {
    return std::make_unique<GpuStepModel>(std::make_shared<GpuPrices>(gpu.at_clock(at), model, plan, settings));
  };
  const Gpu own = of_engine(settings.engine);
  AtClock clocked = [priced, own](double share) { return priced(own, share * own.clock); };
  if (energy.measured_limit) {
    Gpu unlimited = own;
    unlimited.energy.measured_limit.reset();
    auto timed = std::make_shared<TimedClocks>([priced, unlimited](double at) { return priced(unlimited, at); },
                                               *energy.measured_limit - *idle, plan.devices());
    clocked = [priced, own, timed](double share) {
      const double at = share * own.clock;
      return at < 1 ? hardware::at_clock(timed, at) : priced(own, at);
    };
  }
  return under_power_limit(std::move(clocked), limit() - *idle, plan.devices());
}

Gpu Gpu::at_clock(double share) const {
  Gpu gpu = *this;
  gpu.clock = share;
  gpu.scale_peaks();
  gpu.energy = gpu.energy.at_clock(share);
  const auto slow_products = [share](GemmParameters& p) {
    p.tile /= share;
    p.l2_bandwidth *= share;
  };
  slow_products(gpu.gemm);
  if (gpu.expert_gemm) slow_products(*gpu.expert_gemm);
  for (auto* formats : {&gpu.gemm_by_format, &gpu.expert_gemm_by_format})
    for (auto& [format, p] : *formats) slow_products(p);
  gpu.prefill_attention.tile /= share;
  const auto slow_blocks = [share](DecodeAttentionParameters& p) {
    p.cta /= share;
    if (p.ungrouped) p.ungrouped->cta /= share;
  };
  slow_blocks(gpu.decode_attention);
  for (auto& [format, p] : gpu.latent_prefill_attention) p.kernel = models::AttentionKernel::latent;
  for (auto& [format, p] : gpu.latent_decode_attention) p.kernel = models::AttentionKernel::latent;
  for (auto* formats : {&gpu.prefill_attention_by_kv, &gpu.latent_prefill_attention})
    for (auto& [format, p] : *formats) p.tile /= share;
  for (auto* formats : {&gpu.decode_attention_by_kv, &gpu.latent_decode_attention})
    for (auto& [format, p] : *formats) slow_blocks(p);
  for (auto& [format, p] : gpu.indexed_attention) p.choice /= share;
  return gpu;
}

const Fields<Gpu>& gpu_fields() {
  static const Fields<Gpu> fields = [] {
    Fields<Gpu> f("gpu", "a GPU: data sheet figures and fitted kernel parameters");
    add_common_fields(f);
    f.add("accuracy", &Gpu::accuracy, "what its predictions are worth; empty: as the tags of its fits say");
    add_peak_fields(f);
    f.add("widens", &Gpu::widens,
          "formats of weights that its kernels widen to 16 bits before the GEMM; absent: int8, int4, fp8, "
          "fp8_block, mxfp8, nvfp4, mxfp4, q8_0 and q4_0, as Marlin does from Ampere on")
        .one_of(models::format_names());
    f.add("hbm_bandwidth", &Gpu::hbm_bandwidth, "bandwidth of the device memory").required().above(0);
    f.add("hbm_capacity", &Gpu::hbm_capacity, "device memory as the driver reports it").required().above(0);
    f.add("multiprocessors", &Gpu::multiprocessors, "streaming multiprocessors or compute units")
        .required()
        .at_least(1);
    f.add("l2", &Gpu::l2, "last-level cache").required().above(0);
    add_power_fields(f);
    f.add("runtime_reserve", &Gpu::runtime_reserve, "memory of contexts, communicators and captured graphs")
        .required()
        .at_least(0);
    f.add_group("gemm", &Gpu::gemm, gemm_fields(), "dense GEMMs").required();
    f.add_group("expert_gemm", &Gpu::expert_gemm, expert_gemm_fields(),
                "GEMMs of routed experts; absent: as the dense ones");
    f.add_group("gemm_by_format", &Gpu::gemm_by_format, gemm_fields(),
                "dense GEMMs whose weights have this format; others are priced as `gemm`");
    f.add_group("expert_gemm_by_format", &Gpu::expert_gemm_by_format, expert_gemm_fields(),
                "GEMMs of routed experts whose weights have this format; others are priced as `expert_gemm`");
    f.add_group("prefill_attention", &Gpu::prefill_attention, prefill_attention_fields(), "attention of prompt chunks")
        .required();
    f.add_group("decode_attention", &Gpu::decode_attention, decode_attention_fields(), "attention of decodes")
        .required();
    f.add_group("decode_attention_by_kv", &Gpu::decode_attention_by_kv, decode_attention_fields(),
                "attention of decodes over KV of this format; others are priced as `decode_attention`");
    f.add_group("prefill_attention_by_kv", &Gpu::prefill_attention_by_kv, prefill_attention_fields(),
                "attention of prompt chunks over KV of this format; others are priced as `prefill_attention`");
    f.add_group("latent_prefill_attention", &Gpu::latent_prefill_attention, prefill_attention_fields(),
                "latent attention of prompt chunks, by the format of the latents; absent: as `prefill_attention`");
    f.add_group("latent_decode_attention", &Gpu::latent_decode_attention, decode_attention_fields(),
                "latent attention of decodes, by the format of the latents; absent: as `decode_attention`");
    f.add_group("indexed_attention", &Gpu::indexed_attention, indexed_attention_fields(),
                "latent attention to entries that an index chooses, by the format of the latents; absent: as for bf16, "
                "or assumed, with a warning");
    f.add_group("sparse_attention", &Gpu::sparse_attention, sparse_attention_fields(),
                "attention of prompts by sparse kernels, by the name that token plans ask for; others are assumed to "
                "reach 14 % of the peak, with a warning");
    f.add_group(
        "state_kernels", &Gpu::state_kernels, state_kernels_fields(),
        "layers with a recurrent state, by its form (mamba2, gated_delta, kimi_delta); others are assumed, with "
        "a warning");
    f.add_group("elementwise", &Gpu::elementwise, elementwise_fields(), "kernels that stream activations").required();
    f.add("quantises_in", &Gpu::quantises_in,
          "kernels that write narrow inputs of GEMMs themselves, with one scale a tensor or a token; absent: none, and "
          "quantisation is a kernel of its own")
        .one_of({"norm", "activation"});
    f.add(
        "engine", &Gpu::engine,
        "the serving engine whose kernels its own fits are (vllm, tensorrt_llm, sglang); empty: of none in particular");
    f.add_group("kernel_sets", &Gpu::kernel_sets, kernel_set_fields(),
                "kernels of other serving engines, by name; `serving.engine` chooses");
    f.add_group("links", &Gpu::links, links_fields(), "how the devices of a replica are joined").required();
    f.add("load_bandwidth", &Gpu::load, "from the host's memory into the device's; absent: not known").above(0);
    f.add_group("host", &Gpu::host, host_fields(), "the host's time of a step").required();
    f.add_group("energy", &Gpu::energy, gpu_energy_fields(), "energy above idle").required();
    f.check([](const Gpu& gpu, const YamlNode& node, Diagnostics& diagnostics) {
      if (gpu.clock < kLowestClock)
        diagnostics.error(
            (node.find("clock") ? *node.find("clock") : node).where,
            fmt::format("'clock' of a GPU is at least {}: nothing is known of kernels below it", kLowestClock));
    });
    return f;
  }();
  return fields;
}

const Links* links_of(const Device& device) {
  const Gpu* gpu = dynamic_cast<const Gpu*>(&device);
  return gpu ? &gpu->links : nullptr;
}

}  // namespace llmscape::hardware
