// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace llmscape {

// Numbered items by a key each, the least in front; of equal keys the lower number. Changing a key costs O(log items).
template <class Key>
class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const { return order_.empty(); }
  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] std::size_t front() const { return order_.front(); }
  [[nodiscard]] const Key& front_key() const { return keys_[order_.front()]; }
  [[nodiscard]] bool contains(std::size_t item) const { return item < places_.size() && places_[item] != kNowhere; }
  [[nodiscard]] const Key& key(std::size_t item) const { return keys_[item]; }

  // Puts the item in, or moves it to another key.
  void set(std::size_t item, const Key& key) {
    if (item >= places_.size()) {
      places_.resize(item + 1, kNowhere);
      keys_.resize(item + 1);
    }
    keys_[item] = key;
    if (places_[item] == kNowhere) {
      places_[item] = order_.size();
      order_.push_back(item);
      rise(order_.size() - 1);
    } else {
      sink(rise(places_[item]));
    }
  }
  void erase(std::size_t item) {
    const std::size_t place = std::exchange(places_[item], kNowhere), last = order_.back();
    order_.pop_back();
    if (last == item) return;
    put(last, place);
    sink(rise(place));
  }
  void clear() {
    for (const std::size_t item : order_) places_[item] = kNowhere;
    order_.clear();
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const {
    return keys_[a] < keys_[b] || (!(keys_[b] < keys_[a]) && a < b);
  }
  void put(std::size_t item, std::size_t place) {
    order_[place] = item;
    places_[item] = place;
  }
  std::size_t rise(std::size_t place) {
    const std::size_t item = order_[place];
    for (; place > 0 && before(item, order_[(place - 1) / 2]); place = (place - 1) / 2)
      put(order_[(place - 1) / 2], place);
    put(item, place);
    return place;
  }
  void sink(std::size_t place) {
    const std::size_t item = order_[place];
    for (std::size_t child = 2 * place + 1; child < order_.size(); child = 2 * place + 1) {
      if (child + 1 < order_.size() && before(order_[child + 1], order_[child])) ++child;
      if (!before(order_[child], item)) break;
      put(order_[child], place);
      place = child;
    }
    put(item, place);
  }

  std::vector<std::size_t> order_;   // a binary heap of items
  std::vector<std::size_t> places_;  // of each item in it
  std::vector<Key> keys_;            // of each item
};

}  // namespace llmscape
