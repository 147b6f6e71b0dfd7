// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::serving {

// The gaps between the tokens of decoding sequences, for all of them together: those that decoded in the last decode
// step share one gap, those that joined since have their own.
class TokenGaps {
 public:
  // A sequence emitted a token at `at` outside the decode steps and will decode next; or it leaves before it does.
  void join(Seconds at) { ++entry(at).count; }
  void leave(Seconds at) { --entry(at).count; }
  // `sequences` emitted a token at `end`; calls record(gap, count) for each distinct gap.
  template <class Record>
  void decode(Seconds end, std::int64_t sequences, Record record) {
    for (const Joined& joined : joined_) {
      sequences -= joined.count;
      if (joined.count > 0) record(end - joined.at, joined.count);
    }
    if (sequences > 0) record(end - last_, sequences);
    joined_.clear();
    last_ = end;
  }
  // When the last decode step ended.
  [[nodiscard]] Seconds last() const { return last_; }

 private:
  struct Joined {
    Seconds at;
    std::int64_t count;
  };
  Joined& entry(Seconds at) {
    for (Joined& joined : joined_)
      if (joined.at == at) return joined;
    return joined_.emplace_back(Joined{at, 0});
  }
  std::vector<Joined> joined_;  // the steps since the last decode step: one or two
  Seconds last_;
};

}  // namespace llmscape::serving
