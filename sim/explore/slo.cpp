// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/slo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "base/rounding.hpp"

namespace llmscape::explore {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

// A comparison in the text of one limit: where its sign stands.
struct Sign {
  std::size_t at, length;
};

// The only sign of comparison in the text; nothing if there are none or several.
std::optional<Sign> sign_in(std::string_view text) {
  std::optional<Sign> found;
  for (std::size_t at = text.find_first_of("<>=!"); at != std::string_view::npos;
       at = text.find_first_of("<>=!", at + found->length)) {
    if (found) return std::nullopt;
    found = Sign{at, at + 1 < text.size() && text[at + 1] == '=' ? std::size_t{2} : std::size_t{1}};
  }
  return found;
}

class SloReader {
 public:
  SloReader(std::string_view text, const std::string& source, const ResultsTable& table, Diagnostics& diagnostics)
      : source_(std::make_shared<const SourceText>(SourceText{source, std::string(text)})), table_(table),
        diagnostics_(diagnostics) {}

  std::vector<Limit> read() {
    const int before = diagnostics_.errors();
    const std::string_view text = source_->text;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      read_limit(begin, text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (diagnostics_.errors() > before) limits_.clear();
    return std::move(limits_);
  }

 private:
  void read_limit(std::size_t begin, std::string_view text) {
    const auto sign = sign_in(text);
    const std::string_view spelled = sign ? text.substr(sign->at, sign->length) : "";
    if (!sign || (spelled[0] != '<' && spelled[0] != '>')) {
      diagnostics_.error(place(begin, text.size()), fmt::format("{} is no limit", in_quotes(trimmed(text))),
                         "limits are comparisons between commas: ttft.p99 <= 200 ms, tpot.p99 <= 50 ms");
      return;
    }
    auto left = side(begin, text.substr(0, sign->at));
    auto right = side(begin + sign->at + sign->length, text.substr(sign->at + sign->length));
    if (!left || !right) return;
    if (const auto whole = Expression::parse(text, place(begin, text.size()), diagnostics_))
      check_units(*whole, table_, diagnostics_);
    // What is measured stands on the left: answers tell that side, and nearness is a share of the other.
    const bool mirrored = left->names().empty() && !right->names().empty();
    if (mirrored) std::swap(left, right);
    const bool at_most = (spelled[0] == '<') != mirrored;
    limits_.push_back({fmt::format("{} {}{} {}", trimmed(left->text()), at_most ? '<' : '>', spelled.substr(1),
                                   trimmed(right->text())),
                       std::move(*left), std::move(*right), at_most, spelled.size() == 1});
  }

  std::optional<Expression> side(std::size_t begin, std::string_view text) {
    auto expression = Expression::parse(text, place(begin, text.size()), diagnostics_);
    if (expression) check_names(*expression, table_, diagnostics_);
    return expression;
  }

  [[nodiscard]] SourceRange place(std::size_t begin, std::size_t length) const {
    return {source_, 1, static_cast<int>(begin) + 1, static_cast<int>(std::max<std::size_t>(1, length))};
  }

  std::shared_ptr<const SourceText> source_;
  const ResultsTable& table_;
  Diagnostics& diagnostics_;
  std::vector<Limit> limits_;
};

std::optional<double> number(const Expression& expression, const Expression::Lookup& lookup) {
  const auto value = expression.evaluate(lookup);
  const double* is = value ? std::get_if<double>(&*value) : nullptr;
  return is ? std::optional(*is) : std::nullopt;
}

}  // namespace

std::optional<MetricLimit> metric_limit(const Limit& limit) {
  MetricLimit plain{nullptr, 0, trimmed(limit.left.text()), trimmed(limit.right.text())};
  plain.column = metrics::find_column(plain.name);
  const auto value = limit.right.evaluate([](std::string_view) { return std::nullopt; });
  const double* bound = value ? std::get_if<double>(&*value) : nullptr;
  if (!plain.column || !bound) return std::nullopt;
  plain.bound = *bound;
  return plain;
}

double margin(const Limit& limit, const LimitSides& sides) {
  return limit.at_most ? sides.right - sides.left : sides.left - sides.right;
}

bool keeps(const Limit& limit, double margin, double right) {
  const double rounding = kLimitRounding * std::abs(right);
  return limit.strict ? margin > rounding : margin >= -rounding;
}

std::vector<Limit> read_slo(std::string_view text, const std::string& source, const ResultsTable& table,
                            Diagnostics& diagnostics) {
  return SloReader(text, source, table, diagnostics).read();
}

std::optional<LimitSides> sides_of(const Limit& limit, const ResultsTable& table, const Configuration& configuration) {
  const Expression::Lookup lookup = lookup_in(table, configuration);
  const auto left = number(limit.left, lookup), right = number(limit.right, lookup);
  if (!left || !right) return std::nullopt;
  return LimitSides{*left, *right};
}

bool speaks_of_losses(const std::vector<Limit>& limits) {
  constexpr std::array<std::string_view, 3> kSpeak = {"lost_share", "slo_attainment", "goodput_rps"};
  const auto speaks = [&](const Expression& expression) {
    return std::ranges::any_of(expression.names(), [&](const Expression::Name& name) {
      return std::ranges::find(kSpeak, name.name) != kSpeak.end();
    });
  };
  return std::ranges::any_of(limits, [&](const Limit& limit) { return speaks(limit.left) || speaks(limit.right); });
}

std::optional<double> lost_unasked(const std::vector<Limit>& limits, const ResultsTable& table,
                                   const Configuration& configuration) {
  if (limits.empty() || speaks_of_losses(limits)) return std::nullopt;
  const auto value = lookup_in(table, configuration)("lost_share");
  const double* lost = value ? std::get_if<double>(&*value) : nullptr;
  return lost && *lost > kMostLost ? std::optional(*lost) : std::nullopt;
}

}  // namespace llmscape::explore
