// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/expression_node.hpp"
#include "base/functions.hpp"
#include "base/rounding.hpp"

namespace llmscape {
namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;
using Numbers = std::vector<double>;

std::optional<Value> computed(const Node& node, const Expression::Lookup& lookup);

std::optional<bool> truth(const NodePtr& node, const Expression::Lookup& lookup) {
  const auto value = computed(*node, lookup);
  const bool* is = value ? std::get_if<bool>(&*value) : nullptr;
  return is ? std::optional(*is) : std::nullopt;
}

// A condition that is decided by one side needs no value of the other.
std::optional<Value> combined(const Node& node, const Expression::Lookup& lookup) {
  const bool deciding = node.symbol == "or";
  const auto left = truth(node.left, lookup), right = truth(node.right, lookup);
  if (left == deciding || right == deciding) return Value(deciding);
  if (!left || !right) return std::nullopt;
  return Value(!deciding);
}

std::optional<double> arithmetic(std::string_view symbol, double a, double b) {
  const double result = symbol == "+" ? a + b : symbol == "-" ? a - b : symbol == "*" ? a * b : a / b;
  return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

bool is_comparison(std::string_view symbol) { return symbol.find_first_of("<>=") != std::string_view::npos; }

bool compared(std::string_view symbol, double a, double b) {
  if (symbol == "<") return a < b && !at_least(a, b);
  if (symbol == "<=") return at_most(a, b);
  if (symbol == ">") return a > b && !at_most(a, b);
  if (symbol == ">=") return at_least(a, b);
  return (a == b) == (symbol == "==");
}

// The numbers of a value that is one, or a list of them.
const double* number_in(const std::optional<Value>& value) { return value ? std::get_if<double>(&*value) : nullptr; }
const Numbers* list_in(const std::optional<Value>& value) { return value ? std::get_if<Numbers>(&*value) : nullptr; }

std::optional<Value> of_numbers(std::string_view symbol, double a, double b) {
  if (is_comparison(symbol)) return Value(compared(symbol, a, b));
  const auto result = arithmetic(symbol, a, b);
  return result ? std::optional<Value>(*result) : std::nullopt;
}

// Lists of one length item by item; a number with each item of a list.
std::optional<Value> of_lists(std::string_view symbol, const std::optional<Value>& left,
                              const std::optional<Value>& right) {
  const Numbers *as = list_in(left), *bs = list_in(right);
  const double *a = number_in(left), *b = number_in(right);
  if ((!as && !a) || (!bs && !b)) return std::nullopt;
  const std::size_t size = as ? as->size() : bs->size();
  if (bs && as && bs->size() != size) return std::nullopt;
  const auto pair_at = [&](std::size_t i) { return std::pair(as ? (*as)[i] : *a, bs ? (*bs)[i] : *b); };
  if (is_comparison(symbol)) {
    std::vector<bool> results;
    for (std::size_t i = 0; i < size; ++i) results.push_back(compared(symbol, pair_at(i).first, pair_at(i).second));
    return Value(std::move(results));
  }
  Numbers results;
  for (std::size_t i = 0; i < size; ++i) {
    const auto result = arithmetic(symbol, pair_at(i).first, pair_at(i).second);
    if (!result) return std::nullopt;
    results.push_back(*result);
  }
  return Value(std::move(results));
}

// What a function takes of a value: the numbers of it, or 1 and 0 for conditions.
std::optional<Numbers> taken(const Function& function, const std::optional<Value>& value) {
  if (!value) return std::nullopt;
  if (function.takes_conditions) {
    if (const bool* one = std::get_if<bool>(&*value)) return Numbers{*one ? 1. : 0.};
    const auto* each = std::get_if<std::vector<bool>>(&*value);
    return each ? std::optional(Numbers(each->begin(), each->end())) : std::nullopt;
  }
  if (const double* number = number_in(value)) return Numbers{*number};
  const Numbers* list = list_in(value);
  return list ? std::optional(*list) : std::nullopt;
}

std::optional<Value> of_call(const Node& node, const Expression::Lookup& lookup) {
  std::vector<Numbers> arguments;
  bool first_is_list = false;
  for (const NodePtr& argument : node.arguments) {
    const auto value = computed(*argument, lookup);
    auto numbers = taken(*node.function, value);
    if (!numbers) return std::nullopt;
    if (arguments.empty()) first_is_list = list_in(value) != nullptr;
    arguments.push_back(std::move(*numbers));
  }
  const auto results = node.function->of(arguments);
  if (!results || !std::ranges::all_of(*results, [](double result) { return std::isfinite(result); }))
    return std::nullopt;
  if (node.function->gives == Function::Gives::condition) return Value(results->front() != 0);
  // What makes lists of lists makes numbers of numbers, but for several of them.
  const bool list = results->size() > 1 || (node.function->gives == Function::Gives::list && first_is_list);
  return list ? Value(*results) : Value(results->front());
}

std::optional<Value> computed(const Node& node, const Expression::Lookup& lookup) {
  switch (node.kind) {
    case Node::Kind::value: return node.value;
    case Node::Kind::name: return lookup(node.symbol);
    case Node::Kind::not_: {
      const auto value = truth(node.left, lookup);
      return value ? std::optional<Value>(!*value) : std::nullopt;
    }
    case Node::Kind::minus: {
      const auto value = computed(*node.left, lookup);
      if (const double* number = number_in(value)) return Value(-*number);
      return of_lists("*", Value(-1.), value);
    }
    case Node::Kind::call: return of_call(node, lookup);
    case Node::Kind::operation: break;
  }
  if (node.symbol == "and" || node.symbol == "or") return combined(node, lookup);
  auto left = computed(*node.left, lookup), right = computed(*node.right, lookup);
  const double *a = number_in(left), *b = number_in(right);
  if (a && b) return of_numbers(node.symbol, *a, *b);
  if (list_in(left) || list_in(right)) return of_lists(node.symbol, left, right);
  if (node.symbol == "==" || node.symbol == "!=") {
    if (!left && node.left->kind == Node::Kind::name) left = node.left->symbol;
    if (!right && node.right->kind == Node::Kind::name) right = node.right->symbol;
    if (!left || !right) return std::nullopt;
    return Value((*left == *right) == (node.symbol == "=="));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> Expression::evaluate(const Lookup& lookup) const { return computed(*root_, lookup); }

bool Expression::holds(const Lookup& lookup) const { return evaluate(lookup) == Value(true); }

}  // namespace llmscape
