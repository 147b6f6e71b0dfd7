// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <list>
#include <utility>

namespace llmscape {

// What a function that depends on nothing else made of the arguments that it was last asked about: of `Most` at most,
// the one that was not asked for the longest goes first.
template <class Argument, class Result, std::size_t Most>
class Recent {
 public:
  // The result for the first argument that `is_asked` holds of; nullptr if none is remembered. Valid until `keep`.
  template <class IsAsked>
  const Result* find(const IsAsked& is_asked) {
    for (auto i = all_.begin(); i != all_.end(); ++i)
      if (is_asked(i->first)) {
        all_.splice(all_.begin(), all_, i);
        return &all_.front().second;
      }
    return nullptr;
  }
  void keep(Argument argument, Result result) {
    all_.emplace_front(std::move(argument), std::move(result));
    if (all_.size() > Most) all_.pop_back();
  }

 private:
  std::list<std::pair<Argument, Result>> all_;
};

}  // namespace llmscape
