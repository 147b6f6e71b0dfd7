// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/collectives.hpp"
#include "hardware/gpu/attention_decode.hpp"
#include "hardware/gpu/attention_prefill.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"

namespace llmscape::hardware {

// Fitted parameters as groups of a device file, numbers with four digits. The residuals come from the report.
YamlNode group_of(const GemmParameters& p, const FamilyReport& report);
YamlNode group_of(const PrefillAttentionParameters& p, const FamilyReport& report);
YamlNode group_of(const DecodeAttentionParameters& p, const FamilyReport& report);
YamlNode group_of(const ElementwiseParameters& p, const FamilyReport& report);
YamlNode group_of(const CollectiveFit& p);

}  // namespace llmscape::hardware
