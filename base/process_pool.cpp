// SPDX-License-Identifier: Apache-2.0
#include "base/process_pool.hpp"

#include <fcntl.h>
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
#include <ctime>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace llmscape::forked {
namespace {

using Clock = std::chrono::steady_clock;

// A task is sent as its length and its bytes; a child writes of each task how it ended, the length of what it said, and
// that.
constexpr char kReturned = '+', kThrew = '-';
constexpr std::size_t kLength = sizeof(std::uint64_t), kHead = 1 + kLength;

// A child that has worked as long has paid its fork; another one starts without what it has heaped up.
constexpr double kLifetime = 10;  // seconds
[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// False where the other end is gone; then the signal that comes of it is taken back.
bool write_all(int pipe, const std::string& text) {
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  bool whole = true;
  for (std::size_t written = 0; whole && written < text.size();) {
    const ssize_t n = ::write(pipe, text.data() + written, text.size() - written);
    if (n > 0) written += static_cast<std::size_t>(n);
    if (n >= 0 || errno == EINTR) continue;
    whole = false;
    constexpr timespec kNow{};
    sigtimedwait(&broken, nullptr, &kNow);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return whole;
}

std::string with_length(const std::string& bytes) {
  const std::uint64_t size = bytes.size();
  std::string text(kLength, '\0');
  std::memcpy(text.data(), &size, sizeof size);
  return text += bytes;
}

// False where the other end closes first.
bool read_exactly(int pipe, char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(pipe, to, size);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n < 0) continue;
    to += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> next_task(int pipe) {
  std::uint64_t size = 0;
  std::array<char, kLength> length{};
  if (!read_exactly(pipe, length.data(), kLength)) return std::nullopt;
  std::memcpy(&size, length.data(), sizeof size);
  std::string task(size, '\0');
  return read_exactly(pipe, task.data(), size) ? std::optional(std::move(task)) : std::nullopt;
}

// What a child does; it never returns to the parent's stack.
[[noreturn]] void work_in_child(int input, int output, const Pool::Work& work, const ProcessLimits& limits) {
  if (limits.memory) {
    const auto bytes = static_cast<rlim_t>(limits.memory->si());
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  while (const auto task = next_task(input)) {
    char how = kThrew;
    std::string said;
    try {
      said = work(*task);
      how = kReturned;
    } catch (const std::bad_alloc&) {
      said = "out of memory";
    } catch (const std::exception& error) {
      said = error.what();
    }
    const std::uint64_t size = said.size();
    std::string head(kHead, how);
    std::memcpy(head.data() + 1, &size, sizeof size);
    if (!write_all(output, head) || !write_all(output, said)) _exit(1);
  }
  _exit(0);
}

}  // namespace

struct Child {
  pid_t pid = 0;
  int input = -1, output = -1;      // this end of its pipes
  std::optional<std::size_t> task;  // that is under way
  Clock::time_point started;        // that task
  std::string text;                 // that has come of its reply
  std::size_t given = 0;            // tasks, in its life
  double worked = 0;                // seconds, in its life
  bool leaving = false;             // ends after its task
  bool too_slow = false;
};

namespace {

void close_pipes(const Child& child) {
  if (child.input >= 0) close(child.input);
  close(child.output);
}

Child start(const std::list<Child>& others, const Pool::Work& work, const ProcessLimits& limits) {
  std::array<int, 2> input{}, output{};
  if (pipe2(input.data(), O_CLOEXEC) != 0) fail("pipe");
  if (pipe2(output.data(), O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    fail("pipe");
  }
  std::fflush(nullptr);  // or the child would write what is buffered here once more
  const pid_t pid = fork();
  if (pid == 0) {
    close(input[1]);
    close(output[0]);
    for (const Child& other : others) close_pipes(other);  // or they would not hear that this process is gone
    work_in_child(input[0], output[1], work, limits);
  }
  close(input[0]);
  close(output[1]);
  Child child;
  child.pid = pid;
  child.input = input[1];
  child.output = output[0];
  if (pid > 0) return child;
  close_pipes(child);
  fail("fork");
}

// False if the child is gone.
bool send(Child& child, std::size_t number, const std::string& task, std::size_t most_tasks) {
  child.task = number;
  child.started = Clock::now();
  if (!write_all(child.input, with_length(task))) return false;
  if (++child.given < most_tasks && child.worked < kLifetime) return true;
  child.leaving = true;
  close(std::exchange(child.input, -1));
  return true;
}

// Reads what has come; true when the child has closed its end.
bool drain(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(child.output, buffer.data(), buffer.size());
  if (n > 0) child.text.append(buffer.data(), static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

// The reply to its task, once all of it has come.
std::optional<Reply> take_reply(Child& child) {
  if (child.text.size() < kHead) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, child.text.data() + 1, sizeof size);
  if (child.text.size() - kHead < size) return std::nullopt;
  std::string said = child.text.substr(kHead, size);
  const bool returned = child.text.front() == kReturned;
  child.text.clear();
  if (returned) return Reply{std::move(said), ""};
  return Reply{std::nullopt, std::move(said)};
}

// The child has ended: why its task, if it has one, has no answer.
std::string end_of(const Child& child, const ProcessLimits& limits) {
  close_pipes(child);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (child.too_slow) return fmt::format("stopped after its time limit of {:g} s", limits.time->si());
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", strsignal(WTERMSIG(status)));
  return "ended without a result";
}

void kill_all(std::list<Child>& children) {
  for (const Child& child : children) kill(child.pid, SIGKILL);
  for (Child& child : children) {
    child.too_slow = false;  // nobody hears why it ended
    end_of(child, {});
  }
  children.clear();
}

}  // namespace

// One call of Pool::run.
class Pool::Run {
 public:
  using Next = std::function<std::optional<std::string>()>;
  using Done = std::function<bool(std::size_t, Reply)>;
  Run(Pool& pool, const Next& next, const Done& done)
      : work_(pool.work_), limits_(pool.limits_), children_(pool.children_), next_(next), done_(done) {}

  // False if `done` wants no more.
  bool all() {
    for (;;) {
      give_tasks();
      std::vector<Child*> awaited;
      std::vector<pollfd> outputs;
      for (Child& child : children_) {
        if (!child.task && !child.leaving) continue;
        awaited.push_back(&child);
        outputs.push_back({child.output, POLLIN, 0});
      }
      if (awaited.empty()) return true;
      constexpr int kLook = 100;  // ms between looks at the clock, where there is a time limit
      if (poll(outputs.data(), outputs.size(), limits_.time ? kLook : -1) < 0 && errno != EINTR) fail("poll");
      if (limits_.time) kill_slow();
      for (std::size_t i = 0; i < awaited.size(); ++i)
        if (outputs[i].revents != 0 && !hear(*awaited[i])) return false;
    }
  }

 private:
  // To children that wait for one, and to new ones while there may be more.
  void give_tasks() {
    const auto jobs = static_cast<std::size_t>(std::max(1, limits_.jobs));
    for (;;) {
      auto child = std::ranges::find_if(children_, [](const Child& each) { return !each.task && !each.leaving; });
      if (child == children_.end() && children_.size() >= jobs) return;
      const auto task = next_();  // which may have one again once a reply has come
      if (!task) return;
      if (child != children_.end()) {
        if (send(*child, named_, *task, limits_.tasks_of_child)) {
          ++named_;
          continue;
        }
        end_of(*child, limits_);  // killed from outside while it waited
        children_.erase(child);
      }
      send(children_.emplace_back(start(children_, work_, limits_)), named_++, *task, limits_.tasks_of_child);
    }
  }

  bool hear(Child& child) {
    const bool ended = drain(child);
    if (auto reply = take_reply(child)) {
      child.worked += std::chrono::duration<double>(Clock::now() - child.started).count();
      if (!done_(*std::exchange(child.task, std::nullopt), std::move(*reply))) return false;
    }
    if (!ended) return true;
    const auto task = child.task;
    std::string why = end_of(child, limits_);
    children_.remove_if([&](const Child& other) { return &other == &child; });
    return !task || done_(*task, {std::nullopt, std::move(why)});
  }

  void kill_slow() {
    for (Child& child : children_) {
      const std::chrono::duration<double> age = Clock::now() - child.started;
      if (!child.task || child.too_slow || age.count() < limits_.time->si()) continue;
      child.too_slow = true;
      kill(child.pid, SIGKILL);
    }
  }

  const Work& work_;
  const ProcessLimits& limits_;
  std::list<Child>& children_;
  const Next& next_;
  const Done& done_;
  std::size_t named_ = 0;
};

Pool::Pool(Work work, ProcessLimits limits) : work_(std::move(work)), limits_(limits) {}

Pool::~Pool() { kill_all(children_); }

void Pool::run(const std::function<std::optional<std::string>()>& next,
               const std::function<bool(std::size_t task, Reply reply)>& done) {
  try {
    if (Run(*this, next, done).all()) return;
  } catch (...) {
    kill_all(children_);
    throw;
  }
  kill_all(children_);
}

}  // namespace llmscape::forked

namespace llmscape {

int default_jobs() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

std::optional<Bytes> address_space() {
  std::ifstream sizes("/proc/self/statm");
  double pages = 0;  // the first of them
  if (!(sizes >> pages)) return std::nullopt;
  return Bytes(pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

}  // namespace llmscape
