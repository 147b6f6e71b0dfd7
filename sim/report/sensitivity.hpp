// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/explore/sensitivity.hpp"

namespace llmscape::report {

// For the terminal, no line wider than 100 columns: a table of the effects, those that have any first, and a tornado
// picture for each metric.
std::string to_text(const explore::Sensitivity& sensitivity);
// {"schema": "sensitivity/1", "change": 0.1, "base": {metric: value}, "parameters": [{"path", "value", "effects":
// {metric: {"less", "more"}}, "refused": {"more": why}}]}; effects are shares of the metric.
std::string to_json(const explore::Sensitivity& sensitivity);
// One line for each parameter and metric: parameter,value,metric,base,less,more.
std::string to_csv(const explore::Sensitivity& sensitivity);

}  // namespace llmscape::report
