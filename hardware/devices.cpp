// SPDX-License-Identifier: Apache-2.0
#include "hardware/device.hpp"
#include "hardware/gpu/gpu.hpp"

namespace llmscape::hardware {

const Family<Device>& devices() {
  static const Family<Device> family("device", "kind", {
      member<Gpu, Device>("gpu", "physical kernel model with a host and a device timeline", gpu_fields()),
  });
  return family;
}

}  // namespace llmscape::hardware
