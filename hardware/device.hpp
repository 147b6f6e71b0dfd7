// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "hardware/host.hpp"
#include "hardware/precision.hpp"
#include "hardware/residuals.hpp"
#include "hardware/step_cost.hpp"
#include "models/adapter.hpp"
#include "models/execution.hpp"
#include "models/memory.hpp"
#include "models/step_work.hpp"

namespace llmscape::hardware {

// Prices the steps of one replica: a device kind, a model and a parallel plan, bound together. Calls are not
// thread-safe: results that depend on the token count alone are kept in tables.
class StepModel {
 public:
  virtual ~StepModel() = default;
  // Contract: deterministic; a batch with no work costs nothing; O(chunks + KV laws) per call once the tables are warm;
  // never less than the roofline where efficiencies are at most 1.
  virtual StepPhases phases(const models::Batch&) = 0;
  // The same, summed: cost_of(phases()), to the last bit, whatever a kind keeps to be faster.
  virtual StepCost step(const models::Batch& batch) { return cost_of(phases(batch)); }
  // One line for what the device is said to be accurate to, where that was not measured, and one per operator family
  // that has left its measured range so far.
  [[nodiscard]] virtual std::vector<std::string> range_warnings() const { return {}; }
};

// What the joules of a device include. Each contains the ones before it: the chip with its memory; the board or module
// as its power sensor reads it (NVML: converters and fans too); the node with host, network cards and power supplies;
// the rack with switches and cooling inside.
enum class EnergyBoundary : std::uint8_t { unstated, chip, board, node, rack };
inline constexpr std::array<std::string_view, 5> kEnergyBoundaryNames = {"unstated", "chip", "board", "node", "rack"};
constexpr std::string_view name_of(EnergyBoundary boundary) {
  return kEnergyBoundaryNames[static_cast<std::size_t>(boundary)];
}

// What the figures are worth that joules follow from: those of work and traffic, and the power at rest.
struct EnergyTags {
  Tag dynamic = Tag::assumed, idle = Tag::assumed;
  std::optional<Tag> link{};  // of bytes on links, where they are worth something else than the rest of `dynamic`
};

// How far the true times of each operator family may lie from the predicted ones.
using Spreads = std::array<Spread, kOperatorFamilies>;

struct Device;

// One of the devices that a device is composed of, `count` of which share a part of the model by tensor parallelism.
struct KvPart {
  std::string role;  // for messages: "stage 2 (h100-sxm)"
  const Device* device;
  models::ModelSpec model;
  double utilization;  // of its memory, for weights and KV
  Bytes besides;       // taken already
};

// One kind of accelerator as described in a catalogue file, immutable.
struct Device {
  virtual ~Device() = default;
  std::string name;  // the catalogue's name, or the user's
  std::string description;
  std::int64_t count = 1;  // how many of them a scenario has
  std::optional<Sourced<SquareMetres>> die_area;
  EnergyBoundary energy_boundary = EnergyBoundary::unstated;  // as stated: boundary() says what holds
  // Bytes of memory that one device offers to weights, KV and activations, before any utilisation factor.
  [[nodiscard]] virtual Bytes memory() const = 0;
  // What contexts, communicators and captured graphs take of it.
  [[nodiscard]] virtual Bytes runtime_memory() const { return Bytes(); }
  // Power drawn when idle, per device; what the run charges for the whole simulated time.
  [[nodiscard]] virtual Watts idle_power() const = 0;
  // What one of it may draw above that: of parts that work in turn, what the largest may. 0: nothing limits it.
  [[nodiscard]] virtual Watts headroom() const { return Watts(); }
  // What one of it draws above that while a kernel runs, whatever it does: also one that waits for other devices inside
  // a collective. 0: nothing is known of it.
  [[nodiscard]] virtual Watts active_power() const { return Watts(); }
  // What its joules include; of a device of several parts that does not say it what all of them do, if they are alike.
  [[nodiscard]] virtual EnergyBoundary boundary() const { return energy_boundary; }
  // The weakest tags behind its joules.
  [[nodiscard]] virtual EnergyTags energy_tags() const { return {}; }
  // From the memory behind a device (its host's, DDR) into its own: how fast weights come that are kept there.
  [[nodiscard]] virtual std::optional<BytesPerSecond> load_bandwidth() const { return std::nullopt; }
  // How many bytes of them that memory keeps for one device; nothing: it is not said.
  [[nodiscard]] virtual std::optional<Bytes> storage() const { return std::nullopt; }
  // Bytes of a model's weights that the fullest device of a replica loads.
  [[nodiscard]] virtual Bytes weights(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
    return models::memory_need(model, plan, 1, 1).weights;
  }
  // What that device holds in memory(): of the weights, what lies nowhere else.
  [[nodiscard]] virtual models::MemoryNeed memory_need(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                                       std::int64_t max_batched_tokens,
                                                       std::int64_t max_sequences) const {
    return models::memory_need(model, plan, max_batched_tokens, max_sequences);
  }
  // Tokens of KV that fit where this is not simply memory() - weights - activations (CIM, dataflow); 0: use the
  // formula.
  [[nodiscard]] virtual std::int64_t kv_tokens(const models::ModelSpec&, const models::ParallelPlan&) const {
    return 0;
  }
  // Devices that one of it is made of: 1, but for a device of others.
  [[nodiscard]] virtual std::int64_t parts() const { return 1; }
  // A device of others: those whose memory holds KV, each with its part of the model. None: it is one device.
  [[nodiscard]] virtual std::vector<KvPart> kv_parts(const models::ModelSpec&) const { return {}; }
  // A device of others whose KV lies apart from weights: the memory that these have. Nothing: both share one.
  [[nodiscard]] virtual std::optional<Bytes> weight_memory() const { return std::nullopt; }
  // What its kernels multiply; nothing: it takes every format as it is asked for ...
  [[nodiscard]] virtual std::optional<Arithmetic> arithmetic() const { return std::nullopt; }
  // ... but states no rate for GEMMs of such narrow inputs, and computes them as those of 16 bits.
  [[nodiscard]] virtual bool computes_as_wider(const models::Format& /*inputs*/) const { return false; }
  // Whether it states a rate for GEMMs of such narrow inputs, and multiplies them where they are asked for.
  [[nodiscard]] virtual bool has_rate_for(const models::Format& /*inputs*/) const { return false; }
  // HOI of arXiv 2604.05404: dense peak of 16-bit GEMMs / bandwidth of the device memory, in FLOP per byte. Nothing
  // for kinds that do not state both.
  [[nodiscard]] virtual std::optional<double> operational_intensity() const { return std::nullopt; }
  // Why this model and plan cannot run on this device, one sentence each; empty: they can.
  [[nodiscard]] virtual std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const {
    return {};
  }
  // Provenance of each operator family's parameters (the weakest that matters).
  [[nodiscard]] virtual std::array<Tag, kOperatorFamilies> provenance() const = 0;
  // What of a workload changes the price of a step.
  struct Settings {
    models::ExpertCoverage coverage;
    models::Adapter adapter{};  // the shape of all adapters that requests may carry (Batch::adapters of them in a step)
    std::string engine{};       // whose kernels run, where the device knows several sets
    models::Execution execution{};
  };
  // Of this model's kernels; by their provenance unless residuals are known.
  [[nodiscard]] virtual Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const;
  // What hosts do for a step of this model, one entry for each host that works at the same time; none: nothing.
  [[nodiscard]] virtual std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const {
    return {};
  }
  // The serving engine whose kernels its fits are of; empty: of none in particular.
  [[nodiscard]] virtual std::string kernels() const { return {}; }
  // Of which measured steps its steps are made, in words; empty: of none.
  [[nodiscard]] virtual std::string step_table() const { return {}; }
  // The same device with that engine's kernels; nothing: it has no such set, or knows no sets.
  [[nodiscard]] virtual std::shared_ptr<const Device> with_kernels_of(const std::string& /*engine*/) const {
    return nullptr;
  }
  // Whether the groups of a pipeline work on the tokens of one step at the same time, so that one batch fills them all;
  // else each works on a batch of its own (several streams), or waits.
  [[nodiscard]] virtual bool passes_tokens_on() const { return false; }
  // Whether its steps can carry adapters; where they cannot, Batch::adapters has to be 0.
  [[nodiscard]] virtual bool takes_adapters() const { return false; }
  // Whether its steps carry what an engine's execution adds; where they do not, it has to add nothing.
  [[nodiscard]] virtual bool takes_execution() const { return false; }
  [[nodiscard]] virtual std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                        const Settings&) const = 0;
};

