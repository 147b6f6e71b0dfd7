// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/expression.hpp"
#include "base/expression_node.hpp"
#include "base/functions.hpp"

namespace llmscape {
namespace {

using Node = Expression::Node;

// Of time, data, work, energy, area and mass, as in Quantity.
using Exponents = std::array<int, 6>;
constexpr Exponents kWithoutUnit{};

Exponents exponents_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::number: break;
    case Dimension::time: return {1, 0, 0, 0, 0, 0};
    case Dimension::rate: return {-1, 0, 0, 0, 0, 0};
    case Dimension::data: return {0, 1, 0, 0, 0, 0};
    case Dimension::bandwidth: return {-1, 1, 0, 0, 0, 0};
    case Dimension::work: return {0, 0, 1, 0, 0, 0};
    case Dimension::throughput: return {-1, 0, 1, 0, 0, 0};
    case Dimension::energy: return {0, 0, 0, 1, 0, 0};
    case Dimension::power: return {-1, 0, 0, 1, 0, 0};
    case Dimension::energy_per_byte: return {0, -1, 0, 1, 0, 0};
    case Dimension::energy_per_flop: return {0, 0, -1, 1, 0, 0};
    case Dimension::area: return {0, 0, 0, 0, 1, 0};
    case Dimension::per_energy: return {0, 0, 0, -1, 0, 0};
    case Dimension::mass_per_energy: return {0, 0, 0, -1, 0, 1};
  }
  return kWithoutUnit;
}

// What of a text is in these units; nothing where none has a name.
std::optional<Dimension> dimension_in(const Exponents& exponents) {
  const auto* found =
      std::ranges::find_if(kDimensions, [&](Dimension dimension) { return exponents_of(dimension) == exponents; });
  return found == kDimensions.end() ? std::nullopt : std::optional(*found);
}

// A side of an operation: its units where they are known.
struct Side {
  std::optional<Exponents> exponents{};
  bool takes_bare = false;  // a bare number is in the same unit
  bool is_share = false;
  bool is_text = false;
};

const double* number_of(const Node& node) {
  return node.kind == Node::Kind::value ? std::get_if<double>(&node.value) : nullptr;
}

// The place of an operation is that of its first value.
const SourceRange& place_of_first(const Node& node) {
  const Node* at = &node;
  while (!at->where.source && at->left) at = at->left.get();
  return at->where;
}

std::string named(const Node& node) {
  return node.kind == Node::Kind::name || node.kind == Node::Kind::value ? in_quotes(node.symbol) : "this side";
}

class UnitCheck {
 public:
  UnitCheck(const Expression::UnitOf& unit_of, Diagnostics& diagnostics)
      : unit_of_(unit_of), diagnostics_(diagnostics) {}

  Side side(const Node& node) {
    switch (node.kind) {
      case Node::Kind::value: return number_of(node) ? Side{exponents_of(node.dimension)} : Side{};
      case Node::Kind::name: return of_name(node.symbol);
      case Node::Kind::not_: side(*node.left); return {};
      case Node::Kind::minus: {
        const Side of = side(*node.left);
        report_text(*node.left, of, "-");
        return of;
      }
      case Node::Kind::call: return of_call(node);
      case Node::Kind::operation: break;
    }
    const Side left = side(*node.left), right = side(*node.right);
    if (node.symbol == "and" || node.symbol == "or") return {};
    if (node.symbol != "==" && node.symbol != "!=") {
      report_text(*node.left, left, node.symbol);
      report_text(*node.right, right, node.symbol);
    }
    if (node.symbol == "*" || node.symbol == "/") return product(left, right, node.symbol == "*" ? 1 : -1);
    compare(*node.left, left, *node.right, right);
    if (node.symbol != "+" && node.symbol != "-") return {};
    return left.exponents == right.exponents ? left : Side{};
  }

 private:
  Side of_name(const std::string& name) const {
    const auto unit = unit_of_(name);
    if (unit && unit->is_text) return Side{.is_text = true};
    return unit ? Side{exponents_of(unit->dimension), unit->in_name, unit->is_share} : Side{};
  }

