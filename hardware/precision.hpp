// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "models/model.hpp"

namespace llmscape::hardware {

struct Device;

// What the kernels of a device multiply, as its catalogue entry says.
struct Arithmetic {
  bool int8 = false, fp8 = false, fp4 = false;  // GEMMs of such inputs: it states a peak for them
  // Formats of weights that its kernels widen to 16 bits on the way to the GEMM (Marlin, Triton); empty: all that
  // kWidened (precision.cpp) lists.
  std::vector<std::string> widens;
};

// Who says what the inputs of GEMMs are.
enum class ActivationsBy {
  user,        // `model.activations`: taken as it is, or refused
  checkpoint,  // the model's own quantisation scheme; emulated with 16-bit inputs where the device lacks the units
  engine       // nobody, `model.weights` being another format than the checkpoint's: what engines do for it
};

// How a model's formats are served by a device.
struct ServedPrecision {
  models::Precision precision;
  std::vector<std::string> emulated;  // one sentence each: what runs in another way than its name says
  std::vector<std::string> problems;  // one sentence each: why it cannot run
};

// Engines' rules, by format of the weights and what the device multiplies (table and sources: precision.cpp). A device
// that does not say what it multiplies (Device::arithmetic) takes formats as they are.
ServedPrecision served_precision(const Device&, const models::Precision&, ActivationsBy);

// "weights fp8, activations fp8, KV bf16"; attention, experts, embeddings and head where they are stored in other
// formats.
std::string in_words(const models::Precision&);

}  // namespace llmscape::hardware
