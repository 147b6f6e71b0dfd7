// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/expression.hpp"

namespace llmscape {

struct Function;

// What the parser makes of an expression and the evaluation walks; nobody else includes this.
struct Expression::Node {
  enum class Kind { value, name, not_, minus, operation, call };
  Kind kind = Kind::value;
  Value value;         // of a value
  std::string symbol;  // of a name, or the operator, or the function; of a number, how it is written
  std::shared_ptr<const Node> left, right;
  std::vector<std::shared_ptr<const Node>> arguments;  // of a call, at least one
  const Function* function = nullptr;                  // of a call
  Dimension dimension = Dimension::number;             // of a number
  SourceRange where;                                   // of a value, a name or a call
};

}  // namespace llmscape
