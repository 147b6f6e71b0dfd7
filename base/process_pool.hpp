// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "base/quantity.hpp"

namespace llmscape {

// Address space that this process has now, used or not; nothing where the system does not say (/proc).
std::optional<Bytes> address_space();

struct ProcessLimits {
  int jobs = 1;                 // children at once, at least 1
  std::optional<Seconds> time;  // of wall clock, for one task
  std::optional<Bytes> memory;  // address space of one child; below what it is forked with, it can take no more
  // Most tasks that one child does, one after the other, where they are so short that forking counts. Who does not ask
  // for more gets 1: SimGrid, for one, runs once in a process.
  std::size_t tasks_of_child = 1;
};

// As many children as there are processors for this process.
int default_jobs();

// What became of one task: its answer, or why it has none.
template <class Answer>
struct TaskOutcome {
  std::optional<Answer> answer;
  std::string error;
};

namespace forked {

// The bytes of an answer, or why there are none.
using Reply = TaskOutcome<std::string>;
struct Child;

// The pool below the types: tasks and answers are bytes, tasks are numbered from 0 in each run as `next` gives them.
class Pool {
 public:
  using Work = std::function<std::string(const std::string& task)>;
  Pool(Work work, ProcessLimits limits);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();
  void run(const std::function<std::optional<std::string>()>& next,
           const std::function<bool(std::size_t task, Reply reply)>& done);

 private:
  class Run;
  Work work_;
  ProcessLimits limits_;
  std::list<Child> children_;
};

}  // namespace forked

// Does tasks in forked children (a simulation leaves its engine behind, and a crash must not take others with it).
// Tasks and answers cross pipes (base/message.hpp). Where a child may do several tasks it stays for the next one, in
// this run or a later one, with all that it has come to know; what changes in this process after its fork it does not
// see.
template <class Task, class Answer>
class ProcessPool {
 public:
  // What is done in the child. Where it throws, the task has failed with that reason.
  using Work = std::function<Answer(const Task&)>;
  // What is done here with each outcome, in the order in which tasks end; once it returns false, or throws, the
  // children are killed and nothing more is started.
  using Done = std::function<bool(const Task&, TaskOutcome<Answer>)>;

  explicit ProcessPool(Work work, ProcessLimits limits = {})
      : pool_([work = std::move(work)](const std::string& task) { return encode<Answer>(work(decode<Task>(task))); },
              limits) {}

  // Does the tasks that `next` names until it names none. A task that throws, dies, or exceeds a limit has failed, with
  // the reason. Throws std::system_error when no child can be made. No child outlives the pool.
  void run(const std::function<std::optional<Task>()>& next, const Done& done) {
    std::map<std::size_t, Task> running;
    std::size_t started = 0;
    pool_.run(
        [&]() -> std::optional<std::string> {
          std::optional<Task> task = next();
          if (!task) return std::nullopt;
          std::string bytes = encode<Task>(*task);
          running.emplace(started++, std::move(*task));
          return bytes;
        },
        [&](std::size_t number, forked::Reply reply) {
          TaskOutcome<Answer> outcome{std::nullopt, std::move(reply.error)};
          if (reply.answer) outcome.answer.emplace(decode<Answer>(*reply.answer));
          const auto task = running.extract(number);
          return done(task.mapped(), std::move(outcome));
        });
  }
  // Does all of these, started in their order.
  void run(const std::vector<Task>& tasks, const Done& done) {
    std::size_t at = 0;
    run([&] { return at < tasks.size() ? std::optional<Task>(tasks[at++]) : std::nullopt; }, done);
  }

 private:
  forked::Pool pool_;
};

// What `work` answers in a child.
template <class Answer>
TaskOutcome<Answer> in_child(const std::function<Answer()>& work, const ProcessLimits& limits = {}) {
  TaskOutcome<Answer> told;
  ProcessPool<char, Answer> pool([&](char) { return work(); }, limits);
  pool.run(std::vector<char>(1), [&](char, TaskOutcome<Answer> outcome) {
    told = std::move(outcome);
    return true;
  });
  return told;
}

}  // namespace llmscape
