// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fabric.hpp"

namespace llmscape::hardware {

// What a link/1 file may say: the uplink that it gives to a rack, a site or a device that drafts.
const Fields<Rack>& link_fields();

}  // namespace llmscape::hardware
