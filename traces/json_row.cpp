// SPDX-License-Identifier: Apache-2.0
#include "traces/json_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace llmscape::traces {
namespace {

using nlohmann::json;

// Far beyond any trace; it keeps broken rows from costing quadratic time.
constexpr std::size_t kMostKeys = 64;

// Counts what the lexer has consumed: the library tells no positions to its handlers.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// Builds the tree of one row from the library's events.
class TreeBuilder {
 public:
  TreeBuilder(const Row& row, std::size_t deepest) : row_(row), deepest_(deepest), consumed_(row.text().data()) {}

  bool build() {
    const std::string_view text = row_.text();
    const char* end = text.data() + text.size();
    return json::sax_parse(CountingIterator(text.data(), &consumed_), CountingIterator(end, &consumed_), this);
  }
  JsonValue take() { return std::move(root_); }

  bool null() { return add(JsonValue::Kind::null); }
  bool boolean(bool) { return add(JsonValue::Kind::boolean); }
  bool number_integer(json::number_integer_t) { return add(JsonValue::Kind::number); }
  bool number_unsigned(json::number_unsigned_t) { return add(JsonValue::Kind::number); }
  bool number_float(json::number_float_t, const std::string&) { return add(JsonValue::Kind::number); }
  bool binary(json::binary_t&) { return false; }  // not in JSON text
  bool string(std::string& text) { return add(JsonValue::Kind::text, std::move(text)); }
  bool start_object(std::size_t) { return add(JsonValue::Kind::object) && open(); }
  bool start_array(std::size_t) { return add(JsonValue::Kind::list) && open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const Span span = next_token();
    JsonValue& object = *open_.back();
    if (object.find(name)) {
      row_.error(span, fmt::format("key {} stands twice", in_quotes(name)));
      return false;
    }
    if (object.members.size() == kMostKeys) {
      row_.error(span, fmt::format("more than {} keys", kMostKeys));
      return false;
    }
    object.members.push_back({std::move(name), span, {}});
    return true;
  }
  bool parse_error(std::size_t read, const std::string&, const json::exception& error) {
    constexpr int kNumberOverflow = 406;  // nlohmann-json's "number overflow"
    const std::size_t begin = std::min(begin_of_next_token(), std::max<std::size_t>(read, 1) - 1);
    row_.error({begin, std::max<std::size_t>(read, begin + 1) - begin},
               error.id == kNumberOverflow ? "this number is too large"
               : read > row_.text().size() ? "not JSON: it ends too early"
                                           : "not JSON from here on");
    return false;
  }

 private:
  // Behind the token before, and what separates them.
  [[nodiscard]] std::size_t begin_of_next_token() const { return row_.text().find_first_not_of(" \t\r\n,:", end_); }

  // The token that was just read.
  Span next_token() {
    const std::string_view text = row_.text();
    const std::size_t begin = begin_of_next_token();
    end_ = static_cast<std::size_t>(consumed_ - text.data());
    // The lexer ends a number by reading one character more.
    if (text[begin] == '-' || (text[begin] >= '0' && text[begin] <= '9'))
      end_ = std::min(text.find_first_of(" \t\r\n,]}", begin), text.size());
    return {begin, end_ - begin};
  }

  bool add(JsonValue::Kind kind, std::string text = {}) {
    JsonValue value{kind, next_token(), std::move(text), {}, {}};
    if (open_.empty()) {
      last_ = &(root_ = std::move(value));
    } else if (open_.back()->kind == JsonValue::Kind::list) {
      last_ = &open_.back()->items.emplace_back(std::move(value));
    } else {
      last_ = &(open_.back()->members.back().value = std::move(value));
    }
    return true;
  }

  bool open() {
    if (open_.size() == deepest_) {
      row_.error(last_->span, fmt::format("nested deeper than {} levels", deepest_));
      return false;
    }
    open_.push_back(last_);
    return true;
  }

  bool close() {
    next_token();
    open_.back()->span.length = end_ - open_.back()->span.position;
    open_.pop_back();
    return true;
  }

  const Row& row_;
  std::size_t deepest_;
  const char* consumed_;
  std::size_t end_ = 0;  // of the token read last
  JsonValue root_;
  JsonValue* last_ = nullptr;     // the value added last
  std::vector<JsonValue*> open_;  // objects and lists not closed yet, outermost first
};

const JsonValue* find_kind(const JsonValue& object, std::string_view key, JsonValue::Kind kind, std::string_view wanted,
                           const Row& row) {
  const JsonValue* value = object.find(key);
  if (!value || value->kind == kind) return value;
  row.error(value->span, fmt::format("'{}' must be {}", key, wanted));
  return nullptr;
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &JsonMember::key);
  return found == members.end() ? nullptr : &found->value;
}

std::optional<JsonValue> parse_object(const Row& row, std::size_t deepest) {
  TreeBuilder builder(row, deepest);
  if (!builder.build()) return std::nullopt;
  JsonValue root = builder.take();
  if (root.kind == JsonValue::Kind::object) return root;
  row.error(root.span, "a row must be a JSON object");
  return std::nullopt;
}

bool check_keys(const JsonValue& object, const JsonKeys& keys, const Row& row) {
  std::vector<std::string> known = keys.required;
  known.insert(known.end(), keys.optional.begin(), keys.optional.end());
  bool good = true;
  for (const JsonMember& member : object.members) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    row.error(member.span, fmt::format("unknown key {}", in_quotes(member.key)), did_you_mean(member.key, known));
    good = false;
  }
  for (const std::string& key : keys.required) {
    if (object.find(key)) continue;
    row.error({object.span.position}, fmt::format("key '{}' is missing", key));
    good = false;
  }
  return good;
}

const JsonValue* find_list(const JsonValue& object, std::string_view key, const Row& row) {
  return find_kind(object, key, JsonValue::Kind::list, "a list", row);
}

const JsonValue* find_text(const JsonValue& object, std::string_view key, const Row& row) {
  return find_kind(object, key, JsonValue::Kind::text, "a text", row);
}

}  // namespace llmscape::traces
