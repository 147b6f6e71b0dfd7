// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace llmscape::testing {

// A scenario with one request on a device of round figures without overheads: 100 Tflop/s and 1 TB/s.
inline std::string round_device(int prompt, int output) {
  return "schema: scenario/1\n"
         "model: llama-3.1-8b\n"
         "hardware:\n"
         "  devices:\n"
         "    - {kind: roofline, name: round, accuracy: none, peak_bf16: 100 Tflop/s, memory_bandwidth: 1 TB/s,\n"
         "       memory_capacity: 80 GB, compute_efficiency: 1, attention_efficiency: 1, memory_efficiency: 1,\n"
         "       per_operator: 0 s, per_step: 0 s, per_request: 0 s, tdp: 400 W, idle_power: 100 W,\n"
         "       compute_energy: 1 pJ/flop, memory_energy: 10 pJ/B}\n"
         "workload:\n"
         "  arrivals: {kind: periodic, rate: 0.001 /s}\n"
         "  requests: 1\n"
         "  stream: {kind: lengths, prompt: {kind: fixed, value: " +
         std::to_string(prompt) + "}, output: {kind: fixed, value: " + std::to_string(output) + "}}\n";
}

}  // namespace llmscape::testing
