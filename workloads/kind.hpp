// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "base/fields.hpp"

namespace llmscape::workloads {

// A row of a family's table, with the text of its fields as its own.
template <class Base, class T>
FamilyMember<Base> kind(std::string name, const Fields<T>& fields) {
  return member<T, Base>(std::move(name), fields.info().text, fields);
}

}  // namespace llmscape::workloads
