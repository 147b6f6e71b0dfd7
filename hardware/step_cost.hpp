// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"

namespace llmscape::hardware {

// The parts that a step's time is divided into, for provenance and `explain`. Devices price all but the host's.
enum class OperatorFamily {
  gemm,
  grouped_gemm,
  prefill_attention,
  decode_attention,
  elementwise,
  collective,
  sampling,
  host
};
inline constexpr int kOperatorFamilies = 8;
inline constexpr std::array<std::string_view, kOperatorFamilies> kOperatorFamilyNames = {
    "gemm", "grouped_gemm", "prefill_attention", "decode_attention", "elementwise", "collective", "sampling", "host"};

// Where the joules go. Idle power is charged by the run over elapsed time, not by the step.
enum class EnergyComponent {
  active,  // what a device draws above idle because it runs a kernel, whatever that does
  compute,
  memory,        // main memory: HBM, LPDDR
  interconnect,  // between the devices of a replica
  on_chip,       // SRAM buffers
  conversion,    // analogue-to-digital converters
  write          // weights into compute-in-memory cells
};
inline constexpr int kEnergyComponents = 7;
inline constexpr std::array<std::string_view, kEnergyComponents> kEnergyComponentNames = {
    "active", "compute", "memory", "interconnect", "on_chip", "conversion", "write"};

// The parts of a device that can be what a step waits for: how busy each is says what to widen.
enum class Resource {
  arithmetic,  // tensor cores, macros, compute units
  vector,      // a vector unit beside them
  memory,      // the channels of main memory
  write,       // weights into compute-in-memory cells
  links        // to the other devices of a replica
};
inline constexpr int kResources = 5;
inline constexpr std::array<std::string_view, kResources> kResourceNames = {"arithmetic", "vector", "memory", "write",
                                                                            "links"};

// What an operator family's time waits for in a step: the part of the device that it keeps busy, or none: launches,
// latencies, work too small to fill anything, the host.
enum class Bound : std::uint8_t { overhead, arithmetic, vector, memory, write, links };
inline constexpr int kBounds = kResources + 1;
inline constexpr std::array<std::string_view, kBounds> kBoundNames = {"overhead", "arithmetic", "vector",
                                                                      "memory",   "write",      "links"};

// The part that works longest at its peak during `time`; overhead, where even that one works for less than a quarter of
// it.
inline constexpr double kFilled = 0.25;
Bound bound_of(Seconds time, const std::array<Seconds, kResources>& busy);

// What the operators of one family do in a step: the one thing that a kind of device says of them. How far each time is
// to be trusted is Device::provenance().
struct Phase {
  Seconds time;                                    // of one device
  std::array<Seconds, kResources> busy{};          // of one device: how long each part works at its peak
  std::array<Joules, kEnergyComponents> energy{};  // of all devices, above idle
  Bytes bytes;                                     // memory traffic of one device
  Bound bound = Bound::overhead;

  Seconds& busy_of(Resource resource) { return busy[static_cast<std::size_t>(resource)]; }
  Joules& energy_of(EnergyComponent component) { return energy[static_cast<std::size_t>(component)]; }
};

// A step as its families, which follow one another.
class StepPhases {
 public:
  // Of a family that has none yet: one that takes no time.
  Phase& of(std::size_t family) {
    present_ |= 1U << family;
    return by_family_[family];
  }
  Phase& of(OperatorFamily family) { return of(static_cast<std::size_t>(family)); }
  [[nodiscard]] bool has(std::size_t family) const { return (present_ >> family & 1U) != 0; }
  // Of a family that it has.
  [[nodiscard]] const Phase& at(std::size_t family) const { return by_family_[family]; }
  [[nodiscard]] Seconds time() const;
  [[nodiscard]] Joules energy() const;

  Seconds extrapolated;  // of the time, outside the range of the parameters that priced it
  double tabled = 0;     // how far measured steps correct it: 1 within their reach, 0 beyond (hardware/steps)
  Flops flops;           // of one device
  Bytes expert_bytes;    // of the bytes: weights of routed experts

 private:
  std::array<Phase, kOperatorFamilies> by_family_{};
  unsigned present_ = 0;  // a bit for each family: most steps have four or five
};

// What one step costs the devices of one replica (energy: all of them together).
struct StepCost {
  Seconds device;                                            // of one stage under pipeline parallelism
  std::array<Seconds, kOperatorFamilies> by_family{};        // of `device`
  std::array<Bound, kOperatorFamilies> bound{};              // of each family's time
  std::array<Joules, kEnergyComponents> energy{};            // dynamic energy only
  std::array<Joules, kOperatorFamilies> energy_by_family{};  // sums to the same
  std::array<Seconds, kResources> busy{};  // of one device: how long each part works at its peak; at most the step
  Seconds extrapolated;                    // of the device's time, outside the range of its parameters
  double tabled = 0;                       // of the step: StepPhases::tabled
  Flops flops;                             // of one device
  Bytes expert_bytes;                      // of `bytes`: weights of routed experts
  Bytes bytes;                             // memory traffic of one device

  // Adds `share` of another step, which runs before or after this one; a family's bound stays that of whichever takes
  // more of its time, and `tabled` this one's.
  void add(const StepCost& other, double share);
  // Adds `share` of another's joules alone: work that is done beside this step.
  void add_energy(const StepCost& other, double share);
};

// The one place where the parts of a step are summed. Reads from a cache can beat the memory's bandwidth, so that no
// part counts as busy for longer than the step lasts.
StepCost cost_of(const StepPhases&);

}  // namespace llmscape::hardware
