// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/expression_node.hpp"
#include "base/functions.hpp"
#include "base/quantity.hpp"

namespace llmscape {

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr int kMaxDepth = 200;              // brackets and signs in each other; more is an accident
constexpr std::size_t kMaxLength = 10'000;  // of the text, for the same reason

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes of UTF-8 beyond ASCII count as letters: they are part of no operator.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_unit_letter(char c) { return is_letter(c) || is_digit(c) || c == '/' || c == '%'; }

struct Number {
  double value = 0;
  Dimension dimension = Dimension::number;
};

std::optional<Number> quantity(std::string_view text) {
  for (const Dimension dimension : kDimensions) {
    const auto read = parse_quantity(text, dimension);
    if (const double* value = std::get_if<double>(&read)) return Number{*value, dimension};
  }
  return std::nullopt;
}

// "2%" and what `quantity` reads.
std::optional<Number> quantity_or_percent(std::string_view text) {
  if (const auto number = quantity(text)) return number;
  if (!text.ends_with('%')) return std::nullopt;
  const auto percents = quantity(text.substr(0, text.size() - 1));
  return percents ? std::optional(Number{percents->value / 100, Dimension::number}) : std::nullopt;
}

// Descends by precedence; the first mistake ends it.
class Parser {
 public:
  Parser(std::string_view text, const SourceRange& where, Diagnostics& diagnostics)
      : text_(text), where_(where), diagnostics_(diagnostics) {
    if (!where_.source)
      where_ = {std::make_shared<const SourceText>(SourceText{"expression", std::string(text)}), 1, 1, 1};
  }

  NodePtr parse() {
    if (text_.size() > kMaxLength) return fail(fmt::format("an expression has at most {} characters", kMaxLength));
    NodePtr root = either();
    if (root && at_ < text_.size())
      return fail(fmt::format("{} is not expected here", in_quotes(text_.substr(at_, 1))));
    return root;
  }
  std::vector<Expression::Name> names;

