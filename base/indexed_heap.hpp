// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace llmscape {

// Numbered items by a key each, the least in front; of equal keys the lower number. Changing a key costs O(log items).
template <class Key>
class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] std::size_t front() const { return heap_.front().item; }
  [[nodiscard]] const Key& front_key() const { return heap_.front().key; }
  // The least key but for that of the front; `other` where there is none.
  [[nodiscard]] Key second_key_or(Key other) const {
    for (std::size_t place = 1; place < std::min(kChildren + 1, heap_.size()); ++place)
      if (place == 1 || heap_[place].key < other) other = heap_[place].key;
    return other;
  }
  [[nodiscard]] bool contains(std::size_t item) const { return item < places_.size() && places_[item] != kNowhere; }
  [[nodiscard]] const Key& key(std::size_t item) const { return heap_[places_[item]].key; }

  // Puts the item in, or moves it to another key.
  void set(std::size_t item, const Key& key) {
    if (item >= places_.size()) places_.resize(item + 1, kNowhere);
    std::size_t place = places_[item];
    if (place == kNowhere) {
      place = heap_.size();
      heap_.push_back({key, item});
    }
    move_to(place, {key, item});
  }
  void erase(std::size_t item) {
    const std::size_t place = std::exchange(places_[item], kNowhere);
    const Node last = heap_.back();
    heap_.pop_back();
    if (last.item != item) move_to(place, last);
  }
  void clear() {
    for (const Node& node : heap_) places_[node.item] = kNowhere;
    heap_.clear();
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  static constexpr std::size_t kChildren = 4;  // of a node, side by side: half as many levels as of two

  struct Node {
    Key key;
    std::size_t item;
  };
  [[nodiscard]] static bool before(const Node& a, const Node& b) {
    return a.key == b.key ? a.item < b.item : a.key < b.key;
  }
  void put(const Node& node, std::size_t place) {
    heap_[place] = node;
    places_[node.item] = place;
  }
  // Puts the node into a place that is to be filled, or as far above or below it as it belongs.
  void move_to(std::size_t place, const Node& node) {
    std::size_t at = place;
    for (; at > 0 && before(node, heap_[(at - 1) / kChildren]); at = (at - 1) / kChildren)
      put(heap_[(at - 1) / kChildren], at);
    if (at == place) at = sink(place, node);
    put(node, at);
  }
  std::size_t sink(std::size_t place, const Node& node) {
    for (;;) {
      const std::size_t first = kChildren * place + 1, end = std::min(first + kChildren, heap_.size());
      if (first >= end) return place;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child)
        if (before(heap_[child], heap_[least])) least = child;
      if (!before(heap_[least], node)) return place;
      put(heap_[least], place);
      place = least;
    }
  }

  std::vector<Node> heap_;
  std::vector<std::size_t> places_;  // of each item in it
};

}  // namespace llmscape
