// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/sourced.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape {

// What a configuration may hold, declared once per field: key, member, unit, default or required, range, description. The
// same table feeds parsing, defaults, ranges, `show`, the JSON Schema and the docs.

struct StructInfo;
struct FamilyInfo;

enum class ValueKind { boolean, integer, number, quantity, text, choice, group, family };

struct FieldInfo {
  std::string key;
  std::string text;  // the description: one line, mandatory (an empty one throws when the table is built)
  ValueKind kind = ValueKind::text;
  Dimension dimension = Dimension::number;
  bool list = false;      // a sequence of `kind`
  bool map = false;       // a mapping from free names to `kind`
  bool sourced = false;   // may also be written {value, tag, source}
  bool required = false;
  std::optional<std::string> default_text;  // as it would be written in YAML (families: a whole mapping); absent: nothing is assumed
  std::optional<double> minimum, maximum;   // SI units
  bool above_minimum = false;               // the minimum itself is refused
  bool power_of_two = false;
  std::vector<std::string> choices;
  const StructInfo* group = nullptr;
  const FamilyInfo* family = nullptr;
  std::string catalog;  // mappings may name `preset: NAME`, read from this catalogue; a bare scalar NAME means the same
};

struct StructInfo {
  std::string name;  // "device", "batcher": as in `show fields device`
  std::string text;
  std::vector<FieldInfo> fields;
  [[nodiscard]] const FieldInfo* find(std::string_view key) const;
};

// The field's default_text as a tree; one that is not YAML is a mistake in the field table and throws.
YamlNode default_of(const FieldInfo& info);

// A choice of kinds with fields of their own: {kind: poisson, rate: 8 /s}. A bare scalar names a kind with all defaults.
struct FamilyInfo {
  struct Member {
    std::string name, text;
    const StructInfo* info;
  };
  std::string name;  // "arrivals"
  std::string tag;   // the key that chooses: "kind", "policy"
  std::vector<Member> members;
};

namespace detail {
using ReadField = std::function<void(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics)>;

// Readers of scalars: report to `diagnostics` and return nothing when the text is not what the field wants.
std::optional<double> read_number(const YamlNode&, const FieldInfo&, Diagnostics&);          // quantities too, in SI units
std::optional<std::int64_t> read_integer(const YamlNode&, const FieldInfo&, Diagnostics&, std::int64_t lowest,
                                         std::int64_t highest);  // what the member's type can hold
std::optional<bool> read_boolean(const YamlNode&, const FieldInfo&, Diagnostics&);
std::optional<std::string> read_text(const YamlNode&, const FieldInfo&, Diagnostics&);       // choices are checked
// Splits {value, tag, source}; returns the node of the value, nullptr after reporting.
const YamlNode* read_sourced(const YamlNode&, const FieldInfo&, Tag& tag, std::string& source, Diagnostics&);
// Checks kind mapping, unknown and missing keys, and calls `read[i]` for each field that is present, and for each family and
// group that is absent with its default.
bool read_struct(void* object, const YamlNode&, const StructInfo&, const std::vector<ReadField>& read, Diagnostics&);
void report_not(const YamlNode&, const FieldInfo&, std::string_view wanted, Diagnostics&);
void report_not(const YamlNode&, const std::string& subject, std::string_view wanted, Diagnostics&);
// Finds the member that the node names; nullptr after reporting.
const FamilyInfo::Member* read_tag(const YamlNode&, const FamilyInfo&, Diagnostics&);
// The node without its tag key (and an empty mapping for a bare scalar).
YamlNode without_tag(const YamlNode&, const FamilyInfo&);

template <class T> struct IsQuantity : std::false_type {};
template <int A, int B, int C, int D> struct IsQuantity<Quantity<A, B, C, D>> : std::true_type {};
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type { using Inner = T; };
template <class T> struct IsVector : std::false_type {};
template <class T> struct IsVector<std::vector<T>> : std::true_type { using Inner = T; };
template <class T> struct IsSourced : std::false_type {};
template <class T> struct IsSourced<Sourced<T>> : std::true_type { using Inner = T; };

// `text` as a YAML scalar, in quotes where it needs them.
std::string written(const std::string& text);
// {value, tag, source} as YAML, or the value alone where nothing says where it comes from.
std::string written(const std::string& value, Tag tag, const std::string& source);

// How a member's value is written in YAML; nothing for an optional that is empty.
template <class T>
std::optional<std::string> text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return written(value);
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return format_quantity(value, Dimension::number);
  } else if constexpr (IsQuantity<T>::value) {
    return format(value);
  } else if constexpr (IsSourced<T>::value) {
    return written(*text_of(value.value), value.tag, value.source);
  } else if constexpr (IsOptional<T>::value) {
    return value ? text_of(*value) : std::nullopt;
  } else if constexpr (IsVector<T>::value) {
    std::string items;
    for (const auto& item : value) items += (items.empty() ? "" : ", ") + *text_of(item);
    return "[" + items + "]";
  } else {
    static_assert(!sizeof(T), "no text for this type");
  }
}

