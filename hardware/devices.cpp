// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/chip.hpp"
#include "hardware/cpu.hpp"
#include "hardware/dataflow/chip.hpp"
#include "hardware/device.hpp"
#include "hardware/gpu/gpu.hpp"

namespace llmscape::hardware {

std::array<Spread, kOperatorFamilies> Device::spreads() const {
  std::array<Spread, kOperatorFamilies> spreads;
  const auto tags = provenance();
  for (std::size_t family = 0; family < spreads.size(); ++family) spreads[family] = spread_of(tags[family]);
  return spreads;
}

const Family<Device>& devices() {
  static const Family<Device> family(
      "device", "kind",
      {
          member<Gpu, Device>("gpu", "kernels in tiles, a host and a device timeline", gpu_fields()),
          member<Cpu, Device>("cpu", "processor cores: a roofline with a cost for short products", cpu_fields()),
          member<CimDevice, Device>("cim", "compute-in-memory macros beside a streamed memory", cim_fields()),
          member<DataflowDevice, Device>("dataflow", "fused sections over sockets with three memory tiers",
                                         dataflow_fields()),
      });
  return family;
}

}  // namespace llmscape::hardware
