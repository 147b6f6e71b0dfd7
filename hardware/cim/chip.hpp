// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/cim/mapping.hpp"
#include "hardware/device.hpp"
#include "hardware/dram.hpp"

namespace llmscape::hardware {

// How the next weights arrive while the macros compute.
enum class Overlap {
  none,      // they do not: transfer, compute and attention follow one another
  staged,    // a buffer beside the macros takes them; macros are written between rounds
  rotating,  // the macros outside the active share are written meanwhile (EdgeCIM's active tiles)
};

// Where attention runs, whose operands are both computed: on the vector unit, or in macros that keys and values are
// written into.
enum class AttentionUnit { vector, macros };

struct CimEnergy {
  Sourced<JoulesPerByte> write;       // weights into macros
  Sourced<JoulesPerByte> activation;  // activations in and out of the macros
  Sourced<Joules> multiply_add;       // by 4 bits of weight: in the cells and, in a digital macro, the adder tree
  Sourced<Joules> conversion;         // one at 8 bits, in an analogue macro
  Sourced<JoulesPerFlop> vector;
};

// A chip that multiplies weights where they are stored, with a memory for what its macros cannot hold and a vector unit
// for products of two activations. One chip runs a whole model. Priced by closed forms (cost-model 5); what the
// arithmetic does to a model's answers is out of scope.
struct CimDevice final : Device {
  Macro macro;
  Sourced<PerSecond> clock;  // of the macros
  Sourced<std::int64_t> clusters{1}, tiles_per_cluster{1}, macros_per_tile{1};
  Packing packing = Packing::packed;
  Overlap overlap = Overlap::staged;
  AttentionUnit attention = AttentionUnit::vector;
  Sourced<double> active_share{1};  // of the streaming macros, that computes while the others are written
  Sourced<double> pinned_share{0};  // of all macros, that keeps whole layers for good
  bool pipelined = false;           // tokens follow one another through the matrices that stay in macros
  std::vector<std::string> weight_formats;
  Dram dram;
  std::optional<Sourced<BytesPerSecond>> storage_bandwidth;  // of the flash behind it
  Sourced<Bytes> buffer;                                     // SRAM that holds the activations of a GEMM
  bool streams_embedding = false;  // a step reads the whole input embedding, not a row per token
  Sourced<FlopsPerSecond> vector_throughput;
  Sourced<Seconds> fill;  // start of a step that nothing overlaps
  Sourced<Watts> static_power;
  CimEnergy energy;

  // Macros are written while others compute. With all of them active nothing is left to rotate.
  [[nodiscard]] bool rotates() const { return overlap == Overlap::rotating && *active_share < 1; }
  // Transfers, macros and attention run at the same time.
  [[nodiscard]] bool overlaps() const { return overlap == Overlap::staged || rotates(); }
  [[nodiscard]] std::int64_t macros() const { return *clusters * *tiles_per_cluster * *macros_per_tile; }
  [[nodiscard]] std::int64_t pinnable_macros() const;
  // Of the macros that stream beside `pinned` ones: those that compute at once; at least one.
  [[nodiscard]] std::int64_t computing_macros(std::int64_t pinned) const;
  // What the macros hold of weights of this width.
  [[nodiscard]] Bytes weight_capacity(const models::Format&) const;

  [[nodiscard]] Bytes memory() const override { return dram.capacity(); }
  // Without what macros keep for good: whole layers, and a head that is not the input embedding, too, whose rows are
  // read.
  [[nodiscard]] models::MemoryNeed memory_need(const models::ModelSpec&, const models::ParallelPlan&,
                                               std::int64_t max_batched_tokens,
                                               std::int64_t max_sequences) const override;
  [[nodiscard]] Watts idle_power() const override { return *static_power; }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return {weaker(dram.energy.tag, weaker(energy.write.tag, weaker(energy.multiply_add.tag, energy.vector.tag))),
            static_power.tag};
  }
  [[nodiscard]] std::optional<BytesPerSecond> load_bandwidth() const override {
    if (storage_bandwidth) return **storage_bandwidth;
    return std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};
const Fields<CimDevice>& cim_fields();

}  // namespace llmscape::hardware
