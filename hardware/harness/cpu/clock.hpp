// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

namespace llmscape::hardware::harness {

// Time that this thread has run on a processor, all in all: what other programs take is not in it.
Seconds thread_cpu_time();

// What one reading of that clock costs, measured once.
Seconds clock_cost();

}  // namespace llmscape::hardware::harness
