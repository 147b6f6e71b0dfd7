// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/field_info.hpp"
#include "base/sourced.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// What Fields is made from: how a member of each type is described, read and written.
namespace llmscape::detail {

class FieldAccess;

// Readers of scalars: report to `diagnostics` and return nothing when the text is not what the field wants.
std::optional<double> read_number(const YamlNode&, const FieldInfo&, Diagnostics&);  // quantities too, in SI units
std::optional<std::int64_t> read_integer(const YamlNode&, const FieldInfo&, Diagnostics&, std::int64_t lowest,
                                         std::int64_t highest);  // what the member's type can hold
std::optional<bool> read_boolean(const YamlNode&, const FieldInfo&, Diagnostics&);
std::optional<std::string> read_text(const YamlNode&, const FieldInfo&, Diagnostics&);  // choices are checked
// Splits {value, tag, source}; returns the node of the value, nullptr after reporting.
const YamlNode* read_sourced(const YamlNode&, const FieldInfo&, Tag& tag, std::string& source, Diagnostics&);
// Checks kind mapping, unknown and missing keys, and reads each field that is present through `access`, and each family
// and group that is absent from its default.
bool read_struct(void* object, const YamlNode&, const StructInfo&,
                 const std::vector<std::shared_ptr<const FieldAccess>>& access, Diagnostics&);
void report_not(const YamlNode&, const FieldInfo&, std::string_view wanted, Diagnostics&);
void report_not(const YamlNode&, const std::string& subject, std::string_view wanted, Diagnostics&);
// Finds the member that the node names; nullptr after reporting.
const FamilyInfo::Member* read_tag(const YamlNode&, const FamilyInfo&, Diagnostics&);
// The node without its tag key (and an empty mapping for a bare scalar).
YamlNode without_tag(const YamlNode&, const FamilyInfo&);

template <class T>
struct IsQuantity : std::false_type {};
template <int... Exponents>
struct IsQuantity<Quantity<Exponents...>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsSourced : std::false_type {};
template <class T>
struct IsSourced<Sourced<T>> : std::true_type {
  using Inner = T;
};

// A number in that dimension's unit, rounded to so many significant digits; 0: as many as identify it.
YamlNode number_node(double si, Dimension dimension, int digits);
// {value, tag, source}, or the value alone where it is the user's own.
YamlNode sourced_node(YamlNode value, Tag tag, const std::string& source);
YamlNode list_of(std::vector<YamlNode> items);
// On one line; nothing for nothing.
std::optional<std::string> flow_of(const std::optional<YamlNode>& node);

// How a member's value is written, the opposite of read_value; nothing for an optional that is empty.
template <class T>
std::optional<YamlNode> node_of(const T& value, int digits = 0) {
  if constexpr (std::is_same_v<T, bool>) {
    return YamlNode::scalar(value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, std::string>) {
    return YamlNode::scalar(value);
  } else if constexpr (std::is_integral_v<T>) {
    return YamlNode::scalar(std::to_string(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return number_node(value, Dimension::number, digits);
  } else if constexpr (IsQuantity<T>::value) {
    return number_node(value.si(), DimensionOf<T>::value, digits);
  } else if constexpr (IsSourced<T>::value) {
    return sourced_node(*node_of(value.value, digits), value.tag, value.source);
  } else if constexpr (std::is_same_v<T, YamlNode>) {
    return value.kind == YamlNode::Kind::null ? std::nullopt : std::optional(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? node_of(*value, digits) : std::nullopt;
  } else if constexpr (IsVector<T>::value) {
    std::vector<YamlNode> items;
    for (const auto& item : value) items.push_back(*node_of(item, digits));
    return list_of(std::move(items));
  } else {
    static_assert(!sizeof(T), "no text for this type");
  }
}

// Fills kind and dimension of `info` for the scalar type T.
template <class T>
void describe(FieldInfo& info) {
  if constexpr (std::is_same_v<T, bool>) info.kind = ValueKind::boolean;
  else if constexpr (std::is_same_v<T, YamlNode>) info.kind = ValueKind::any;
  else if constexpr (std::is_same_v<T, std::string>) info.kind = ValueKind::text;
  else if constexpr (std::is_integral_v<T>) info.kind = ValueKind::integer;
  else if constexpr (std::is_same_v<T, double>) info.kind = ValueKind::number;
  else if constexpr (IsQuantity<T>::value) {
    info.kind = ValueKind::quantity;
    info.dimension = DimensionOf<T>::value;
  } else if constexpr (IsSourced<T>::value) {
    describe<typename IsSourced<T>::Inner>(info);
    info.sourced = true;
  } else if constexpr (IsOptional<T>::value) describe<typename IsOptional<T>::Inner>(info);
  else if constexpr (IsVector<T>::value) {
    describe<typename IsVector<T>::Inner>(info);
    info.list = true;
  } else static_assert(!sizeof(T), "not a field type");
}

template <class T>
std::optional<T> read_scalar(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  if constexpr (std::is_same_v<T, bool>) {
    return read_boolean(node, info, diagnostics);
  } else if constexpr (std::is_same_v<T, YamlNode>) {
    return node;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return read_text(node, info, diagnostics);
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto highest = std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                                 ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                                 : std::numeric_limits<std::int64_t>::max();
    auto v = read_integer(node, info, diagnostics, std::numeric_limits<T>::min(), highest);
    return v ? std::optional<T>(static_cast<T>(*v)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, double>) {
    return read_number(node, info, diagnostics);
  } else if constexpr (IsQuantity<T>::value) {
    auto v = read_number(node, info, diagnostics);
    return v ? std::optional<T>(T(*v)) : std::nullopt;
  } else if constexpr (IsSourced<T>::value) {
    T out;
    const YamlNode* value = read_sourced(node, info, out.tag, out.source, diagnostics);
    if (!value) return std::nullopt;
    auto v = read_scalar<typename IsSourced<T>::Inner>(*value, info, diagnostics);
    if (!v) return std::nullopt;
    out.value = std::move(*v);
    return out;
  }
}

template <class T>
void read_value(T& out, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  if constexpr (IsOptional<T>::value) {
    if (auto v = read_scalar<typename IsOptional<T>::Inner>(node, info, diagnostics)) out = std::move(v);
  } else if constexpr (IsVector<T>::value) {
    if (!node.is_sequence()) return report_not(node, info, "a list", diagnostics);
    out.clear();
    for (const YamlNode& item : node.items)
      if (auto v = read_scalar<typename IsVector<T>::Inner>(item, info, diagnostics)) out.push_back(std::move(*v));
  } else {
    if (auto v = read_scalar<T>(node, info, diagnostics)) out = std::move(*v);
  }
}

}  // namespace llmscape::detail
