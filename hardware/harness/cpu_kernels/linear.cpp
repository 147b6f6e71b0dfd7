// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/linear.hpp"

#include "base/module.hpp"
#include "hardware/harness/cpu_kernels/large_vector.hpp"
#include "hardware/harness/cpu_kernels/packed_product.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::hardware::harness::cpu_kernels {
namespace {

const OneDnn& onednn() {
  static const OneDnn& functions = *module_function<const OneDnn*()>("onednn", "llmscape_onednn")();
  return functions;
}

// Kept between calls: fresh pages would cost more than the copies into them.
LargeVector& room_for(std::int64_t floats) {
  static LargeVector room;
  if (static_cast<std::int64_t>(room.size()) < floats) room.resize(static_cast<std::size_t>(floats));
  return room;
}

}  // namespace

struct Linear::Packed {
  std::unique_ptr<PackedProduct> product;
};

Linear::Linear(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights)
    : outputs_(outputs), inputs_(inputs) {
  if (static_cast<std::int64_t>(weights.size()) != outputs * inputs)
    throw std::invalid_argument("weights of a linear layer are not outputs x inputs");
  packed_ = std::make_unique<Packed>(Packed{onednn().pack(outputs, inputs, weights)});
}
Linear::~Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;

void Linear::run(Rows<const float> x, Rows<float> y) const {
  // One to three rows take oneDNN 2.6 longer than four.
  constexpr std::int64_t kLeastRows = 4;
  if (x.rows >= kLeastRows) return multiply(x, y);
  if (x.rows == 0) return;
  LargeVector& padded = room_for(kLeastRows * (inputs_ + outputs_));
  const Rows<float> inputs{padded.data(), kLeastRows, inputs_, inputs_};
  const Rows<float> outputs{padded.data() + kLeastRows * inputs_, kLeastRows, outputs_, outputs_};
  for (std::int64_t row = 0; row < x.rows; ++row) std::ranges::copy(x[row], inputs[row].begin());
  multiply(inputs, outputs);
  for (std::int64_t row = 0; row < x.rows; ++row) std::ranges::copy(outputs[row], y[row].begin());
}

void Linear::multiply(Rows<const float> x, Rows<float> y) const { packed_->product->multiply(x, y); }

std::string onednn_version() { return onednn().version(); }

}  // namespace llmscape::hardware::harness::cpu_kernels
