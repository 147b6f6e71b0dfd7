// SPDX-License-Identifier: Apache-2.0
// The pool of forked children: typed answers by task, failures with their reason, nothing left behind.
#include "base/process_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace llmscape;

namespace {

struct Task {
  std::size_t number = 0;
  std::string name;
  template <class Message>
  void cross(Message& m) {
    m(number, name);
  }
};

// What a child saw of its task.
struct Seen {
  std::string name;
  std::vector<double> numbers;
  pid_t process = 0;
  template <class Message>
  void cross(Message& m) {
    m(name, numbers, process);
  }
};

std::vector<Task> tasks(std::size_t count) {
  std::vector<Task> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = {i, "task " + std::to_string(i)};
  return all;
}

template <class Answer>
std::vector<TaskOutcome<Answer>> outcomes(std::size_t count, const std::function<Answer(const Task&)>& work,
                                          const ProcessLimits& limits) {
  std::vector<TaskOutcome<Answer>> all(count);
  ProcessPool<Task, Answer>(work, limits).run(tasks(count), [&](const Task& task, TaskOutcome<Answer> outcome) {
    all[task.number] = std::move(outcome);
    return true;
  });
  return all;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

}  // namespace

TEST_CASE("each task's answer comes back under its own task, however many run at once") {
  // Up to 800,000 bytes: a pipe holds 65,536, so that a child is read while it writes.
  const auto numbers = [](std::size_t task) {
    std::vector<double> all(50'000 * (task % 3));
    std::iota(all.begin(), all.end(), static_cast<double>(task) / 3);
    return all;
  };
  for (const int jobs : {1, 3, 50}) {
    const auto all = outcomes<Seen>(
        20, [&](const Task& task) { return Seen{task.name, numbers(task.number), getpid()}; }, {jobs, {}, {}});
    std::set<pid_t> processes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      REQUIRE(all[i].answer);
      CHECK(all[i].error.empty());
      CHECK(all[i].answer->name == "task " + std::to_string(i));
      CHECK(all[i].answer->numbers == numbers(i));
      processes.insert(all[i].answer->process);
    }
    CHECK(processes.size() == all.size());  // a child of its own for each
    CHECK_FALSE(processes.contains(getpid()));
  }
  CHECK_FALSE(has_children());
}

TEST_CASE("where a child may do several tasks, short ones share one, and one that dies takes no other with it") {
  constexpr std::size_t kTasks = 300, kThrows = 100, kDies = 200;
  const auto work = [](const Task& task) {
    if (task.number == kThrows) throw std::runtime_error("no");
    if (task.number == kDies) raise(SIGKILL);
    return Seen{task.name, std::vector<double>(task.number % 7), getpid()};
  };
  for (const int jobs : {1, 3}) {
    const auto all = outcomes<Seen>(kTasks, work, {jobs, {}, {}, 16});
    std::set<pid_t> processes;
    for (std::size_t i = 0; i < kTasks; ++i) {
      CAPTURE(i);
      if (i == kThrows || i == kDies) {
        CHECK_FALSE(all[i].answer);
        CHECK(all[i].error == (i == kThrows ? "no" : "killed by signal Killed"));
        continue;
      }
      REQUIRE(all[i].answer);
      CHECK(all[i].answer->name == "task " + std::to_string(i));
      CHECK(all[i].answer->numbers.size() == i % 7);
      processes.insert(all[i].answer->process);
    }
    CHECK(processes.size() >= kTasks / 16);
    CHECK(processes.size() <= kTasks / 16 + 4);  // the last of each job, and the one that died
  }
  CHECK_FALSE(has_children());
}

TEST_CASE("one at a time, tasks end in the order in which they were given; several end as they are done") {
  const auto order = [](int jobs) {
    std::vector<std::size_t> ended;
    ProcessPool<Task, std::size_t> pool(
        [](const Task& task) {
          std::this_thread::sleep_for(std::chrono::milliseconds(task.number == 0 ? 300 : 1));
          return task.number;
        },
        {jobs, {}, {}});
    pool.run(tasks(4), [&](const Task& task, const TaskOutcome<std::size_t>& outcome) {
      CHECK(outcome.answer == task.number);
      ended.push_back(task.number);
      return true;
    });
    return ended;
  };
  CHECK(order(1) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(order(0) == std::vector<std::size_t>{0, 1, 2, 3});  // at least one
  CHECK(order(4).back() == 0);
}

TEST_CASE("tasks are asked for as places come free, and no more once there is none") {
  int named = 0, running = 0, most = 0;
  ProcessPool<int, int> pool([](int task) { return task * task; }, {2, {}, {}});
  std::vector<int> squares(5);
  pool.run(
      [&]() -> std::optional<int> {
        if (named == 5) return std::nullopt;
        most = std::max(most, ++running);
        return named++;
      },
      [&](int task, const TaskOutcome<int>& outcome) {
        --running;
        squares[static_cast<std::size_t>(task)] = outcome.answer.value_or(-1);
        return true;
      });
  CHECK(squares == std::vector<int>{0, 1, 4, 9, 16});
  CHECK(most == 2);
}

TEST_CASE("what a child changes stays in the child") {
  int touched = 0;
  const auto all = outcomes<int>(3, [&](const Task&) { return ++touched; }, {2, {}, {}});
  for (const auto& outcome : all) CHECK(outcome.answer == 1);
  CHECK(touched == 0);
}

TEST_CASE("a task that throws, dies, leaves, hangs or eats memory fails alone and says why") {
  const auto all = outcomes<std::string>(6,
                                         [](const Task& task) -> std::string {
                                           if (task.number == 0) throw std::runtime_error("no such model");
                                           if (task.number == 1) raise(SIGKILL);
                                           if (task.number == 2) pause();
                                           if (task.number == 3)
                                             return std::to_string(std::string(4'000'000'000, 'x').size());
                                           if (task.number == 4) _exit(0);
                                           return "fine";
                                         },
                                         {2, Seconds(0.5), Bytes(2e9)});
  CHECK(all[0].error == "no such model");
  CHECK(all[1].error == "killed by signal Killed");
  CHECK(all[2].error == "stopped after its time limit of 0.5 s");
#ifdef __SANITIZE_ADDRESS__  // whose allocator ends the process instead of throwing
  CHECK(all[3].error == "ended without a result");
#else
  CHECK(all[3].error == "out of memory");
#endif
  CHECK(all[4].error == "ended without a result");
  for (std::size_t task = 0; task < 5; ++task) CHECK_FALSE(all[task].answer);
  CHECK(all[5].answer == "fine");
  CHECK_FALSE(has_children());
}

TEST_CASE("an answer of nothing is an answer") {
  const auto told = in_child<std::optional<std::string>>([] { return std::optional<std::string>(); });
  REQUIRE(told.answer);
  CHECK_FALSE(*told.answer);
  CHECK(in_child<std::string>([] { return std::string(); }).answer == "");
}

TEST_CASE("children stay for the next run, see nothing of what changed since, and one that was killed is replaced") {
  int known = 1;
  ProcessPool<Task, std::pair<int, pid_t>> pool([&](const Task&) { return std::pair(known++, getpid()); },
                                                {1, {}, {}, 5});
  const auto run = [&](std::size_t count) {
    std::vector<std::pair<int, pid_t>> all;
    pool.run(tasks(count), [&](const Task&, const TaskOutcome<std::pair<int, pid_t>>& outcome) {
      REQUIRE(outcome.answer);
      all.push_back(*outcome.answer);
      return true;
    });
    return all;
  };
  const auto first = run(2);
  CHECK(has_children());
  known = 100;
  const auto second = run(1);
  CHECK(second.front() == std::pair(3, first.front().second));
  kill(second.front().second, SIGKILL);
  waitid(P_PID, static_cast<id_t>(second.front().second), nullptr, WEXITED | WNOWAIT);
  const auto third = run(7);
  CHECK(third.front().first == 100);
  CHECK(third.front().second != second.front().second);
  CHECK(third[4].second == third.front().second);
  CHECK(third[5].first == 100);  // a child does five tasks
  CHECK(third[5].second != third.front().second);
}

TEST_CASE("a task may be longer than a pipe holds") {
  ProcessPool<std::string, std::string> pool([](const std::string& task) { return task + task; }, {2, {}, {}, 4});
  std::vector<std::string> long_ones;
  for (char c = 'a'; c < 'k'; ++c) long_ones.emplace_back(2'000'000, c);
  pool.run(long_ones, [](const std::string& task, const TaskOutcome<std::string>& outcome) {
    CHECK(outcome.answer == task + task);
    return true;
  });
}

TEST_CASE("stopping, or throwing where an outcome is heard, kills what runs and starts nothing more") {
  ProcessPool<Task, std::string> pool(
      [](const Task& task) -> std::string {
        if (task.number > 0) pause();
        return "first";
      },
      {4, {}, {}});
  int ended = 0;
  pool.run(tasks(100), [&](const Task&, const TaskOutcome<std::string>&) { return ++ended < 1; });
  CHECK(ended == 1);
  CHECK_FALSE(has_children());
  CHECK_THROWS_AS(
      pool.run(tasks(100),
               [](const Task&, const TaskOutcome<std::string>&) -> bool { throw std::logic_error("enough"); }),
      std::logic_error);
  CHECK_FALSE(has_children());
}
