// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace llmscape::run {

// What became of one task.
struct TaskOutcome {
  bool ok = false;
  std::string text;  // what the task returned; else why it failed
};

struct PoolLimits {
  int jobs = 1;                 // children at once, at least 1
  std::optional<Seconds> time;  // of wall clock, for one task
  std::optional<Bytes> memory;  // address space of one child
};

// Runs `work` for each task that `next` names until it names none, each in a forked child of its own (a simulation
// leaves its engine behind, and a crash must not take others with it). `done` is called here, in the order in which
// tasks end; once it returns false the running children are killed and nothing more is started. A task that throws,
// dies, or exceeds a limit has failed, with the reason. Throws std::system_error when no child can be made.
void run_forked(const std::function<std::optional<std::size_t>()>& next,
                const std::function<std::string(std::size_t task)>& work, const PoolLimits& limits,
                const std::function<bool(std::size_t task, TaskOutcome outcome)>& done);
// The same for the tasks from 0 to `tasks` - 1.
void run_forked(std::size_t tasks, const std::function<std::string(std::size_t task)>& work, const PoolLimits& limits,
                const std::function<bool(std::size_t task, TaskOutcome outcome)>& done);

// As many children as there are processors for this process.
int default_jobs();

}  // namespace llmscape::run
