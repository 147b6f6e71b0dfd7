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
#include <cstdio>
#include <cstring>
#include <exception>
#include <list>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace llmscape {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kReturned = '+', kThrew = '-';  // first byte of what a child writes

struct Child {
  std::size_t task = 0;
  pid_t pid = 0;
  int output = -1;
  Clock::time_point started;
  std::string text;
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
[[noreturn]] void work_in_child(int output, std::size_t task, const std::function<std::string(std::size_t)>& work,
                                const ProcessLimits& limits) {
  if (limits.memory) {
    const auto bytes = static_cast<rlim_t>(limits.memory->si());
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  std::string text;
  try {
    text = kReturned + work(task);
  } catch (const std::bad_alloc&) {
    text = std::string(1, kThrew) + "out of memory";
  } catch (const std::exception& error) {
    text = std::string(1, kThrew) + error.what();
  }
  write_all(output, text);
  _exit(0);
}

Child start(std::size_t task, const std::function<std::string(std::size_t)>& work, const ProcessLimits& limits) {
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
    work_in_child(ends[1], task, work, limits);
  }
  close(ends[1]);
  return {task, pid, ends[0], Clock::now(), "", false};
}

// Reads what has come; true when the child has closed its end.
bool drain(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(child.output, buffer.data(), buffer.size());
  if (n > 0) child.text.append(buffer.data(), static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

forked::Reply finish(Child& child, const ProcessLimits& limits) {
  close(child.output);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (child.too_slow) return {std::nullopt, fmt::format("stopped after its time limit of {:g} s", limits.time->si())};
  if (WIFSIGNALED(status)) return {std::nullopt, fmt::format("killed by signal {}", strsignal(WTERMSIG(status)))};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || child.text.empty())
    return {std::nullopt, "ended without a result"};
  std::string said = child.text.substr(1);
  if (child.text.front() == kReturned) return {std::move(said), ""};
  return {std::nullopt, std::move(said)};
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
    for (Child& child : running) finish(child, {});
  }
};

}  // namespace

void forked::run(const std::function<std::optional<std::size_t>()>& next,
                 const std::function<std::string(std::size_t)>& work, const ProcessLimits& limits,
                 const std::function<bool(std::size_t, Reply)>& done) {
  constexpr int kLook = 100;  // ms between looks at the clock, where there is a time limit
  Children children;
  auto& running = children.running;
  std::vector<pollfd> waited;
  for (;;) {
    while (running.size() < static_cast<std::size_t>(std::max(1, limits.jobs))) {
      const std::optional<std::size_t> task = next();
      if (!task) break;
      running.push_back(start(*task, work, limits));
    }
    if (running.empty()) return;
    waited.clear();
    for (const Child& child : running) waited.push_back({child.output, POLLIN, 0});
    if (poll(waited.data(), waited.size(), limits.time ? kLook : -1) < 0 && errno != EINTR) fail("poll");
    if (limits.time) kill_slow(running, limits);
    auto child = running.begin();
    for (const pollfd& ready : waited) {
      const auto this_one = child++;
      if (ready.revents == 0 || !drain(*this_one)) continue;
      const std::size_t task = this_one->task;
      Reply reply = finish(*this_one, limits);
      running.erase(this_one);
      if (!done(task, std::move(reply))) return;
    }
  }
}

int default_jobs() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

}  // namespace llmscape
