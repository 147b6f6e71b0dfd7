// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::sweep_test {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = LLMSCAPE_PROGRAM;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Twelve points, one of them excluded, in a folder of its own.
class Sweep {
 public:
  explicit Sweep(const std::string& more = "exclude: [\"rate == 8 /s and max_num_seqs == 4\"]\n") {
    scratch.file("scenario.yaml", small_scenario());
    plan = scratch.file("plan.yaml",
                        "schema: sweep/1\nbase: scenario.yaml\naxes:\n  workload.arrivals.rate: [2 /s, 4 /s, 8 /s]\n"
                        "  serving.batcher.max_num_seqs: [4, 16, 64, 256]\n" +
                            more);
  }
  Ran run(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"sweep", "-q"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(all);
  }
  [[nodiscard]] std::string results(const std::string& out) const { return scratch.content(out + "/results.csv"); }
  [[nodiscard]] std::set<std::string> files(const std::string& folder) const {
    std::set<std::string> names;
    if (fs::exists(scratch.path(folder)))
      for (const auto& entry : fs::directory_iterator(scratch.path(folder))) names.insert(entry.path().filename());
    return names;
  }

  Scratch scratch;
  std::string plan;
};

}  // namespace

TEST_CASE("a sweep leaves a row and a file for each point, the same for any -j") {
  const Sweep sweep;
  const Ran one = sweep.run({sweep.plan, "-o", sweep.scratch.path("one"), "-j1"});
  CAPTURE(one.err);
  REQUIRE(one.code == 0);
  CHECK(holds(one.out, "results.csv: 11 points\n"));
  const Ran four = sweep.run({sweep.plan, "-o", sweep.scratch.path("four"), "-j4"});
  REQUIRE(four.code == 0);
  const std::string results = sweep.results("one");
  CHECK(std::count(results.begin(), results.end(), '\n') == 12);
  CHECK(results.starts_with(
      "point,id,workload.arrivals.rate,serving.batcher.max_num_seqs,repeat,seed,verdict,ttft_s.mean,"));
  CHECK(results == sweep.results("four"));
  const auto points = sweep.files("one/points");
  CHECK(points.size() == 11);
  CHECK(points == sweep.files("four/points"));
  for (const std::string& name : points)
    CHECK(sweep.scratch.content("one/points/" + name) == sweep.scratch.content("four/points/" + name));
  CHECK_FALSE(fs::exists(sweep.scratch.path("one/failed")));
}

TEST_CASE("shards share a folder and nothing else; merged they are the whole sweep") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("whole")}).code == 0);
  for (const char* shard : {"3/3", "1/3", "2/3"}) {
    const Ran ran = sweep.run({sweep.plan, "-o", sweep.scratch.path("parts"), "--shard", shard});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK_FALSE(fs::exists(sweep.scratch.path("parts/results.csv")));
  }
  const std::string parts = sweep.scratch.path("parts");
  const auto said = [](const std::vector<std::string>& call) {
    const Ran ran = run_program(call);
    CHECK(ran.code == 2);
    return ran.err;
  };
  CHECK(said({"pareto", parts, "--preset", "interactivity"}).find("--merge " + parts) != std::string::npos);
  const std::string point = parts + "/points/ID.json";
  CHECK(said({"explain", parts}).find(point) != std::string::npos);
  CHECK(said({"run", "--from", parts}).find(point) != std::string::npos);
  const Ran merged = run_program({"sweep", "--merge", parts});
  CHECK(merged.code == 0);
  CHECK(sweep.results("parts") == sweep.results("whole"));
}

TEST_CASE("--merge takes no option of a run, which it would pass over") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("out")}).code == 0);
  const std::vector<std::vector<std::string>> options = {
      {"-o", "x"},   {"--axis", "seed=1"}, {"--set", "seed=2"}, {"--repeat", "2"},  {"--intervals"},
      {"--dry-run"}, {"--list"},           {"--resume"},        {"--shard", "1/2"}, {"-j", "1"}};
  for (const auto& option : options) {
    std::vector<std::string> call = {"sweep", "--merge", sweep.scratch.path("out")};
    call.insert(call.end(), option.begin(), option.end());
    const Ran ran = run_program(call);
    CAPTURE(option.front());
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, "--merge"));
  }
}

