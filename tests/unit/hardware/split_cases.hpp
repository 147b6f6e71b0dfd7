// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "closed_form_cases.hpp"
#include "hardware/dataflow/chip.hpp"
#include "hardware/split/link.hpp"

// What the tests of split devices share.
namespace llmscape::hardware {

// 10 us and 1 GB/s, 10 pJ/bit.
inline SplitLink test_link() {
  SplitLink link;
  link.bandwidth.value = BytesPerSecond(1e9);
  link.latency.value = Seconds(10e-6);
  link.energy.value = JoulesPerByte(8 * 10e-12);
  return link;
}

// An SN40L socket that takes nothing but the time of its sections: 1.2 TB/s of weights and KV.
inline DataflowDevice bare_socket() {
  auto socket = catalogued<DataflowDevice>("sn40l");
  socket.shapes = {};
  socket.call.value = socket.fabric.fill.value = Seconds();
  return socket;
}

// Llama-3.2-1B in a format that the device computes.
inline models::ModelSpec runnable(const Device& device) {
  models::ModelSpec model = llama_1b();
  for (const std::string& problem : device.problems(model, {}))
    if (problem.find("bf16") != std::string::npos) return quantised(model, kInt4);
  return model;
}

}  // namespace llmscape::hardware
