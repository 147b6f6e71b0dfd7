// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "tests/cluster/background.hpp"
#include "tests/cluster/small_sweep.hpp"

namespace llmscape::test {
namespace {

// Ends the parent, one of its children, or all of them.
void strike(const Background& sweep, const std::string& folder, RandomStream& random) {
  const std::uint64_t whom = random.below(3);
  for (const pid_t worker : workers_in(folder)) {
    const bool is_parent = worker == sweep.pid();
    if (whom == 2 || (whom == 0) == is_parent) kill(worker, SIGKILL);
    if (whom == 1 && !is_parent) return;
  }
}

}  // namespace

TEST_CASE("a sweep that is killed at 50 random moments and resumed makes the bytes of one that nothing disturbed") {
  using Clock = std::chrono::steady_clock;
  const Scratch scratch;
  const std::string plan = small_plan(scratch, 60);
  const auto started = Clock::now();
  const std::string whole = undisturbed(scratch, plan);
  const std::chrono::duration<double> takes = Clock::now() - started;
  RandomStream random = RandomStreams(50).stream("moments");
  const auto command = [&](const std::string& folder) -> std::vector<std::string> {
    return {LLMSCAPE_PROGRAM, "sweep", plan, "-o", folder, "-j", "2", "--resume", "-q"};
  };

  int moments = 0, finished = 0;
  std::string name = "out0";
  while (moments < 50) {
    const std::string folder = scratch.path(name);
    const auto before = finished_points(scratch, name);
    Background sweep(command(folder));
    std::this_thread::sleep_for(takes * random.uniform());
    if (!sweep.ended()) {
      strike(sweep, folder, random);
      ++moments;
    }
    const bool whole_now = sweep.wait() == 0;
    const auto after = finished_points(scratch, name);
    for (const auto& [file, content] : before) {
      REQUIRE(after.contains(file));
      CHECK(after.at(file) == content);
    }
    if (!whole_now) continue;
    CHECK(scratch.content(name + "/results.csv") == whole);
    name = "out" + std::to_string(++finished);  // what is finished cannot be disturbed any more
  }
  CHECK(Background(command(scratch.path(name))).wait() == 0);
  CHECK(scratch.content(name + "/results.csv") == whole);
  for (int i = 0; i <= finished; ++i)  // children outlive a parent that was killed
    for (const pid_t orphan : workers_in(scratch.path("out" + std::to_string(i)))) kill(orphan, SIGKILL);
}

}  // namespace llmscape::test
