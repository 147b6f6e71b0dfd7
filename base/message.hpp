// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace llmscape {

// Values as bytes, for a process of the same program on the same machine: one after the other, read in the order in
// which they were written. No layout for files. Numbers keep their bits.
//
// Numbers, enumerations, strings, vectors, optionals and pairs cross as they are; a struct says its members once, for
// both ways: `template <class Message> void cross(Message& m) { m(first, second); }`.
class MessageWriter {
 public:
  template <class... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <class Value>
    requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void put(Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_size(std::size_t size) {
    auto as = static_cast<std::uint64_t>(size);
    put(as);
  }
  void put(std::string& text) {
    put_size(text.size());
    bytes_ += text;
  }
  template <class Value>
  void put(std::vector<Value>& values) {
    put_size(values.size());
    for (Value& value : values) put(value);
  }
  template <class Value>
  void put(std::optional<Value>& value) {
    put_size(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class First, class Second>
  void put(std::pair<First, Second>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class Struct>
    requires requires(Struct& s, MessageWriter& m) { s.cross(m); }
  void put(Struct& value) {
    value.cross(*this);
  }

  std::string bytes_;
};

// Throws std::runtime_error where the bytes end before the values do.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view next(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("a message ends too early");
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <class Value>
    requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void get(Value& value) {
    std::memcpy(&value, next(sizeof value).data(), sizeof value);  // NOLINT(bugprone-suspicious-stringview-data-usage)
  }
  std::size_t get_size() {
    std::uint64_t size = 0;
    get(size);
    return static_cast<std::size_t>(size);
  }
  void get(std::string& text) { text = next(get_size()); }
  template <class Value>
  void get(std::vector<Value>& values) {
    values.clear();
    for (std::size_t left = get_size(); left > 0; --left) get(values.emplace_back());
  }
  template <class Value>
  void get(std::optional<Value>& value) {
    value.reset();
    if (get_size() > 0) get(value.emplace());
  }
  template <class First, class Second>
  void get(std::pair<First, Second>& pair) {
    get(pair.first);
    get(pair.second);
  }
  template <class Struct>
    requires requires(Struct& s, MessageReader& m) { s.cross(m); }
  void get(Struct& value) {
    value.cross(*this);
  }

  std::string_view rest_;
};

template <class Value>
std::string encode(Value value) {
  MessageWriter writer;
  writer(value);
  return writer.take();
}
// Throws std::runtime_error where the bytes are not those of such a value.
template <class Value>
Value decode(std::string_view bytes) {
  Value value{};
  MessageReader reader(bytes);
  reader(value);
  if (!reader.at_end()) throw std::runtime_error("a message has more than its value");
  return value;
}

}  // namespace llmscape
