// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace llmscape::serving {

// A queue that keeps its memory, and what is left in the places of its elements: each is filled in place, and a vector
// in it is not allocated anew.
template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& front() { return places_[first_]; }
  [[nodiscard]] const T& front() const { return places_[first_]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return places_[(first_ + i) & mask_]; }
  void pop_front(std::size_t count = 1) {
    size_ -= count;
    // One that has become empty begins anew in the places that are in the caches.
    first_ = size_ == 0 ? 0 : (first_ + count) & mask_;
  }
  // A place for one more at the back, to be filled whole.
  [[nodiscard]] T& push_back() {
    if (size_ > mask_ || places_.empty()) grow();
    return places_[(first_ + size_++) & mask_];
  }
  void clear() { first_ = size_ = 0; }

 private:
  void grow() {
    std::vector<T> wider(std::max<std::size_t>(2, 2 * places_.size()));  // a power of two
    for (std::size_t i = 0; i < size_; ++i) wider[i] = std::move(places_[(first_ + i) & mask_]);
    places_ = std::move(wider);
    mask_ = places_.size() - 1;
    first_ = 0;
  }

  std::vector<T> places_;
  std::size_t mask_ = 0;  // their number less one: to ask a vector for its size is a division by that of T
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace llmscape::serving
