// SPDX-License-Identifier: Apache-2.0
#include "hardware/dram.hpp"

namespace llmscape::hardware {

BytesPerSecond Dram::bandwidth() const { return *pin_rate * static_cast<double>(*width * *packages) * *efficiency; }

Bytes Dram::capacity() const { return *package_capacity * static_cast<double>(*packages); }

Tag Dram::bandwidth_tag() const {
  return weaker(weaker(pin_rate.tag, efficiency.tag), weaker(width.tag, packages.tag));
}

const Fields<Dram>& dram_fields() {
  static const Fields<Dram> fields = [] {
    Fields<Dram> f("dram", "packages of DRAM side by side");
    f.add("description", &Dram::description, "what it is, in a line");
    f.add("packages", &Dram::packages, "packages, or stacks, that work side by side").between(1, 1e6);
    f.add("width", &Dram::width, "data pins of a package").required().between(1, 1e6);
    f.add("pin_rate", &Dram::pin_rate, "bandwidth of a data pin").required().above(0);
    f.add("package_capacity", &Dram::package_capacity, "capacity of a package").required().above(0);
    f.add("efficiency", &Dram::efficiency, "share of the bandwidth that streaming reaches")
        .required()
        .above(0)
        .at_most(1);
    f.add("energy", &Dram::energy, "dynamic energy of what is read or written, from the cells to the chip")
        .required()
        .at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
