// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace llmscape {

// Pointers by keys that are hashes already: their low bits are taken as they are. One look into memory finds what is
// there, and mostly what is not (linear probing, deletion by shifting back: Knuth, TAOCP 3, 6.4, algorithm R), where
// std::unordered_map takes two or three: trees of a fleet's replicas do not stay in the caches.
template <class T>
class PointerTable {
 public:
  // nullptr if the key is absent.
  [[nodiscard]] T* find(std::uint64_t key) const { return slots_.empty() ? nullptr : slots_[place_of(key)].value; }
  // `value` is not nullptr. A key that is there keeps what it has.
  void insert(std::uint64_t key, T* value) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.value) return;
    slot = {key, value};
    ++size_;
  }
  void erase(std::uint64_t key) {
    if (slots_.empty()) return;
    std::size_t hole = place_of(key);
    if (!slots_[hole].value) return;
    --size_;
    for (std::size_t at = next(hole); slots_[at].value; at = next(at)) {
      // It stays if it would not be found from the hole: its own place lies behind the hole, up to where it stands.
      const std::size_t from_home = (at - slots_[at].key) & mask(), from_hole = (at - hole) & mask();
      if (from_home >= from_hole) slots_[std::exchange(hole, at)] = slots_[at];
    }
    slots_[hole] = {};
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    T* value = nullptr;  // nullptr: empty
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t place) const { return (place + 1) & mask(); }
  // Where the key stands, or where it would.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    std::size_t place = key & mask();
    while (slots_[place].value && slots_[place].key != key) place = next(place);
    return place;
  }
  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : 2 * slots_.size()));
    for (const Slot& slot : before)
      if (slot.value) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them, a quarter empty at least
  std::size_t size_ = 0;
};

}  // namespace llmscape
