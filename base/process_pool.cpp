// SPDX-License-Identifier: Apache-2.0
#include "base/process_pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace llmscape {
namespace {

using Clock = std::chrono::steady_clock;

// What a child writes of each task: how it ended, the length of what it said, and that.
constexpr char kReturned = '+', kThrew = '-';
constexpr std::size_t kHead = 1 + sizeof(std::uint64_t);

struct Child {
  std::deque<std::size_t> tasks;  // that are not done, the first being under way
  pid_t pid = 0;
  int output = -1;
  Clock::time_point started;  // the first of them
  std::string text;           // that has come, of the first of them
  bool too_slow = false;
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void write_all(int file, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) written += static_cast<std::size_t>(n);
  }
}

// What a child does; it never returns to the parent's stack.
[[noreturn]] void work_in_child(int output, const std::deque<std::size_t>& tasks,
                                const std::function<std::string(std::size_t)>& work, const ProcessLimits& limits) {
  if (limits.memory) {
    const auto bytes = static_cast<rlim_t>(limits.memory->si());
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  for (const std::size_t task : tasks) {
    char how = kThrew;
    std::string said;
    try {
      said = work(task);
      how = kReturned;
    } catch (const std::bad_alloc&) {
      said = "out of memory";
    } catch (const std::exception& error) {
      said = error.what();
    }
    const std::uint64_t size = said.size();
    std::string head(kHead, how);
    std::memcpy(head.data() + 1, &size, sizeof size);
    write_all(output, head);
    write_all(output, said);
  }
  _exit(0);
}

Child start(std::deque<std::size_t> tasks, const std::function<std::string(std::size_t)>& work,
            const ProcessLimits& limits) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) fail("pipe");
  std::fflush(nullptr);  // or the child would write what is buffered here once more
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    fail("fork");
  }
  if (pid == 0) {
    close(ends[0]);
    work_in_child(ends[1], tasks, work, limits);
  }
  close(ends[1]);
  return {std::move(tasks), pid, ends[0], Clock::now(), "", false};
}

// Reads what has come; true when the child has closed its end.
bool drain(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(child.output, buffer.data(), buffer.size());
  if (n > 0) child.text.append(buffer.data(), static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

// The reply to the first task, once all of it has come.
std::optional<forked::Reply> take_reply(Child& child) {
  if (child.text.size() < kHead) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, child.text.data() + 1, sizeof size);
  if (child.text.size() - kHead < size) return std::nullopt;
  std::string said = child.text.substr(kHead, size);
  const bool returned = child.text.front() == kReturned;
  child.text.erase(0, kHead + size);
  child.started = Clock::now();
  if (returned) return forked::Reply{std::move(said), ""};
  return forked::Reply{std::nullopt, std::move(said)};
}

// The child has ended: why its first task, if it has one, has no answer.
std::string end_of(Child& child, const ProcessLimits& limits) {
  close(child.output);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (child.too_slow) return fmt::format("stopped after its time limit of {:g} s", limits.time->si());
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", strsignal(WTERMSIG(status)));
  return "ended without a result";
}

void kill_slow(std::list<Child>& children, const ProcessLimits& limits) {
  for (Child& child : children) {
    const std::chrono::duration<double> age = Clock::now() - child.started;
    if (child.too_slow || age.count() < limits.time->si()) continue;
    child.too_slow = true;
    kill(child.pid, SIGKILL);
  }
}

// Whatever ends the pool, no child outlives it.
struct Children {
  std::list<Child> running;
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (Child& child : running) kill(child.pid, SIGKILL);
    for (Child& child : running) {
      child.too_slow = false;  // nobody hears why it ended
      end_of(child, {});
    }
  }
};

}  // namespace

namespace {

// How many tasks the next child is given: as many as take it some time, so that forking does not count (a page that
// was the parent's costs its child more than the fork), and no longer, so that nobody waits for it at the end or after
// Ctrl-C.
class Shares {
 public:
  explicit Shares(std::size_t most) : most_(std::max<std::size_t>(1, most)) {}
  void add(Clock::duration task) {
    seconds_ += std::chrono::duration<double>(task).count();
    ++tasks_;
  }
  [[nodiscard]] std::size_t next() const {
    constexpr double kShort = 0.5, kLong = 2, kOfAll = 0.5;  // seconds; of what all have taken so far
    if (tasks_ == 0) return 1;
    const double wanted = std::clamp(kOfAll * seconds_, kShort, kLong);
    const double fitting = wanted * static_cast<double>(tasks_) / std::max(seconds_, 1e-9);
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(fitting, 1e6)), 1, most_);
  }

 private:
  std::size_t most_, tasks_ = 0;
  double seconds_ = 0;
};

}  // namespace

void forked::run(const std::function<std::optional<std::size_t>()>& next,
                 const std::function<std::string(std::size_t)>& work, const ProcessLimits& limits,
                 const std::function<bool(std::size_t, Reply)>& done) {
  constexpr int kLook = 100;  // ms between looks at the clock, where there is a time limit
  Children children;
  auto& running = children.running;
  std::vector<pollfd> waited;
  std::deque<std::size_t> left_behind;  // by children that died in a task before these
  Shares shares(limits.tasks_of_child);
  const auto take = [&]() -> std::optional<std::size_t> {
    if (left_behind.empty()) return next();
    const std::size_t task = left_behind.front();
    left_behind.pop_front();
    return task;
  };
  for (;;) {
    while (running.size() < static_cast<std::size_t>(std::max(1, limits.jobs))) {
      std::deque<std::size_t> tasks;
      for (const std::size_t share = shares.next(); tasks.size() < share;) {
        const std::optional<std::size_t> task = take();
        if (!task) break;
        tasks.push_back(*task);
      }
      if (tasks.empty()) break;
      running.push_back(start(std::move(tasks), work, limits));
    }
    if (running.empty()) return;
    waited.clear();
    for (const Child& child : running) waited.push_back({child.output, POLLIN, 0});
    if (poll(waited.data(), waited.size(), limits.time ? kLook : -1) < 0 && errno != EINTR) fail("poll");
    if (limits.time) kill_slow(running, limits);
    auto child = running.begin();
    for (const pollfd& ready : waited) {
      const auto this_one = child++;
      if (ready.revents == 0) continue;
      const bool ended = drain(*this_one);
      for (Clock::time_point began = this_one->started; auto reply = take_reply(*this_one); began = this_one->started) {
        shares.add(this_one->started - began);
        const std::size_t task = this_one->tasks.front();
        this_one->tasks.pop_front();
        if (!done(task, std::move(*reply))) return;
      }
      if (!ended) continue;
      const std::string why = end_of(*this_one, limits);
      std::deque<std::size_t> tasks = std::move(this_one->tasks);
      running.erase(this_one);
      if (tasks.empty()) continue;
      const std::size_t task = tasks.front();
      left_behind.insert(left_behind.end(), tasks.begin() + 1, tasks.end());
      if (!done(task, {std::nullopt, why})) return;
    }
  }
}

int default_jobs() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

}  // namespace llmscape