// Fills kind and dimension of `info` for the scalar type T.
template <class T>
void describe(FieldInfo& info) {
  if constexpr (std::is_same_v<T, bool>) info.kind = ValueKind::boolean;
  else if constexpr (std::is_same_v<T, std::string>) info.kind = ValueKind::text;
  else if constexpr (std::is_integral_v<T>) info.kind = ValueKind::integer;
  else if constexpr (std::is_same_v<T, double>) info.kind = ValueKind::number;
  else if constexpr (IsQuantity<T>::value) { info.kind = ValueKind::quantity; info.dimension = DimensionOf<T>::value; }
  else if constexpr (IsSourced<T>::value) { describe<typename IsSourced<T>::Inner>(info); info.sourced = true; }
  else if constexpr (IsOptional<T>::value) describe<typename IsOptional<T>::Inner>(info);
  else if constexpr (IsVector<T>::value) { describe<typename IsVector<T>::Inner>(info); info.list = true; }
  else static_assert(!sizeof(T), "not a field type");
}

template <class T>
std::optional<T> read_scalar(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  if constexpr (std::is_same_v<T, bool>) {
    return read_boolean(node, info, diagnostics);
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
    if (auto v = read_scalar<typename IsOptional<T>::Inner>(node, info, diagnostics)) out = std::move(*v);
  } else if constexpr (IsVector<T>::value) {
    if (!node.is_sequence()) return report_not(node, info, "a list", diagnostics);
    out.clear();
    for (const YamlNode& item : node.items)
      if (auto v = read_scalar<typename IsVector<T>::Inner>(item, info, diagnostics)) out.push_back(std::move(*v));
  } else {
    if (auto v = read_scalar<T>(node, info, diagnostics)) out = std::move(*v);
  }
}
}  // namespace detail

// One kind of a family: its name, its fields and how to read it.
template <class Base>
struct FamilyMember {
  std::string name, text;
  const StructInfo* info;
  std::function<std::shared_ptr<const Base>(const YamlNode&, Diagnostics&)> read;
};

// The explicit table of a family of kinds; `tag` is the key that names the kind.
template <class Base>
class Family {
 public:
  Family(std::string name, std::string tag, std::vector<FamilyMember<Base>> members) : members_(std::move(members)) {
    info_.name = std::move(name);
    info_.tag = std::move(tag);
    for (const auto& m : members_) info_.members.push_back({m.name, m.text, m.info});
  }
  [[nodiscard]] const FamilyInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<FamilyMember<Base>>& members() const { return members_; }
  // nullptr after reporting to `diagnostics`.
  std::shared_ptr<const Base> read(const YamlNode& node, Diagnostics& diagnostics) const {
    const FamilyInfo::Member* chosen = detail::read_tag(node, info_, diagnostics);
    if (!chosen) return nullptr;
    return members_[static_cast<std::size_t>(chosen - info_.members.data())].read(detail::without_tag(node, info_), diagnostics);
  }

 private:
  FamilyInfo info_;
  std::vector<FamilyMember<Base>> members_;
};

template <class T>
class Fields {
 public:
  // Refines the field just added: f.add("rate", &T::rate, "arrivals per second").above(0).required();
  class Refine {
   public:
    explicit Refine(FieldInfo& info) : info_(info) {}
    Refine& required() { info_.required = true; info_.default_text.reset(); return *this; }
    Refine& at_least(double v) { info_.minimum = v; return *this; }
    Refine& above(double v) { info_.minimum = v; info_.above_minimum = true; return *this; }
    Refine& at_most(double v) { info_.maximum = v; return *this; }
    Refine& between(double low, double high) { info_.minimum = low; info_.maximum = high; return *this; }
    Refine& power_of_two() { info_.power_of_two = true; return *this; }
    Refine& one_of(std::vector<std::string> choices) {
      info_.kind = ValueKind::choice;
      info_.choices = std::move(choices);
      return *this;
    }
    Refine& preset_from(std::string catalog) { info_.catalog = std::move(catalog); return *this; }
    // Of a family: the kind that is read when the key is absent, as YAML: "{kind: fixed, value: 128}".
    Refine& otherwise(std::string yaml) { info_.default_text = std::move(yaml); return *this; }

   private:
    FieldInfo& info_;
  };

  Fields(std::string name, std::string text) { info_.name = std::move(name); info_.text = std::move(text); }

  // A scalar, optional, list or sourced member. Its default is what T{} holds.
  template <class M, class Owner>
  Refine add(std::string key, M Owner::* member, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    detail::describe<M>(info);
    info.default_text = detail::text_of(T{}.*member);
    read_.push_back([member](void* object, const YamlNode& node, [[maybe_unused]] const FieldInfo& field, Diagnostics& d) {
      detail::read_value(static_cast<T*>(object)->*member, node, field, d);
    });
    return Refine(info);
  }

