// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/device.hpp"

namespace llmscape::serving {

// A step that was planned for good and whose time and joules are not counted yet: the run, or its replica, may end
// before it does.
struct UnderWay {
  Seconds start, end;
  hardware::StepCost cost;
  std::int64_t sequences = 0;  // decodes and chunks
  std::int64_t decodes = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t emitted = 0;  // tokens
  std::int64_t late = 0;     // of the decodes, those without their drafts
};

// Steps in the order in which they were planned: a ring that keeps its memory.
class StepsUnderWay {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const UnderWay& front() const { return ring_[first_]; }
  [[nodiscard]] const UnderWay& operator[](std::size_t i) const { return ring_[(first_ + i) % ring_.size()]; }
  void pop_front() {
    first_ = (first_ + 1) % ring_.size();
    --size_;
  }
  // A place for one more at the back, to be filled.
  UnderWay& push_back() {
    if (size_ == ring_.size()) grow();
    return ring_[(first_ + size_++) % ring_.size()];
  }

 private:
  void grow() {
    std::vector<UnderWay> wider;
    wider.reserve(2 * size_ + 2);
    for (std::size_t i = 0; i < size_; ++i) wider.push_back(ring_[(first_ + i) % size_]);
    wider.resize(2 * size_ + 2);
    ring_ = std::move(wider);
    first_ = 0;
  }

  std::vector<UnderWay> ring_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace llmscape::serving
