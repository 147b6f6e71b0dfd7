// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace llmscape {

// A list whose copies share its elements until one of them is about to change: a copy costs the same however long the
// list is. Whoever may change an element (begin, end, [] and so on of a list that is not const) gets elements of his
// own, so that what pointed into a copied list may from then on point into the other copy: take copies first, pointers
// to change through after.
template <class T>
class SharedList {
 public:
  using value_type = T;
  SharedList() = default;
  SharedList(std::vector<T> all)  // NOLINT(google-explicit-constructor): a list of these
      : all_(all.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(all))) {}
  SharedList(std::initializer_list<T> all) : SharedList(std::vector<T>(all)) {}

  [[nodiscard]] bool empty() const { return !all_ || all_->empty(); }
  [[nodiscard]] std::size_t size() const { return all_ ? all_->size() : 0; }
  // Copies of one list that nobody has changed since.
  [[nodiscard]] bool shares(const SharedList& other) const { return all_ == other.all_; }

  [[nodiscard]] const T* begin() const { return all_ ? all_->data() : nullptr; }
  [[nodiscard]] const T* end() const { return begin() + size(); }
  [[nodiscard]] T* begin() { return all_ ? own().data() : nullptr; }
  [[nodiscard]] T* end() { return begin() + size(); }
  const T& operator[](std::size_t i) const { return (*all_)[i]; }
  T& operator[](std::size_t i) { return own()[i]; }
  [[nodiscard]] const T& at(std::size_t i) const { return all_ ? all_->at(i) : kNone.at(i); }
  [[nodiscard]] const T& front() const { return all_->front(); }
  [[nodiscard]] const T& back() const { return all_->back(); }
  T& front() { return own().front(); }
  T& back() { return own().back(); }

  void push_back(T item) { own().push_back(std::move(item)); }
  T& emplace_back(T item = {}) { return own().emplace_back(std::move(item)); }
  template <class Condition>
  void erase_if(const Condition& condition) {
    if (std::any_of(std::as_const(*this).begin(), std::as_const(*this).end(), condition))
      std::erase_if(own(), condition);
  }

 private:
  static inline const std::vector<T> kNone{};

  std::vector<T>& own() {
    if (!all_) all_ = std::make_shared<std::vector<T>>();
    else if (all_.use_count() > 1) all_ = std::make_shared<std::vector<T>>(*all_);
    return *all_;
  }

  std::shared_ptr<std::vector<T>> all_;
};

}  // namespace llmscape
