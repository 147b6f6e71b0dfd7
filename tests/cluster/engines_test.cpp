// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "tests/cli/shell.hpp"
#include "tests/cluster/background.hpp"
#include "tests/cluster/small_sweep.hpp"

namespace llmscape::test {
namespace {

namespace fs = std::filesystem;

// Where `llmscape` is found by its name, and mpirun may start more ranks than there are cores, also as root.
std::string in_environment(const std::string& command) {
  return "env PATH=" + fs::path(LLMSCAPE_PROGRAM).parent_path().string() +
         ":\"$PATH\" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 " +
         command;
}

bool is_here(const std::string& engine) {
  if (shell("command -v " + engine).code == 0) return true;
  MESSAGE("skipped: there is no " << engine << " here");
  return false;
}

std::string call(const Scratch& scratch, const std::string& script, const std::string& plan) {
  return in_environment("docs/cluster/" + script + ' ' + plan + ' ' + scratch.path("out") + " 3");
}

void check_engine(const std::string& engine, const std::string& script) {
  if (!is_here(engine)) return;
  const Scratch scratch;
  const std::string plan = small_plan(scratch, 12), whole = undisturbed(scratch, plan);
  const Shell ran = shell(call(scratch, script, plan) + " 2>&1");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK(scratch.content("out/results.csv") == whole);
}

// Waits until the run has ended or `points` points are finished. By points rather than by time: how long a sweep of
// small points takes depends on the machine, and a moment after its end kills nobody.
void until_finished(std::size_t points, const Scratch& scratch, Background& running) {
  while (!running.ended() && finished_points(scratch, "out").size() < points)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Ends workers at random moments; every point that was finished stays as it was.
void check_engine_with_losses(const std::string& engine, const std::string& script, std::uint64_t seed) {
  if (!is_here(engine)) return;
  const Scratch scratch;
  const std::string plan = small_plan(scratch, 60), whole = undisturbed(scratch, plan);
  RandomStream random = RandomStreams(seed).stream("losses");
  std::size_t killed = 0;
  for (int round = 0; round < 4; ++round) {
    const auto before = finished_points(scratch, "out");
    Background running({"bash", "-c", call(scratch, script, plan)});
    for (int loss = 0; loss < 2 && !running.ended(); ++loss) {
      until_finished(finished_points(scratch, "out").size() + 1 + random.below(8), scratch, running);
      const auto workers = workers_in(scratch.path("out"));
      if (!workers.empty() && kill(workers[random.below(workers.size())], SIGKILL) == 0) ++killed;
    }
    running.wait();
    const auto after = finished_points(scratch, "out");
    for (const auto& [name, content] : before) {
      REQUIRE(after.contains(name));
      CHECK(after.at(name) == content);
    }
  }
  CHECK(killed > 0);
  CHECK(shell(call(scratch, script, plan) + " 2>&1").code == 0);
  CHECK(scratch.content("out/results.csv") == whole);
}

}  // namespace

TEST_CASE("three parts under GNU parallel make the bytes of a sweep in one piece") {
  check_engine("parallel", "parallel.sh");
}
TEST_CASE("three ranks under mpirun make the bytes of a sweep in one piece") { check_engine("mpirun", "mpirun.sh"); }

TEST_CASE("under Snakemake failed points end nothing, and a plan or a base that is younger runs again") {
  if (!is_here("snakemake")) return;
  const Scratch scratch;
  const std::string plan = small_plan(scratch, 12), whole = undisturbed(scratch, plan);
  const auto run = [&](const std::string& out) {
    return shell("cd " + scratch.path("") + " && " +
                 in_environment("snakemake -q -s " + fs::absolute("docs/cluster/Snakefile").string() +
                                " --cores 2 --config plan=plan.yaml parts=3 out=" + out + " 2>&1"));
  };
  const Shell ran = run("out");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK(scratch.content("out/results.csv") == whole);
  const std::string scenario = scratch.content("scenario.yaml");
  scratch.file("scenario.yaml", scenario + "horizon: 3 s\n");
  CHECK_MESSAGE(run("out").code != 0, "the plan with this base is another one");
  scratch.file("scenario.yaml", scenario);
  scratch.file("plan.yaml", scratch.content("plan.yaml") + "limits: {time: 1 ms}\nset: {workload.requests: 200000}\n");
  const Shell late = run("late");
  CHECK_MESSAGE(late.code == 0, late.out);
  CHECK(std::distance(fs::directory_iterator(scratch.path("late/failed")), fs::directory_iterator()) == 12);
  CHECK_MESSAGE(run("out").code != 0, "the folder holds the sweep of another plan");
}

TEST_CASE("workers that are killed under GNU parallel lose no finished point") {
  check_engine_with_losses("parallel", "parallel.sh", 1);
}
TEST_CASE("ranks that are killed under mpirun lose no finished point") {
  check_engine_with_losses("mpirun", "mpirun.sh", 2);
}

}  // namespace llmscape::test
