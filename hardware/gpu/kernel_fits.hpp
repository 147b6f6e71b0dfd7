// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/gpu.hpp"

#include <array>

namespace llmscape::hardware {

// By operator family and regime of a step: the fit of the kernels that take most of the family's time in a step of that
// regime of this model, with prompts and decodes in it, whose tag and residuals these times have. The pointer is into
// the GPU, or to what is assumed of all; null where the family has no such kernels, and for messages.
using KernelFits = std::array<std::array<const Fit*, kRegimes>, kOperatorFamilies>;
KernelFits kernel_fits(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                       const models::ExpertCoverage& coverage);

}  // namespace llmscape::hardware
