// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/row.hpp"

namespace llmscape::traces {

struct JsonMember;

// A JSON value with the place where it stands. Numbers are not converted: Row reads them from their text.
struct JsonValue {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  Span span;                        // a text includes its quotes
  std::string text;                 // of a text, without quotes and escapes
  std::vector<JsonValue> items;     // of a list
  std::vector<JsonMember> members;  // of an object, in order

  [[nodiscard]] const JsonValue* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  Span span;  // of the key
  JsonValue value;
};

// What an object may hold: every other key is an error.
struct JsonKeys {
  std::vector<std::string> required, optional;
};

// The object that is the whole row, or nothing after reporting: text that is not JSON, something else than an object,
// nesting deeper or with more keys than any trace has, a key that stands twice.
// Objects and lists lie in each other at most `deepest` deep.
std::optional<JsonValue> parse_object(const Row& row, std::size_t deepest = 8);
// Reports every key of `object` that `keys` lacks (did you mean ...), and every required one that is missing.
bool check_keys(const JsonValue& object, const JsonKeys& keys, const Row& row);
// The list under `key`, or nullptr after reporting that it is none.
const JsonValue* find_list(const JsonValue& object, std::string_view key, const Row& row);
// The text under `key`, or nullptr after reporting that it is none.
const JsonValue* find_text(const JsonValue& object, std::string_view key, const Row& row);

}  // namespace llmscape::traces
