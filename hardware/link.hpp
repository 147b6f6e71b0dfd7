// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

namespace llmscape::hardware {

// What a link/1 file says, a preset of the catalogue `links`: the uplink of a rack, of a site or of a device that
// drafts, which have the same keys and some of their own.
struct Link {
  Sourced<BytesPerSecond> uplink;  // one way; the other way has as much of its own
  Sourced<Seconds> latency;        // one way
};
const Fields<Link>& link_fields();

}  // namespace llmscape::hardware
