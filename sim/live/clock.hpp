// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "hardware/harness/cpu/clock.hpp"

namespace llmscape::live {

// Steady, from an arbitrary origin.
double wall_seconds();

// The time of an engine, 0 at its start.
class Clock {
 public:
  enum class Kind {
    thread_cpu_time,  // the CPU time of steps added up; between them it stands still, and waiting is a jump
    wall,
  };
  explicit Clock(Kind kind);

  [[nodiscard]] std::string_view name() const { return kind_ == Kind::wall ? "wall" : "thread cpu time"; }
  // What spans of a step are measured with.
  [[nodiscard]] double read() const {
    return kind_ == Kind::wall ? wall_seconds() : hardware::harness::thread_cpu_time().si();
  }
  [[nodiscard]] double now() const { return kind_ == Kind::wall ? wall_seconds() - origin_ : passed_; }
  // A step took so long; a wall clock has gone on meanwhile, one of CPU time is told.
  void pass(double seconds) { passed_ += seconds; }
  void wait_until(double at);

 private:
  Kind kind_;
  double origin_, passed_ = 0;
};

}  // namespace llmscape::live