  // The functions that choose among their arguments, or add them, leave them in their unit.
  Side of_call(const Node& node) {
    constexpr std::array<std::string_view, 7> kKeep = {"abs", "list", "min", "max", "sum", "mean", "median"};
    std::vector<Side> sides;
    for (const auto& argument : node.arguments) sides.push_back(side(*argument));
    const auto alike = [&](const Side& one) { return one.exponents == sides.front().exponents; };
    if (std::ranges::find(kKeep, node.symbol) == kKeep.end() || !std::ranges::all_of(sides, alike)) return {};
    return {sides.front().exponents, sides.front().takes_bare};
  }

  void report_text(const Node& node, const Side& of, std::string_view symbol) {
    if (of.is_text)
      diagnostics_.error(place_of_first(node), fmt::format("{} is text, and '{}' takes numbers", named(node), symbol));
  }

  static Side product(const Side& left, const Side& right, int sign) {
    if (!left.exponents || !right.exponents) return {};
    Exponents exponents = *left.exponents;
    for (std::size_t i = 0; i < exponents.size(); ++i) exponents[i] += sign * (*right.exponents)[i];
    return {exponents, left.takes_bare || right.takes_bare};
  }

  void compare(const Node& left_node, const Side& left, const Node& right_node, const Side& right) {
    if (!left.exponents || !right.exponents) return;
    if (left.exponents == right.exponents) {
      if (left.is_share) check_share(left_node, right_node);
      if (right.is_share) check_share(right_node, left_node);
      return;
    }
    // What is wrong is the value that somebody wrote, else the side behind the sign.
    const bool right_is_wrong = number_of(right_node) || !number_of(left_node);
    if (right_is_wrong) report(left_node, left, right_node, right);
    else report(right_node, right, left_node, left);
  }

  void report(const Node& due_node, const Side& due, const Node& wrong_node, const Side& wrong) {
    const auto is_zero = [](const Node& node) { return number_of(node) && *number_of(node) == 0; };
    const auto due_dimension = dimension_in(*due.exponents), dimension = dimension_in(*wrong.exponents);
    const bool bare = wrong.exponents == kWithoutUnit, due_bare = due.exponents == kWithoutUnit;
    if ((bare && (due.takes_bare || !due_dimension || is_zero(wrong_node))) ||
        (due_bare && (wrong.takes_bare || !dimension || is_zero(due_node))))
      return;
    const auto name = [](const std::optional<Dimension>& one) -> std::string_view {
      return one ? name_of(*one) : "another unit";
    };
    std::string message =
        fmt::format("{} is in {} where {} is due", named(wrong_node), name(dimension), name(due_dimension));
    if (number_of(wrong_node) && due_dimension) {
      const auto read = parse_quantity(wrong_node.symbol, *due_dimension);
      if (const auto* error = std::get_if<QuantityError>(&read))
        message = fmt::format("{} {}", in_quotes(wrong_node.symbol), error->message);
    }
    if (due_node.kind == Node::Kind::name)
      message += fmt::format("; {} is {}", in_quotes(due_node.symbol),
                             due_bare ? "a plain number" : fmt::format("in units of {}", name(due_dimension)));
    diagnostics_.error(place_of_first(wrong_node), std::move(message));
  }

  void check_share(const Node& share, const Node& node) {
    const double* number = number_of(node);
    if (!number || *number <= 1) return;
    const bool percents = *number <= 100 && !node.symbol.ends_with('%');
    diagnostics_.error(node.where,
                       fmt::format("{} is more than the whole: {} is a share, from 0 to 1", in_quotes(node.symbol),
                                   in_quotes(share.symbol)),
                       percents ? fmt::format("did you mean '{} %'?", node.symbol) : "");
  }

  const Expression::UnitOf& unit_of_;
  Diagnostics& diagnostics_;
};

}  // namespace

void Expression::check_units(const UnitOf& unit_of, Diagnostics& diagnostics) const {
  UnitCheck(unit_of, diagnostics).side(*root_);
}

}  // namespace llmscape
