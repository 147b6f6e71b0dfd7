// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/generator.hpp"

namespace llmscape::workloads {

// The laws of arrivals, one row of the table arrivals() each.
FamilyMember<Arrivals> poisson_arrivals();
FamilyMember<Arrivals> gamma_arrivals();
FamilyMember<Arrivals> weibull_arrivals();
FamilyMember<Arrivals> periodic_arrivals();
FamilyMember<Arrivals> on_off_arrivals();
FamilyMember<Arrivals> ramp_arrivals();
FamilyMember<Arrivals> burst_arrivals();
FamilyMember<Arrivals> closed_loop_arrivals();
FamilyMember<Arrivals> drifting_arrivals();

// Rates above this are mistakes: 10^9 programs a second.
inline constexpr double kHighestRate = 1e9;

}  // namespace llmscape::workloads
