// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/field_access.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace llmscape {

// One kind of a family: its name, its fields and how to read and write it.
template <class Base>
struct FamilyMember {
  std::string name, text;
  const StructInfo* info;
  std::function<std::shared_ptr<const Base>(const YamlNode&, Diagnostics&)> read;
  // Without its tag; nothing for an object of another kind.
  std::function<std::optional<YamlNode>(const Base&, int digits)> write;
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
    return members_[static_cast<std::size_t>(chosen - info_.members.data())].read(detail::without_tag(node, info_),
                                                                                  diagnostics);
  }
  // The mapping that `read` reads as an equal object; `digits` as for Fields. Throws std::logic_error for an object of
  // no kind of the family.
  YamlNode write(const Base& object, int digits = 0) const {
    for (const auto& m : members_)
      if (auto fields = m.write(object, digits)) return detail::with_tag(info_.tag, m.name, std::move(*fields));
    throw std::logic_error("an object of no kind of " + info_.name);
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
    Refine& required() {
      info_.required = true;
      info_.default_text.reset();
      return *this;
    }
    Refine& at_least(double v) {
      info_.minimum = v;
      return *this;
    }
    Refine& above(double v) {
      info_.minimum = v;
      info_.above_minimum = true;
      return *this;
    }
    Refine& at_most(double v) {
      info_.maximum = v;
      return *this;
    }
    Refine& between(double low, double high) {
      info_.minimum = low;
      info_.maximum = high;
      return *this;
    }
    Refine& power_of_two() {
      info_.power_of_two = true;
      return *this;
    }
    Refine& one_of(std::vector<std::string> choices) {
      info_.kind = ValueKind::choice;
      info_.choices = std::move(choices);
      return *this;
    }
    // Of a group: a bare scalar is the value of that key of it.
    Refine& or_bare(std::string key) {
      info_.bare = std::move(key);
      return *this;
    }
    Refine& preset_from(std::string catalog) {
      info_.catalog = std::move(catalog);
      return *this;
    }
    // Of a family: the kind that is read when the key is absent, as YAML: "{kind: fixed, value: 128}".
    Refine& otherwise(std::string yaml) {
      info_.default_text = std::move(yaml);
      return *this;
    }

   private:
    FieldInfo& info_;
  };

  Fields(std::string name, std::string text) {
    info_.name = std::move(name);
    info_.text = std::move(text);
  }

  // A scalar, optional, list or sourced member. Its default is what T{} holds.
  template <class M, class Owner>
  Refine add(std::string key, M Owner::* member, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    detail::describe<M>(info);
    info.default_text = detail::flow_of(detail::node_of(T{}.*member));
    access<detail::ValueAccess<T, M>>(member);
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
    access<detail::EnumAccess<T, E>>(member, std::move(names));
    return Refine(info);
  }

  // A nested struct (also std::optional<U>, std::vector<U>, SharedList<U>, std::map<std::string, U>).
  template <class M, class U, class Owner>
  Refine add_group(std::string key, M Owner::* member, const Fields<U>& fields, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    info.kind = ValueKind::group;
    info.group = &fields.info();
    info.list = detail::kListOf<M, U>;
    info.map = std::is_same_v<M, std::map<std::string, U>>;
    if (info.list) info.default_text = "[]";
    else if (!std::is_same_v<M, std::optional<U>>) info.default_text = "{}";
    access<detail::GroupAccess<T, M, U>>(member, fields);
    return Refine(info);
  }

  // A kind chosen from a family, held as std::shared_ptr<const Base> (or a vector of them).
  template <class M, class Base, class Owner>
  Refine add_family(std::string key, M Owner::* member, const Family<Base>& family, std::string text) {
    FieldInfo& info = push(std::move(key), std::move(text));
    info.kind = ValueKind::family;
    info.family = &family.info();
    info.list = std::is_same_v<M, std::vector<std::shared_ptr<const Base>>>;
    access<detail::FamilyAccess<T, M, Base>>(member, family);
    return Refine(info);
  }

  // A condition over the whole struct, checked when all its fields were read without error.
  void check(std::function<void(const T&, const YamlNode&, Diagnostics&)> condition) {
    checks_.push_back(std::move(condition));
  }

  // Reads `node` over `out`: scalars and lists that are absent keep their value, families and groups are read from
  // their defaults. False if anything was reported.
  bool read(T& out, const YamlNode& node, Diagnostics& diagnostics) const {
    const int before = diagnostics.errors();
    detail::read_struct(&out, node, info_, access_, diagnostics);
    if (diagnostics.errors() == before)
      for (const auto& check : checks_) check(out, node, diagnostics);
    return diagnostics.errors() == before;
  }

  // The mapping that `read` reads as an equal struct: quantities with their unit, values with tag and source, and
  // nothing where the default says the same. `digits`: significant ones of numbers and quantities; 0: as many as
  // identify the value.
  YamlNode write(const T& value, int digits = 0) const { return write(value, T{}, digits); }
  // The same where `absent` is what an empty mapping is read over.
  YamlNode write(const T& value, const T& absent, int digits) const {
    return detail::write_struct(&value, &absent, info_, access_, digits);
  }

  [[nodiscard]] const StructInfo& info() const { return info_; }

 private:
  template <class Access, class M, class Owner, class... Rest>
  void access(M Owner::* member, Rest&&... rest) {
    access_.push_back(std::make_shared<const Access>(member, std::forward<Rest>(rest)...));
  }
  FieldInfo& push(std::string key, std::string text) {
    if (text.empty()) throw std::logic_error("field '" + key + "' of '" + info_.name + "' has no description");
    FieldInfo& info = info_.fields.emplace_back();
    info.key = std::move(key);
    info.text = std::move(text);
    return info;
  }

  StructInfo info_;
  std::vector<std::shared_ptr<const detail::FieldAccess>> access_;
  std::vector<std::function<void(const T&, const YamlNode&, Diagnostics&)>> checks_;
};

// A family member whose type D (derived from Base) is read by its own field table.
template <class D, class Base>
FamilyMember<Base> member(std::string name, std::string text, const Fields<D>& fields) {
  return {std::move(name), std::move(text), &fields.info(),
          [&fields](const YamlNode& node, Diagnostics& diagnostics) -> std::shared_ptr<const Base> {
            auto out = std::make_shared<D>();
            return fields.read(*out, node, diagnostics) ? out : nullptr;
          },
          [&fields](const Base& object, int digits) -> std::optional<YamlNode> {
            if (typeid(object) != typeid(D)) return std::nullopt;
            return fields.write(static_cast<const D&>(object), digits);
          }};
}

}  // namespace llmscape