TEST_CASE("ranks come from the environment of Slurm and MPI") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("whole")}).code == 0);
  const std::string command =
      " " + kProgram + " sweep -q " + sweep.plan + " --shard auto -o " + sweep.scratch.path("parts") + " 2>&1";
  for (const char* environment :
       {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=2 "
        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2",
        "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=2 OMPI_COMM_WORLD_RANK=1 "
        "OMPI_COMM_WORLD_SIZE=2",
        "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_STEP_ID=0 SLURM_PROCID=0 "
        "SLURM_STEP_NUM_TASKS=2",
        "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1"})
    CHECK(shell(environment + command).code == 0);
  // The third and the fourth of four, as ranks of an array task; the first one, as a step of one; and the second one.
  const Ran early = run_program({"sweep", "--merge", sweep.scratch.path("parts")});
  CHECK(early.code == 0);
  CHECK(sweep.results("parts") == sweep.results("whole"));
  const Shell none =
      shell("env -u SLURM_ARRAY_TASK_ID -u OMPI_COMM_WORLD_RANK -u PMI_RANK -u SLURM_PROCID -u SLURM_JOB_ID" + command);
  CHECK(none.code == 2);
  CHECK(holds(none.out, "no rank to take a part by"));
  // --array=1,3,7: every task is refused, those whose place would be told by chance too.
  for (const char* task : {"1", "3", "7"}) {
    const Shell gaps = shell(std::string("SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=3 ") +
                             "SLURM_ARRAY_TASK_ID=" + task + command);
    CHECK(gaps.code == 2);
    CHECK(holds(gaps.out, "the numbers of this Slurm array have gaps"));
  }
}

TEST_CASE("the script of a plain Slurm job runs once, and runs everything") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("whole")}).code == 0);
  const std::string script = "env SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 ";
  const std::string command = kProgram + " sweep -q " + sweep.plan + " --shard auto -o " + sweep.scratch.path("script");
  for (const std::string from : {"", "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 "}) {  // submitted from inside a step
    CHECK(shell(script + from + command).code == 0);
    CHECK(sweep.results("script") == sweep.results("whole"));
    fs::remove_all(sweep.scratch.path("script"));
  }
}

TEST_CASE("a plan may stand where the program is called") {
  const Sweep sweep;
  const Shell ran = shell("cd " + sweep.scratch.path("") + " && " + kProgram + " sweep -q plan.yaml -o out 2>&1");
  CHECK_MESSAGE(ran.code == 0, ran.out);
  CHECK(run_program({"sweep", "--merge", sweep.scratch.path("out")}).code == 0);
}

TEST_CASE("--resume runs what is missing and keeps the rest as it is") {
  const Sweep sweep;
  const std::string out = sweep.scratch.path("out");
  REQUIRE(sweep.run({sweep.plan, "-o", out}).code == 0);
  const std::string results = sweep.results("out");
  const Ran again = sweep.run({sweep.plan, "-o", out});
  CHECK(again.code == 2);
  CHECK(holds(again.err, "add --resume to go on"));
  const std::string lost = *sweep.files("out/points").begin();
  fs::remove(out + "/points/" + lost);
  const std::string kept = out + "/points/" + *sweep.files("out/points").begin();
  const auto written = fs::last_write_time(kept);
  CHECK(sweep.run({"-o", out, "--resume"}).code == 0);
  CHECK(fs::exists(out + "/points/" + lost));
  CHECK(fs::last_write_time(kept) == written);
  CHECK(sweep.results("out") == results);
}

TEST_CASE("a folder is home to one plan") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("out")}).code == 0);
  const Ran other = sweep.run({sweep.plan, "--set", "seed=8", "-o", sweep.scratch.path("out"), "--resume"});
  CHECK(other.code == 2);
  CHECK(holds(other.err, "holds the sweep of another plan"));
}