 private:
  [[nodiscard]] SourceRange place(std::size_t start, std::size_t length) const {
    SourceRange range = where_;
    range.column += static_cast<int>(start);
    range.length = static_cast<int>(std::max<std::size_t>(1, length));
    return range;
  }
  NodePtr fail(std::string message, std::string suggestion = {}) {
    if (!failed_) diagnostics_.error(place(std::min(at_, text_.size()), 1), std::move(message), std::move(suggestion));
    failed_ = true;
    return nullptr;
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    const std::size_t end = at_ + symbol.size();
    const bool part_of_name =
        is_letter(symbol.front()) && end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]));
    if (part_of_name) return false;
    at_ = end;
    skip_spaces();
    return true;
  }

  static NodePtr operation(std::string symbol, NodePtr left, NodePtr right) {
    if (!left || !right) return nullptr;
    return std::make_shared<const Node>(
        Node{Node::Kind::operation, {}, std::move(symbol), std::move(left), std::move(right), {}, nullptr, {}, {}});
  }

  NodePtr either() {
    NodePtr left = both();
    while (left && take("or")) left = operation("or", std::move(left), both());
    return left;
  }
  NodePtr both() {
    NodePtr left = negation();
    while (left && (take("and") || take(","))) left = operation("and", std::move(left), negation());
    return left;
  }
  NodePtr negation() {
    if (!take("not")) return comparison();
    return within([this] { return negation(); }, Node::Kind::not_);
  }
  NodePtr comparison() {
    NodePtr left = sum();
    for (const char* symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!left || !take(symbol)) continue;
      NodePtr right = sum();
      const auto is_name = [](const NodePtr& node) { return node && node->kind == Node::Kind::name; };
      const bool equality = std::string_view(symbol) == "==" || std::string_view(symbol) == "!=";
      if (equality && is_name(left) && is_name(right)) names.back().may_be_text = true;
      return operation(symbol, std::move(left), std::move(right));
    }
    if (left && take("=")) return fail("'=' compares nothing", "use '=='");
    return left;
  }
  NodePtr sum() {
    NodePtr left = product();
    while (left) {
      const char* const symbol = take("+") ? "+" : take("-") ? "-" : nullptr;
      if (!symbol) break;
      left = operation(symbol, std::move(left), product());
    }
    return left;
  }
  NodePtr product() {
    NodePtr left = sign();
    while (left) {
      const char* const symbol = take("*") ? "*" : take("/") ? "/" : nullptr;
      if (!symbol) break;
      left = operation(symbol, std::move(left), sign());
    }
    return left;
  }
  NodePtr sign() {
    if (!take("-")) return single();
    return within([this] { return sign(); }, Node::Kind::minus);
  }
  template <class Inner>
  NodePtr within(const Inner& inner, Node::Kind kind) {
    if (++depth_ > kMaxDepth) return fail("this is nested too deeply");
    NodePtr node = inner();
    --depth_;
    if (!node) return nullptr;
    return std::make_shared<const Node>(Node{kind, {}, "", std::move(node), nullptr, {}, nullptr, {}, {}});
  }
  NodePtr single() {
    if (take("(")) {
      if (++depth_ > kMaxDepth) return fail("this is nested too deeply");
      NodePtr node = either();
      --depth_;
      if (node && !take(")")) return fail("')' is missing here");
      return node;
    }
    skip_spaces();
    if (at_ == text_.size()) return fail("a value is missing here");
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    if (c == '\'' || c == '"') return text(c);
    if (is_letter(c)) return name();
    return fail(fmt::format("{} is no value", in_quotes(text_.substr(at_, 1))));
  }

  // What stands from `start` to here.
  NodePtr leaf(Value value, std::size_t start, Dimension dimension = Dimension::number) {
    std::string written(text_.substr(start, at_ - start));
    return std::make_shared<const Node>(Node{Node::Kind::value,
                                             std::move(value),
                                             std::move(written),
                                             nullptr,
                                             nullptr,
                                             {},
                                             nullptr,
                                             dimension,
                                             place(start, at_ - start)});
  }
  NodePtr number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.' || text_[end] == '_')) ++end;
    if (end + 1 < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const std::size_t digits = end + 1 + static_cast<std::size_t>(text_[end + 1] == '-' || text_[end + 1] == '+');
      if (digits < text_.size() && is_digit(text_[digits]))
        for (end = digits; end < text_.size() && is_digit(text_[end]);) ++end;
    }
    const std::string_view digits = text_.substr(at_, end - at_);
    const auto plain = quantity(digits);
    if (!plain) return fail(fmt::format("{} is no number", in_quotes(digits)));
    std::size_t unit = end;
    while (unit < text_.size() && text_[unit] == ' ') ++unit;
    std::size_t unit_end = unit;
    while (unit_end < text_.size() && is_unit_letter(text_[unit_end])) ++unit_end;
    const std::string_view symbol = text_.substr(unit, unit_end - unit);
    const std::size_t start = std::exchange(at_, end);
    if (symbol == "%") {
      at_ = unit_end;
      return leaf(plain->value / 100, start);
    }
    if (symbol.empty()) return leaf(plain->value, start);
    if (const auto number = quantity(text_.substr(start, unit_end - start))) {
      at_ = unit_end;
      return leaf(number->value, start, number->dimension);
    }
    return leaf(plain->value, start);
  }
  NodePtr text(char quote) {
    std::string content;
    for (std::size_t from = at_ + 1;;) {
      const std::size_t end = text_.find(quote, from);
      if (end == std::string_view::npos) return fail(fmt::format("the text that begins with {} has no end", quote));
      content += text_.substr(from, end - from);
      from = end + 2;
      if (end + 1 == text_.size() || text_[end + 1] != quote)
        return leaf(std::move(content), std::exchange(at_, end + 1));
      content += quote;  // twice: it belongs to the text
    }
  }
  NodePtr name() {
    const std::size_t start = at_;
    const auto follows = [this] {
      return at_ + 1 < text_.size() && (is_letter(text_[at_ + 1]) || is_digit(text_[at_ + 1]));
    };
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[') {
        const std::size_t close = text_.find(']', at_);
        if (close == std::string_view::npos) return fail("']' is missing after this");
        at_ = close + 1;
      } else if (is_letter(c) || is_digit(c) || ((c == '-' || c == '.') && follows())) {
        ++at_;
      } else {
        break;
      }
    }
    const std::string word(text_.substr(start, at_ - start));
    if (word == "true" || word == "false") return leaf(word == "true", start);
    if (word == "and" || word == "or" || word == "not") {
      at_ = start;
      return fail(fmt::format("a value is missing before '{}'", word));
    }
    if (take("(")) return call(word, start);
    const SourceRange where = place(start, word.size());
    names.push_back({word, where, false});
    return std::make_shared<const Node>(Node{Node::Kind::name, {}, word, nullptr, nullptr, {}, nullptr, {}, where});
  }
  NodePtr call(const std::string& word, std::size_t start) {
    const Function* function = find_function(word);
    if (!function) {
      at_ = start;
      return fail(fmt::format("there is no function '{}'", word), did_you_mean(word, function_names()));
    }
    if (++depth_ > kMaxDepth) return fail("this is nested too deeply");
    std::vector<NodePtr> arguments;
    do {
      arguments.push_back(function->takes_conditions ? comparison() : sum());
      if (!arguments.back()) return nullptr;
    } while (take(","));
    --depth_;
    if (!take(")")) return fail("')' is missing here");
    if (arguments.size() < function->least || arguments.size() > function->most) {
      at_ = start;
      return fail(fmt::format("'{}' is written {}", word, function->form));
    }
    return std::make_shared<const Node>(Node{
        Node::Kind::call, {}, word, nullptr, nullptr, std::move(arguments), function, {}, place(start, word.size())});
  }

  std::string_view text_;
  SourceRange where_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

Value value_of(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto number = quantity_or_percent(text)) return number->value;
  return std::string(text);
}

std::optional<Dimension> dimension_of_value(std::string_view text) {
  const auto number = quantity_or_percent(text);
  return number ? std::optional(number->dimension) : std::nullopt;
}

std::optional<Expression> Expression::parse(std::string_view text, const SourceRange& where, Diagnostics& diagnostics) {
  Parser parser(text, where, diagnostics);
  Expression expression;
  expression.root_ = parser.parse();
  if (!expression.root_) return std::nullopt;
  expression.text_ = text;
  expression.names_ = std::move(parser.names);
  return expression;
}

}  // namespace llmscape
