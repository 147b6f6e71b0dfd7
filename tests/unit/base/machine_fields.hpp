// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

// A small configuration that has a field of every sort that trees and schemas are made from.
namespace llmscape::test {

struct Gpu {
  BytesPerSecond bandwidth;
  Sourced<double> efficiency{0.8, Tag::fitted, "run 3, H100"};
  int lanes = 4;
};

inline const Fields<Gpu>& gpu_fields() {
  static const Fields<Gpu> fields = [] {
    Fields<Gpu> f("gpu", "a graphics processor");
    f.add("bandwidth", &Gpu::bandwidth, "of its memory").above(0).required();
    f.add("efficiency", &Gpu::efficiency, "share of the peak that is reached").between(0, 1);
    f.add("lanes", &Gpu::lanes, "PCIe lanes").power_of_two().at_least(1);
    return f;
  }();
  return fields;
}

struct Cooling {
  virtual ~Cooling() = default;
};
struct Water : Cooling {
  double flow = 2;
};
struct Air : Cooling {
  int fans = 2;
};

inline const Family<Cooling>& cooling() {
  static const Fields<Water> water = [] {
    Fields<Water> f("water", "cold plates");
    f.add("flow", &Water::flow, "litres a minute").above(0.5);
    return f;
  }();
  static const Fields<Air> air = [] {
    Fields<Air> f("air", "fans");
    f.add("fans", &Air::fans, "how many");
    return f;
  }();
  static const Family<Cooling> family(
      "cooling", "kind",
      {member<Water, Cooling>("water", "cold plates", water), member<Air, Cooling>("air", "fans", air)});
  return family;
}

struct Machine {
  Gpu gpu;
  std::vector<Gpu> spares;
  std::map<std::string, Gpu> named;
  std::shared_ptr<const Cooling> cooling;
  std::string label;
};

inline const Fields<Machine>& machine_fields() {
  static const Fields<Machine> fields = [] {
    Fields<Machine> f("machine", "what stands in the rack");
    f.add_group("gpu", &Machine::gpu, gpu_fields(), "the one that works").required().preset_from("gpus");
    f.add_group("spares", &Machine::spares, gpu_fields(), "those that wait").preset_from("gpus");
    f.add_group("named", &Machine::named, gpu_fields(), "those with names");
    f.add_family("cooling", &Machine::cooling, cooling(), "how heat leaves").otherwise("water");
    f.add("label", &Machine::label, "what is written on it");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::test