TEST_CASE("the name of a point changes with all that its result comes from, and with nothing else") {
  const Sweep sweep("");
  const auto name = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {sweep.plan, "--list"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string list = sweep.run(arguments).out;
    return list.substr(0, list.find('\n'));
  };
  const std::string first = name({});
  CHECK(first.starts_with("#0  "));
  CHECK(first.ends_with("  rate=2 /s max_num_seqs=4"));
  CHECK(name({}) == first);
  CHECK(name({"--shard", "1/1"}) == first);
  CHECK(name({"--set", "seed=8"}) != first);
  CHECK(name({"--set", "hardware.devices[0].count=2"}) != first);
}

TEST_CASE("a failed point keeps its log, the others their results, and the answer is 3") {
  const Sweep sweep("variants: {size: {small: {}, large: {model.preset: llama-3.1-70b}}}\n");
  const Ran ran = sweep.run({sweep.plan, "-o", sweep.scratch.path("out"), "--set", "workload.requests=10"});
  CAPTURE(ran.out + ran.err);
  CHECK(ran.code == 2);  // found before anything ran
  CHECK_FALSE(fs::exists(sweep.scratch.path("out")));

  const Sweep slow("limits: {time: 1 ms}\nrepeat: 1\n");
  const Ran late = slow.run({slow.plan, "-o", slow.scratch.path("out"), "--set", "workload.requests=200000"});
  CHECK(late.code == 3);
  CHECK(slow.files("out/failed").size() == 12);
  const std::string log = slow.scratch.content("out/failed/" + *slow.files("out/failed").begin());
  CHECK(holds(log, "rate="));
  CHECK(holds(log, "stopped after its time limit"));
}

TEST_CASE("refused points are left out where the plan says so") {
  const Sweep sweep("variants: {size: {small: {}, large: {model.preset: llama-3.1-70b}}}\nskip_refused: true\n");
  const Ran ran = sweep.run({sweep.plan, "-o", sweep.scratch.path("out")});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "12 points, 12 left out because their scenario is refused"));
  CHECK(sweep.files("out/refused").size() == 12);
}

TEST_CASE("a device whose file cannot be read is not left out without a word") {
  const Sweep sweep(
      "variants: {device: {known: {}, later: {\"hardware.devices[0].preset\": later.yaml}}}\nskip_refused: true\n");
  sweep.scratch.file("later.yaml", "schema: device/1\nkind: gpu\nname: later\nwarp_drive: true\n");
  const Ran ran = sweep.run({sweep.plan, "-o", sweep.scratch.path("out")});
  CAPTURE(ran.out + ran.err);
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "12 points, 12 left out because their scenario is refused: see "));
  CHECK(holds(ran.err, "later.yaml:4:1: warning: unknown key 'warp_drive' in gpu 'later'"));
  CHECK(holds(ran.err, "'skip_refused' leaves out the point "));
  CHECK(holds(ran.err, "device=later"));

  // What is too large for its devices is what the key is there for.
  const Sweep fitting("variants: {size: {small: {}, large: {model.preset: llama-3.1-70b}}}\nskip_refused: true\n");
  CHECK_FALSE(holds(fitting.run({fitting.plan, "-o", fitting.scratch.path("out")}).err, "warning"));
}

TEST_CASE("where some points can run, the refusal of another says which one it is and how to leave it out") {
  const Sweep sweep("variants: {size: {small: {}, large: {model.preset: llama-3.1-70b}}}\n");
  const Ran ran = sweep.run({sweep.plan, "-o", sweep.scratch.path("out")});
  CAPTURE(ran.err);
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "note: the point "));
  CHECK(holds(ran.err, "size=large"));
  CHECK(holds(ran.err, "'skip_refused: true' in the plan"));
  CHECK_FALSE(holds(ran.err, "size=small"));
}

