// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/quantity.hpp"

namespace llmscape {

// What a name or an expression stands for. Quantities are numbers in SI units; several runs may give a list of them,
// and a condition on a list holds or does not for each item.
using Value = std::variant<double, bool, std::string, std::vector<double>, std::vector<bool>>;

// The value that a scalar of a configuration has: "200 ms" is 0.2, "32 /s" is 32, "8" is 8, "2%" is 0.02, "true" is
// true, and what is none of these stays text.
Value value_of(std::string_view text);
// What kind of quantity that is: "200 ms" a time, "8" and "2%" numbers; nothing of what is none.
std::optional<Dimension> dimension_of_value(std::string_view text);

// What is known of the values of a name before there are any.
struct NameUnit {
  Dimension dimension = Dimension::number;
  bool in_name = false;   // a bare number is in it too: the name says the unit in full (output_tokens_per_joule)
  bool is_share = false;  // from 0 to 1
  bool is_text = false;   // no number at all; the dimension says nothing
};

// Arithmetic and comparisons over named values, for exclusions, SLOs, constraints and claims:
//   ttft.p99 <= 200 ms and hardware.devices[edge].count * 2 > 8
// Names are dotted paths with [items], hyphens inside them are theirs ("a - b" is a difference, "a-b" a name); numbers
// may have a unit or '%'; text stands in quotes ('h100-sxm', one within twice), or bare behind a name and == or !=.
// Operators, the loosest first: or; and, also written ','; not; == != < <= > >=; + -; * /; - before a value; brackets.
// Numbers that differ by rounding alone (base/rounding.hpp) are neither below nor above each other.
// Functions (base/functions.hpp) take sums: max(a, b - c); all() takes comparisons. Arithmetic on lists and their
// comparisons go item by item, a number with each; what 'and', 'or' and 'not' take is one condition: all(xs > 1).
class Expression {
 public:
  struct Name {
    std::string name;
    SourceRange where;
    bool may_be_text = false;  // stands alone behind == or !=, with a name before it
  };
  struct Node;

  // Nothing after reporting. `where` is the place of the text in a file (its first character), or has no source: then
  // messages show the text itself.
  static std::optional<Expression> parse(std::string_view text, const SourceRange& where, Diagnostics& diagnostics);

  using Lookup = std::function<std::optional<Value>(std::string_view name)>;
  // Nothing where a name has no value, or an operator cannot take what it is given (text + 1, division by 0).
  [[nodiscard]] std::optional<Value> evaluate(const Lookup& lookup) const;
  // As a condition: false where it has no value, or another one than true.
  [[nodiscard]] bool holds(const Lookup& lookup) const;
  using UnitOf = std::function<std::optional<NameUnit>(std::string_view name)>;
  // Reports each comparison, sum and difference whose sides are known to be in different units, a quantity and a bare
  // number other than 0 among them ("ttft.p99 <= 200"), shares that are compared with more than 1, and text where an
  // order or arithmetic takes numbers.
  void check_units(const UnitOf& unit_of, Diagnostics& diagnostics) const;
  // All names in it, in their order, so that unknown ones can be reported before anything runs.
  [[nodiscard]] const std::vector<Name>& names() const { return names_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
  std::vector<Name> names_;
};

}  // namespace llmscape
