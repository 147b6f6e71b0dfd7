// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// What stands between a call and the replicas: how many are let in, and the process that reads them.
const Fields<AdmissionConfig>& admission_fields();
const Fields<FrontEndConfig>& front_end_fields();

}  // namespace llmscape::scenario
