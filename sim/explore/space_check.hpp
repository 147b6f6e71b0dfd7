// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/explore/plan.hpp"

namespace llmscape::explore {

// As check_plan: reads a scenario for each value of each axis (64 of long axes, both ends of intervals), the others at
// their first; where that cannot run, once more with others that have fewer mistakes, which would hide some. Where
// `money` is an objective or has a limit, prices in several currencies are refused: they have no order.
void check_space(const Plan& plan, const scenario::Catalogs& catalogs, bool money, Diagnostics& diagnostics);

}  // namespace llmscape::explore
