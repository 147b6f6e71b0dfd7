// SPDX-License-Identifier: Apache-2.0
// The pool of forked children: results by task, failures with their reason, nothing left behind.
#include "sim/run/pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using namespace llmscape;
using run::PoolLimits;
using run::TaskOutcome;

namespace {

std::vector<TaskOutcome> outcomes(std::size_t tasks, const std::function<std::string(std::size_t)>& work,
                                  const PoolLimits& limits) {
  std::vector<TaskOutcome> all(tasks);
  run::run_forked(tasks, work, limits, [&](std::size_t task, TaskOutcome outcome) {
    all[task] = std::move(outcome);
    return true;
  });
  return all;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

}  // namespace

TEST_CASE("each task's answer comes back under its own number, however many run at once") {
  const auto work = [](std::size_t task) { return std::string(200'000 * (task % 3), 'x') + std::to_string(task); };
  for (const int jobs : {1, 3, 50}) {
    const auto all = outcomes(20, work, {jobs, {}, {}});
    for (std::size_t task = 0; task < all.size(); ++task) {
      CHECK(all[task].ok);
      CHECK(all[task].text == work(task));
    }
  }
  CHECK_FALSE(has_children());
}

TEST_CASE("what a child changes stays in the child") {
  int touched = 0;
  outcomes(3, [&](std::size_t) { return std::to_string(++touched); }, {2, {}, {}});
  CHECK(touched == 0);
}

TEST_CASE("a task that throws, dies, hangs or eats memory fails alone and says why") {
  PoolLimits limits{2, Seconds(0.5), Bytes(2e9)};
  const auto all = outcomes(
      5,
      [](std::size_t task) -> std::string {
        if (task == 0) throw std::runtime_error("no such model");
        if (task == 1) raise(SIGKILL);
        if (task == 2) pause();
        if (task == 3) return std::to_string(std::string(4'000'000'000, 'x').size());
        return "fine";
      },
      limits);
  CHECK(all[0].text == "no such model");
  CHECK(all[1].text == "killed by signal Killed");
  CHECK(all[2].text == "stopped after its time limit of 0.5 s");
  CHECK(all[3].text == "out of memory");
  for (int task = 0; task < 4; ++task) CHECK_FALSE(all[static_cast<std::size_t>(task)].ok);
  CHECK(all[4].ok);
  CHECK_FALSE(has_children());
}

TEST_CASE("stopping kills what runs and starts nothing more") {
  int ended = 0;
  run::run_forked(
      100,
      [](std::size_t task) -> std::string {
        if (task > 0) pause();
        return "first";
      },
      {4, {}, {}}, [&](std::size_t, const TaskOutcome&) { return ++ended < 1; });
  CHECK(ended == 1);
  CHECK_FALSE(has_children());
}
