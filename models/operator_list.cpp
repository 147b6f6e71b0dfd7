// SPDX-License-Identifier: Apache-2.0
#include "models/operator_list.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::models {
namespace {

constexpr double kNarrowestHidden = 2;  // bytes: bf16 or fp16
constexpr double kTokenScale = 4;       // bytes: fp32

}  // namespace

void OperatorList::add(AnyOperator what, int count) {
  if (count == 0) return;
  const auto same =
      std::find_if(operators_.begin(), operators_.end(), [&](const Operator& o) { return o.what == what; });
  if (same != operators_.end()) {
    same->count += count;
  } else {
    operators_.push_back({std::move(what), static_cast<double>(count)});
  }
}

void OperatorList::add_gemm(std::int64_t rows, std::int64_t k, std::int64_t n, const Format& weights,
                            const Format& activations, int count, Elementwise::Input input) {
  if (rows == 0) return;
  if (activations.bytes < kNarrowestHidden) {
    const bool in_groups = weights.group > 0 || activations.group > 0;
    add(Elementwise{Elementwise::Kind::quantise, quantised_bytes(rows, k, activations),
                    in_groups ? Elementwise::Input::elsewhere : input},
        count);
  }
  add(Gemm{rows, n, k, weights, activations}, count);
}

void OperatorList::add_elementwise(Elementwise::Kind kind, double bytes, int count) {
  add(Elementwise{kind, bytes}, count);
}

double quantised_bytes(std::int64_t rows, std::int64_t k, const Format& activations) {
  if (activations.bytes >= kNarrowestHidden) return 0;
  const double scales = activations.group > 0 ? 0 : kTokenScale * static_cast<double>(rows);
  return (kNarrowestHidden + activations.bytes_with_scales()) * static_cast<double>(rows * k) + scales;
}

Format hidden_format(const Precision& precision) {
  return precision.activations.bytes < kNarrowestHidden ? Format{} : precision.activations;
}

Format inputs_of(const Precision& precision, const Format& weights) {
  if (precision.own_inputs && precision.own_inputs->weights == weights) return precision.own_inputs->inputs;
  return weights.bytes < kNarrowestHidden ? precision.activations : hidden_format(precision);
}

}  // namespace llmscape::models
