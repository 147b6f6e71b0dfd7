// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_case.hpp"

#include "traces/kernel_case_fields.hpp"

#include <fmt/format.h>

namespace llmscape::traces {

std::string_view operator_of(const KernelCase& what) {
  return std::visit([]<class Case>(const Case&) { return CaseKind<Case>::name; }, what);
}

std::string name_of(const KernelCase& what) {
  return std::visit(
      []<class Case>(const Case& c) {
        std::string name(CaseKind<Case>::name);
        for_each_field<Case>([&](const auto& field) { name += fmt::format("/{}:{}", field.key, c.*field.member); });
        return name;
      },
      what);
}

}  // namespace llmscape::traces
