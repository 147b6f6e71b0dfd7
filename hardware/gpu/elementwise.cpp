// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

// Activations on an RTX PRO 6000 (casys-kaist/LLMServingSim @ 5daddb2) leave L2 at half its size and then reach this
// share.
constexpr double kL2Share = 0.5;
constexpr double kFarEfficiency = 0.85;
constexpr double kPassColumns = 2048;  // where times step (hardware/calibration/scales_fit.hpp)

KernelCost streamed(const Chip& chip, const StreamParameters& p, double bytes) {
  if (bytes <= 0) return {};
  const double near = std::min(bytes, kL2Share * chip.l2.value.si()), far = bytes - near;
  const double bandwidth = chip.hbm_bandwidth.value.si();
  const double seconds =
      p.launch.si() + near / (p.efficiency * bandwidth) + far / (std::min(p.efficiency, kFarEfficiency) * bandwidth);
  return {Seconds(seconds), Flops(), Flops(), Bytes(bytes), Bytes(), Flops(), std::min(kLongestLaunch, p.launch)};
}

const StreamParameters* row_of(const ElementwiseParameters& p, models::Elementwise::Kind kind) {
  using Kind = models::Elementwise::Kind;
  switch (kind) {
    case Kind::norm: return &p.norm;
    case Kind::rope: return &p.rope;
    case Kind::embedding: return &p.embedding;
    case Kind::add: return p.add ? &*p.add : nullptr;
    case Kind::activation:
    case Kind::router:
    case Kind::permute: break;
    case Kind::scores:
      if (p.add) return &*p.add;
      break;
    case Kind::quantise:
      if (p.quantise) return &*p.quantise;
      break;
  }
  return &p.activation;
}

template <class Parameters>
Fields<Parameters> stream(const char* name = "stream", const char* what = "a kernel that streams its operands") {
  Fields<Parameters> f(name, what);
  f.add("launch", &Parameters::launch, "fixed time of the kernel").required().at_least(0);
  f.add("efficiency", &Parameters::efficiency, "share of the memory bandwidth; above 1 inside L2")
      .required()
      .above(0)
      .at_most(3);
  return f;
}

template <class Parameters>
Fields<Parameters> scales(const char* name) {
  Fields<Parameters> f = stream<Parameters>(name, "quantisation that finds its scales");
  f.add("row", &Parameters::row, "what each row adds, however wide").at_least(0);
  f.add("pass", &Parameters::pass, "what each begun 2,048 columns of a row add").at_least(0);
  return f;
}

}  // namespace

KernelCost elementwise_cost(const Chip& chip, const ElementwiseParameters& p, const models::Elementwise& e) {
  const StreamParameters* row = row_of(p, e.kind);
  if (!row) return {};
  KernelCost cost = streamed(chip, *row, e.bytes);
  if (e.average) cost.bytes = Bytes(*e.average);
  return cost;
}

KernelCost scales_cost(const Chip& chip, const ScaleParameters& p, std::int64_t rows, std::int64_t columns,
                       double bytes) {
  KernelCost cost = streamed(chip, {p.launch, p.efficiency}, bytes);
  const double passes = std::ceil(static_cast<double>(columns) / kPassColumns);
  cost.time += static_cast<double>(rows) * (p.row + passes * p.pass);
  return cost;
}

KernelCost copy_cost(const Chip& chip, const ElementwiseParameters& p, const models::Copy& copy) {
  return streamed(chip, p.activation, copy.bytes);
}

KernelCost sample_cost(const Chip& chip, const ElementwiseParameters& p, const models::Sample& s) {
  return streamed(chip, p.sampling, s.bytes());
}

const Fields<FittedScales>& fitted_scales_fields() {
  static const Fields<FittedScales> fields = [] {
    Fields<FittedScales> f = scales<FittedScales>("fitted_scales");
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

const Fields<ElementwiseParameters>& elementwise_fields() {
  static const Fields<ElementwiseParameters> fields = [] {
    using P = ElementwiseParameters;
    static const Fields<StreamParameters> row = stream<StreamParameters>();
    static const Fields<ScaleParameters> scale = scales<ScaleParameters>("scales");
    Fields<P> f("elementwise", "kernels that stream activations");
    f.add_group("norm", &P::norm, row, "layer norms").required();
    f.add_group("activation", &P::activation, row, "gated activations; also routers, permutes and copies").required();
    f.add_group("rope", &P::rope, row, "rotary embedding").required();
    f.add_group("quantise", &P::quantise, row, "quantisation of the inputs of GEMMs; absent: as activations");
    f.add_group("scales", &P::scales, scale,
                "in place of quantise where scales are found first, as in tables of GEMMs; absent: nowhere");
    f.add_group("add", &P::add, row, "residual additions; absent: they are part of the norms");
    f.add_group("embedding", &P::embedding, row, "rows of the input embedding").required();
    f.add_group("sampling", &P::sampling, row, "softmax, top-k and the draw").required();
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
