// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/collectives.hpp"
#include "hardware/device.hpp"
#include "hardware/gpu/attention_decode.hpp"
#include "hardware/gpu/attention_indexed.hpp"
#include "hardware/gpu/attention_prefill.hpp"
#include "hardware/gpu/attention_sparse.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/energy.hpp"
#include "hardware/gpu/gemm.hpp"
#include "hardware/gpu/kernel_set.hpp"
#include "hardware/gpu/state_kernels.hpp"
#include "hardware/part_cost.hpp"
#include "hardware/power.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace llmscape::hardware {

// A GPU: the figures of its data sheet, and for each operator family the parameters of a physical kernel model that
// were fitted with a serving engine's kernels.
struct Gpu final : Device, Chip, PowerRange {
  std::string accuracy;            // what its predictions are worth where none of its kernels was measured
  Sourced<Bytes> runtime_reserve;  // contexts, communicators, captured graphs: memory that the KV pool does not get
  GemmParameters gemm;
  std::optional<GemmParameters> expert_gemm;  // absent: as `gemm`
  // Kernels of their own for weights of a format, by its name; others take the parameters above at their own peak and
  // width.
  std::map<std::string, GemmParameters> gemm_by_format, expert_gemm_by_format;
  PrefillAttentionParameters prefill_attention;
  DecodeAttentionParameters decode_attention;
  ElementwiseParameters elementwise;
  Links links;
  std::optional<Sourced<BytesPerSecond>> load;  // from the host's memory
  HostParameters host;
  EnergyParameters energy;

  // The same for attention over KV of a format, and for latent attention; without entries this is priced as the other
  // attention, at its own widths.
  std::map<std::string, PrefillAttentionParameters> prefill_attention_by_kv, latent_prefill_attention;
  std::map<std::string, DecodeAttentionParameters> decode_attention_by_kv, latent_decode_attention;
  // Latent attention to chosen entries, by the format of the latents; others are assumed.
  std::map<std::string, IndexedAttentionParameters> indexed_attention;
  // Sparse kernels for prompts, by the name that token plans ask for; others are assumed.
  std::map<std::string, SparseAttentionParameters> sparse_attention;

  // Kernels of layers with a recurrent state, by its form (models::kStateFormNames); others are assumed.
  std::map<std::string, StateKernels> state_kernels;

  // Kernels that write the narrow inputs of GEMMs themselves, where one scale belongs to a tensor or a token: "norm",
  // "activation". Behind all others quantisation is a kernel of its own.
  std::vector<std::string> quantises_in;
  // Whether the kernel does not run because the one before it has done its work.
  [[nodiscard]] bool fused(const models::Elementwise& kernel) const;

  // The serving engine whose kernels all these are; empty: of none in particular. Those of others, by the engine.
  std::string engine;
  std::map<std::string, KernelSet> kernel_sets;
  // With that engine's kernels in place of its own; as it is where it has no such set.
  [[nodiscard]] Gpu of_engine(const std::string& whose) const;
  [[nodiscard]] std::shared_ptr<const Device> with_kernels_of(const std::string& whose) const override;
  [[nodiscard]] std::string kernels() const override { return engine; }

  // As it is at that share of the boost clock: peaks, the L2 and what tiles and thread blocks cost run with the clock,
  // memory and launches do not, and an operation takes less energy (energy_of_operation).
  [[nodiscard]] Gpu at_clock(double share) const;
  [[nodiscard]] const SparseAttentionParameters& sparse_attention_of(const std::string& kernel) const;
  // Nothing where the device does not know them.
  [[nodiscard]] const IndexedAttentionParameters* known_indexed_attention(const models::KvFormat& kv) const;
  [[nodiscard]] const IndexedAttentionParameters& indexed_attention_of(const models::KvFormat& kv) const;
  // Of prompts with so many heads on a rank.
  [[nodiscard]] const IndexedAttentionParameters& indexed_attention_of(const models::PrefillAttention& a) const;
  [[nodiscard]] const StateKernels& state_of(models::StateForm form) const;
  [[nodiscard]] const PrefillAttentionParameters& prefill_attention_of(const models::PrefillAttention& a) const;
  [[nodiscard]] const DecodeAttentionParameters& decode_attention_of(const models::DecodeAttention& a) const;
  [[nodiscard]] const GemmParameters& grouped_gemm() const { return expert_gemm ? *expert_gemm : gemm; }
  // Eight-bit weights have kernels of their own only where their inputs are narrow too: tables are of W8A8 and W4A16.
  [[nodiscard]] const GemmParameters& gemm_of(const models::Format& weights, const models::Format& inputs) const;
  [[nodiscard]] const GemmParameters& grouped_gemm_of(const models::Format& weights,
                                                      const models::Format& inputs) const;
  // Whether those are of another format: experts with one scale for a tensor are the same products of the same bytes as
  // those with a scale for a block, and are priced as these where they were not timed themselves.
  [[nodiscard]] bool prices_as_block_scaled(const models::Format& weights, const models::Format& inputs) const;
  // Joules of the arithmetic of a kernel, given what it costs: that of padding as well.
  [[nodiscard]] Joules work_of_gemm(const models::Format& weights, const models::Format& inputs,
                                    const KernelCost&) const;
  [[nodiscard]] Joules work_of_experts(const models::Format& weights, const models::Format& inputs,
                                       const KernelCost&) const;
  // The same of a flop of attention over entries of this format, and of recurrent states without one.
  [[nodiscard]] JoulesPerFlop work_of_attention(const models::KvFormat& kv = {}) const;
  // What its kernels draw besides, at the clock that it has.
  [[nodiscard]] PowerModel power() const;
  std::vector<std::string> widens;  // Arithmetic::widens
  [[nodiscard]] std::optional<Arithmetic> arithmetic() const override {
    return Arithmetic{peak_int8.has_value(), peak_fp8.has_value(), peak_fp4.has_value(), widens};
  }
  [[nodiscard]] Bytes memory() const override { return *hbm_capacity; }
  [[nodiscard]] Bytes runtime_memory() const override { return *runtime_reserve; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] Watts headroom() const override { return limit() - *idle; }
  [[nodiscard]] Watts active_power() const override {
    return std::min<Watts>(energy.at_clock(clock).active, headroom());
  }
  [[nodiscard]] std::optional<double> operational_intensity() const override {
    return peak_bf16.value.si() / hbm_bandwidth.value.si();
  }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return {energy.tag, idle.tag, energy.link_assumed ? std::optional(Tag::assumed) : std::nullopt};
  }
  [[nodiscard]] std::optional<BytesPerSecond> load_bandwidth() const override {
    return load ? std::optional(**load) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] bool takes_adapters() const override { return true; }
  [[nodiscard]] bool takes_execution() const override { return true; }
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec& model,
                                              const models::ParallelPlan& plan) const override {
    return {{host, true, model, plan}};
  }
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};

const Fields<Gpu>& gpu_fields();

// How the devices of a replica are joined, where the device is a GPU and says so; else nullptr.
const Links* links_of(const Device& device);

}  // namespace llmscape::hardware