// Why the weights do not fit this device's memory, or nothing: one of its problems().
std::vector<std::string> weights_too_large(const Device&, const models::ModelSpec&, const models::ParallelPlan&);

// Why a device that prices whole layers by forms of its own cannot take this model: a token plan has changed it
// (models/token_plan.hpp), or a layer has a recurrent state or one of its parts alone; or nothing.
// `takes_budgets`: plans that change no more than which entries are kept and attended to are none of them.
std::vector<std::string> layers_refused(const Device&, const models::ModelSpec&, bool takes_budgets = false);

// The line of range_warnings() for a stated accuracy; none where it is empty.
std::vector<std::string> accuracy_warning(const std::string& device, const std::string& accuracy);

// The fields that every kind begins with.
template <class D>
void add_common_fields(Fields<D>& fields) {
  fields.add("name", &D::name, "the name of the device").required();
  fields.add("description", &D::description, "what it is, in a line");
  fields.add("count", &D::count, "how many of them there are").between(1, 1e6);
  fields.add("die_area", &D::die_area, "of all logic chips of one device; memory chips are not counted").above(0);
  using enum EnergyBoundary;
  fields.add_enum("energy_boundary", &D::energy_boundary,
                  {{"unstated", unstated}, {"chip", chip}, {"board", board}, {"node", node}, {"rack", rack}},
                  "what its joules include: chip with memory, board as its sensor reads it, node with host, rack");
}

// The table of kinds (gpu, cim, dataflow, ...): key `kind` of a catalogue file.
const Family<Device>& devices();

}  // namespace llmscape::hardware
