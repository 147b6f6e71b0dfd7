// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// Where a request stands in an order of a batcher's own, the smallest first.
struct Standing {
  int priority = 0;
  bool behind = false;  // all of its priority that are not
  double by = 0;
  std::uint64_t id = 0;
  auto operator<=>(const Standing&) const = default;
};

// Requests in the order in which they may be admitted: by priority, then by arrival. A preempted request arrived before
// all that still wait, so it comes back at the front. Of a priority nearly all come at the back and leave at the front;
// so does what has waited for too long.
class WaitingQueue {
 public:
  void push(Request& request) {
    const std::size_t level = level_of(request.priority);
    Line& line = levels_[level].line;
    const Entry entry{request.id, &request};
    if (line.empty() || line.back() < entry) line.push_back(entry);
    else line.insert(passing(line, place_of(line, entry)), entry);
    if (size_++ == 0 || level < first_) first_ = level;
    if (standing_of_) stand(request);
  }
  void erase(Request& request) {
    if (size_ == 0) return;
    if (&front() == &request) {
      levels_[first_].line.pop_front();
    } else {
      const auto level = std::ranges::lower_bound(levels_, request.priority, {}, &Level::priority);
      if (level == levels_.end() || level->priority != request.priority) return;
      const auto place = place_of(level->line, {request.id, &request});
      if (place == level->line.end() || place->request != &request) return;
      level->line.erase(passing(level->line, place));
    }
    --size_;
    while (levels_[first_].line.empty() && first_ + 1 < levels_.size()) ++first_;
    if (standing_of_) leave(request);
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] Request& front() const { return *levels_[first_].line.front().request; }
  // Calls fn for each in order, as long as it returns true.
  template <class Fn>
  void visit(Fn fn) const {
    for (const Level& level : levels_)
      for (const Entry& entry : level.line)
        if (!fn(*entry.request)) return;
  }

  // Those that wait in another order as well, which is kept up to date from the first time that it is asked for.
  // Whoever changes what the standing of one that waits comes from says so by restand().
  using StandingOf = Standing (*)(const Request&);
  using Standings = std::map<Standing, Request*>;
  const Standings& in_order(StandingOf of) {
    if (standing_of_ != of) {
      standing_of_ = of;
      standings_.clear();
      visit([this](Request& request) {
        stand(request);
        return true;
      });
    }
    return standings_;
  }
  void restand(Request& request) {
    if (standing_of_ && stands_.contains(&request)) stand(request);
  }
  // Entries that others were put or taken out between, and had to move: nearly none.
  [[nodiscard]] std::int64_t moved() const { return moved_; }

 private:
  struct Entry {
    std::uint64_t id;
    Request* request;
    bool operator<(const Entry& o) const { return id < o.id; }
  };
  using Line = std::deque<Entry>;
  struct Level {  // stays when its last one has left: priorities are few
    int priority;
    Line line;
  };

  std::size_t level_of(int priority) {
    if (first_ < levels_.size() && levels_[first_].priority == priority) return first_;
    const auto level = std::ranges::lower_bound(levels_, priority, {}, &Level::priority);
    const auto at = static_cast<std::size_t>(level - levels_.begin());
    if (level != levels_.end() && level->priority == priority) return at;
    if (size_ > 0 && at <= first_) ++first_;
    levels_.insert(level, Level{priority, {}});
    return at;
  }
  static Line::iterator place_of(Line& line, const Entry& entry) {
    return std::lower_bound(line.begin(), line.end(), entry);
  }
  // A deque moves what is on the shorter side.
  Line::iterator passing(const Line& line, const Line::iterator& place) {
    moved_ += std::min(place - line.begin(), line.end() - place);
    return place;
  }
  void stand(Request& request) {
    leave(request);
    stands_[&request] = standings_.emplace(standing_of_(request), &request).first;
  }
  void leave(Request& request) {
    const auto stands = stands_.find(&request);
    if (stands == stands_.end()) return;
    standings_.erase(stands->second);
    stands_.erase(stands);
  }

  std::vector<Level> levels_;  // the most urgent first
  std::size_t first_ = 0;      // that has somebody, where any has
  std::int64_t size_ = 0;
  std::int64_t moved_ = 0;
  StandingOf standing_of_ = nullptr;
  Standings standings_;
  std::unordered_map<const Request*, Standings::iterator> stands_;
};

}  // namespace llmscape::serving