TEST_CASE("mistakes of a plan are found before anything runs, each once, with its place") {
  const Sweep sweep("set: {workload.request: 5}\n");
  const Ran ran = sweep.run(
      {sweep.plan, "-o", sweep.scratch.path("out"), "--axis", "serving.batcher.max_num_seqs=1", "--axis", "nonsense"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "an axis is written PATH=VALUE,VALUE"));
  const Ran unknown = sweep.run({sweep.plan, "-o", sweep.scratch.path("out")});
  CHECK(unknown.code == 2);
  CHECK(holds(unknown.err, "did you mean 'requests'?"));
  CHECK_FALSE(fs::exists(sweep.scratch.path("out")));
  const Sweep judged("zip: {serving.block_size: [16, many]}\nslo: ttft.p9 <= 1 s\n");
  const Ran both = judged.run({judged.plan, "-o", judged.scratch.path("out")});
  CHECK(both.code == 2);
  CHECK(holds(both.err, "'ttft.p9'"));
  CHECK(holds(both.err, "'block_size' must be a whole number; got 'many'"));
  for (const char* shard : {"0/3", "4/3", "3", "a/b", "1/0"})
    CHECK(sweep.run({sweep.plan, "--list", "--shard", shard}).code == 2);
}

TEST_CASE("a dry run counts and estimates, and writes nothing") {
  const Sweep sweep;
  const Ran ran = sweep.run({sweep.plan, "--dry-run", "-o", sweep.scratch.path("out")});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "11 points (1 excluded); the first takes "));
  CHECK(holds(ran.out, "workload.arrivals.rate             3   2 /s  8 /s"));
  CHECK_FALSE(fs::exists(sweep.scratch.path("out")));
}

TEST_CASE("a point runs again from its file, to the same result") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("out")}).code == 0);
  const std::string point = "out/points/" + *sweep.files("out/points").begin();
  const Ran again = run_program({"run", "--from", sweep.scratch.path(point), "--format", "json"});
  CHECK(again.err == "");
  CHECK(again.code == 0);
  std::string on_one_line = again.out;
  std::erase_if(on_one_line, [](char c) { return c == '\n' || c == ' '; });
  std::string kept = sweep.scratch.content(point);
  std::erase_if(kept, [](char c) { return c == '\n' || c == ' '; });
  CHECK(holds(kept, on_one_line));
}

TEST_CASE("a point whose result is another when it runs again says so") {
  const Sweep sweep;
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("out")}).code == 0);
  const std::string point = "out/points/" + *sweep.files("out/points").begin();
  std::string text = sweep.scratch.content(point);
  const std::size_t steps = text.find("\"steps\": ");
  const std::size_t alone = steps == std::string::npos ? text.find("\"steps\":") : steps;
  REQUIRE(alone != std::string::npos);
  text.insert(text.find(':', alone) + 1, "9");  // as if a device's file had been another
  const Ran again = run_program({"run", "--from", sweep.scratch.file(point, text), "--format", "json"});
  CHECK(again.code == 0);
  CHECK(holds(again.err, "warning: the result that stands there is another"));
}

TEST_CASE("Ctrl-C lets the running points finish, keeps what is done, and --resume goes on to the same end") {
  const Sweep sweep("set: {workload.requests: 30000}\n");
  REQUIRE(sweep.run({sweep.plan, "-o", sweep.scratch.path("whole")}).code == 0);
  const std::string out = sweep.scratch.path("out");
  const Shell stopped = shell("timeout --foreground --preserve-status -s INT " + std::to_string(0.3 * kSlowdown) + " " +
                              kProgram + " sweep -q -j1 " + sweep.plan + " -o " + out + " 2>&1");
  CHECK((stopped.code == 130 || stopped.code == 0));
  if (stopped.code == 130) {
    CHECK(holds(stopped.out, "interrupted; finished points are kept, --resume goes on"));
    CHECK(fs::exists(out + "/results.csv"));
    CHECK(sweep.files("out/points").size() < 12);
  }
  CHECK(sweep.run({sweep.plan, "-o", out, "--resume"}).code == 0);
  CHECK(sweep.results("out") == sweep.results("whole"));
}

}  // namespace llmscape::test::sweep_test