  // An enumeration written by name.
  template <class E, class Owner>
  Refine add_enum(std::string key, E Owner::* member, std::vector<std::pair<std::string, E>> names, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    info.kind = ValueKind::choice;
    for (const auto& [name, value] : names) {
      info.choices.push_back(name);
      if (value == T{}.*member) info.default_text = name;
    }
    read_.push_back([member, names = std::move(names)](void* object, const YamlNode& node, [[maybe_unused]] const FieldInfo& field, Diagnostics& d) {
      const auto word = detail::read_text(node, field, d);
      for (const auto& [name, value] : names)
        if (word && *word == name) static_cast<T*>(object)->*member = value;
    });
    return Refine(info);
  }

  // A nested struct (also std::optional<U>, std::vector<U>, std::map<std::string, U>).
  template <class M, class U, class Owner>
  Refine add_group(std::string key, M Owner::* member, const Fields<U>& fields, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    info.kind = ValueKind::group;
    info.group = &fields.info();
    info.list = std::is_same_v<M, std::vector<U>>;
    info.map = std::is_same_v<M, std::map<std::string, U>>;
    if (info.list) info.default_text = "[]";
    else if (!std::is_same_v<M, std::optional<U>>) info.default_text = "{}";
    read_.push_back([member, &fields](void* object, const YamlNode& node, [[maybe_unused]] const FieldInfo& field, Diagnostics& d) {
      M& out = static_cast<T*>(object)->*member;
      if constexpr (std::is_same_v<M, std::vector<U>>) {
        if (!node.is_sequence()) return detail::report_not(node, field, "a list", d);
        out.clear();
        for (const YamlNode& item : node.items) fields.read(out.emplace_back(), item, d);
      } else if constexpr (std::is_same_v<M, std::map<std::string, U>>) {
        if (!node.is_mapping()) return detail::report_not(node, field, "a mapping", d);
        for (const auto& entry : node.entries) fields.read(out[entry.key], entry.value, d);
      } else if constexpr (std::is_same_v<M, std::optional<U>>) {
        fields.read(out.emplace(), node, d);
      } else {
        fields.read(out, node, d);
      }
    });
    return Refine(info);
  }

  // A kind chosen from a family, held as std::shared_ptr<const Base> (or a vector of them).
  template <class M, class Base, class Owner>
  Refine add_family(std::string key, M Owner::* member, const Family<Base>& family, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    info.kind = ValueKind::family;
    info.family = &family.info();
    info.list = std::is_same_v<M, std::vector<std::shared_ptr<const Base>>>;
    read_.push_back([member, &family](void* object, const YamlNode& node, [[maybe_unused]] const FieldInfo& field, Diagnostics& d) {
      M& out = static_cast<T*>(object)->*member;
      if constexpr (std::is_same_v<M, std::vector<std::shared_ptr<const Base>>>) {
        if (!node.is_sequence()) return detail::report_not(node, field, "a list", d);
        out.clear();
        for (const YamlNode& item : node.items) out.push_back(family.read(item, d));
      } else {
        out = family.read(node, d);
      }
    });
    return Refine(info);
  }

  // A condition over the whole struct, checked when all its fields were read without error.
  void check(std::function<void(const T&, const YamlNode&, Diagnostics&)> condition) { checks_.push_back(std::move(condition)); }

  // Reads `node` over `out`: scalars and lists that are absent keep their value, families and groups are read from their
  // defaults. False if anything was reported.
  bool read(T& out, const YamlNode& node, Diagnostics& diagnostics) const {
    const int before = diagnostics.errors();
    detail::read_struct(&out, node, info_, read_, diagnostics);
    if (diagnostics.errors() == before)
      for (const auto& check : checks_) check(out, node, diagnostics);
    return diagnostics.errors() == before;
  }

  [[nodiscard]] const StructInfo& info() const { return info_; }

 private:
  FieldInfo& push(std::string key, std::string text) {
    if (text.empty()) throw std::logic_error("field '" + key + "' of '" + info_.name + "' has no description");
    FieldInfo& info = info_.fields.emplace_back();
    info.key = std::move(key);
    info.text = std::move(text);
    return info;
  }

  StructInfo info_;
  std::vector<detail::ReadField> read_;
  std::vector<std::function<void(const T&, const YamlNode&, Diagnostics&)>> checks_;
};

// A family member whose type D (derived from Base) is read by its own field table.
template <class D, class Base>
FamilyMember<Base> member(std::string name, std::string text, const Fields<D>& fields) {
  return {std::move(name), std::move(text), &fields.info(),
          [&fields](const YamlNode& node, Diagnostics& diagnostics) -> std::shared_ptr<const Base> {
            auto out = std::make_shared<D>();
            return fields.read(*out, node, diagnostics) ? out : nullptr;
          }};
}

}  // namespace llmscape
