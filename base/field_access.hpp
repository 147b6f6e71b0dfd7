// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/field_readers.hpp"
#include "base/shared_list.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace llmscape {

template <class Base>
class Family;
template <class T>
class Fields;

namespace detail {

// A member of a struct that is known by its address alone.
class FieldAccess {
 public:
  virtual ~FieldAccess() = default;
  virtual void read(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) const = 0;
  // As it would be written; nothing where reading a mapping without the key gives the same. `absent`: the struct as
  // it is before anything is read into it.
  [[nodiscard]] virtual std::optional<YamlNode> write(const void* object, const void* absent, const FieldInfo& info,
                                                      int digits) const = 0;
};

// `value`, unless it is what is read when the key is absent.
std::optional<YamlNode> unless_default(std::optional<YamlNode> value, const std::optional<YamlNode>& absent,
                                       const FieldInfo& info);
// The mapping of a struct.
YamlNode write_struct(const void* object, const void* absent, const StructInfo& info,
                      const std::vector<std::shared_ptr<const FieldAccess>>& access, int digits);
// A bare scalar as the mapping that it stands for, where the group has such a key; other nodes as they are.
YamlNode with_bare_key(const YamlNode& node, const FieldInfo& info);
// The mapping of a kind, with its tag before its fields.
YamlNode with_tag(const std::string& tag, const std::string& name, YamlNode fields);

template <class T, class M>
class MemberAccess : public FieldAccess {
 public:
  explicit MemberAccess(M T::* member) : member_(member) {}

 protected:
  M& in(void* object) const { return static_cast<T*>(object)->*member_; }
  const M& in(const void* object) const { return static_cast<const T*>(object)->*member_; }

 private:
  M T::* member_;
};

template <class T, class M>
class ValueAccess final : public MemberAccess<T, M> {
 public:
  using MemberAccess<T, M>::MemberAccess;
  void read(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) const override {
    read_value(this->in(object), node, info, diagnostics);
  }
  [[nodiscard]] std::optional<YamlNode> write(const void* object, const void* absent, const FieldInfo& info,
                                              int digits) const override {
    return unless_default(node_of(this->in(object), digits), node_of(this->in(absent), digits), info);
  }
};

template <class T, class E>
class EnumAccess final : public MemberAccess<T, E> {
 public:
  EnumAccess(E T::* member, std::vector<std::pair<std::string, E>> names)
      : MemberAccess<T, E>(member), names_(std::move(names)) {}
  void read(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) const override {
    const auto word = read_text(node, info, diagnostics);
    for (const auto& [name, value] : names_)
      if (word && *word == name) this->in(object) = value;
  }
  [[nodiscard]] std::optional<YamlNode> write(const void* object, const void* absent, const FieldInfo& info,
                                              int) const override {
    return unless_default(name_of(this->in(object)), name_of(this->in(absent)), info);
  }

 private:
  // Nothing for a value that no text stands for.
  [[nodiscard]] std::optional<YamlNode> name_of(E wanted) const {
    for (const auto& [name, value] : names_)
      if (value == wanted) return YamlNode::scalar(name);
    return std::nullopt;
  }
  std::vector<std::pair<std::string, E>> names_;
};

template <class M, class U>
inline constexpr bool kListOf = std::is_same_v<M, std::vector<U>> || std::is_same_v<M, SharedList<U>>;

// M is U, or an optional, a list or a map of it.
template <class T, class M, class U>
class GroupAccess final : public MemberAccess<T, M> {
 public:
  GroupAccess(M T::* member, const Fields<U>& fields) : MemberAccess<T, M>(member), fields_(fields) {}
  void read(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) const override {
    M& out = this->in(object);
    if constexpr (kListOf<M, U>) {
      if (!node.is_sequence()) return report_not(node, info, "a list", diagnostics);
      out = M();
      for (const YamlNode& item : node.items) fields_.read(out.emplace_back(), item, diagnostics);
    } else if constexpr (std::is_same_v<M, std::map<std::string, U>>) {
      if (!node.is_mapping()) return report_not(node, info, "a mapping", diagnostics);
      for (const auto& entry : node.entries) fields_.read(out[entry.key], entry.value, diagnostics);
    } else if constexpr (std::is_same_v<M, std::optional<U>>) {
      fields_.read(out.emplace(), with_bare_key(node, info), diagnostics);
    } else {
      fields_.read(out, with_bare_key(node, info), diagnostics);
    }
  }
  [[nodiscard]] std::optional<YamlNode> write(const void* object, const void* absent, const FieldInfo& info,
                                              int digits) const override {
    auto out = node(this->in(object), this->in(absent), digits);
    if (!info.required && out && out->entries.empty() && out->items.empty() && !kOptional) out.reset();
    return out;
  }

 private:
  [[nodiscard]] std::optional<YamlNode> node(const M& value, [[maybe_unused]] const M& absent, int digits) const {
    if constexpr (kListOf<M, U>) {
      std::vector<YamlNode> items;
      for (const U& item : value) items.push_back(fields_.write(item, digits));
      return list_of(std::move(items));
    } else if constexpr (std::is_same_v<M, std::map<std::string, U>>) {
      YamlNode out = YamlNode::mapping({});
      for (const auto& [key, item] : value) out.set(key, fields_.write(item, digits));
      return out;
    } else if constexpr (std::is_same_v<M, std::optional<U>>) {
      return value ? std::optional(fields_.write(*value, digits)) : std::nullopt;
    } else {
      return fields_.write(value, absent, digits);
    }
  }
  static constexpr bool kOptional = std::is_same_v<M, std::optional<U>>;  // there though nothing is in it
  const Fields<U>& fields_;
};

// M is a std::shared_ptr<const Base>, or a vector of them.
template <class T, class M, class Base>
class FamilyAccess final : public MemberAccess<T, M> {
 public:
  FamilyAccess(M T::* member, const Family<Base>& family) : MemberAccess<T, M>(member), family_(family) {}
  void read(void* object, const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) const override {
    M& out = this->in(object);
    if constexpr (kList) {
      if (!node.is_sequence()) return report_not(node, info, "a list", diagnostics);
      out.clear();
      for (const YamlNode& item : node.items) out.push_back(family_.read(item, diagnostics));
    } else {
      out = family_.read(node, diagnostics);
    }
  }
  [[nodiscard]] std::optional<YamlNode> write(const void* object, const void*, const FieldInfo& info,
                                              int digits) const override {
    const M& value = this->in(object);
    if constexpr (kList) {
      std::vector<YamlNode> items;
      for (const auto& item : value) items.push_back(family_.write(*item, digits));
      return unless_default(list_of(std::move(items)), list_of({}), info);
    } else {
      if (!value) return std::nullopt;
      Diagnostics ignored;  // a default that cannot be read stands for nothing
      const auto otherwise = info.default_text ? family_.read(default_of(info), ignored) : nullptr;
      return unless_default(family_.write(*value, digits),
                            otherwise ? std::optional(family_.write(*otherwise, digits)) : std::nullopt, info);
    }
  }

 private:
  static constexpr bool kList = std::is_same_v<M, std::vector<std::shared_ptr<const Base>>>;
  const Family<Base>& family_;
};

}  // namespace detail
}  // namespace llmscape
