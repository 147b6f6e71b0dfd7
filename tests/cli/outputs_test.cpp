// SPDX-License-Identifier: Apache-2.0
// Where results may go, and what may not be lost on the way.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::outputs_test {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = LLMSCAPE_PROGRAM;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kImport = kProgram + " import vllm 'vllm serve Qwen/Qwen2.5-1.5B-Instruct' -o ";

}  // namespace

TEST_CASE("a result goes to stdout by every name of it, behind what is there, and through a pipe that has a name") {
  const Scratch scratch;
  const std::string in = "cd " + scratch.path("") + " && ";
  const std::string wanted = shell(kImport + "- 2>/dev/null").out;
  CHECK(holds(wanted, "schema: scenario/1"));
  CHECK(shell(kImport + "/dev/stdout 2>/dev/null").out == wanted);
  CHECK(shell(kImport + "/dev/stdout 2>/dev/null | cat").out == wanted);
  shell(in + "echo before > out.yaml; " + kImport + "/dev/stdout >> out.yaml 2>/dev/null; echo after >> out.yaml");
  CHECK(scratch.content("out.yaml") == "before\n" + wanted + "after\n");
  CHECK(shell(in + "mkfifo pipe; timeout 60 cat pipe & " + kImport + "pipe 2>/dev/null; wait").out == wanted);
  CHECK(fs::is_fifo(scratch.path("pipe")));
}

// The program stands in a folder of its own with its data beside it, as it is installed.
TEST_CASE("does a result go over an example that came with the program? no, it is made where it was asked for") {
  const Scratch scratch;
  scratch.file("share/llmscape/examples/mine/scenario.yaml", "what came\n");
  for (const char* folder : {"models", "hardware", "workloads"})
    fs::create_directory_symlink(fs::absolute(folder), scratch.path(std::string("share/llmscape/") + folder));
  fs::create_directory(scratch.path("bin"));
  fs::copy_file(kProgram, scratch.path("bin/llmscape"));
  fs::create_directories(scratch.path("work/examples/mine"));
  const std::string here = "cd " + scratch.path("work") + " && ../bin/llmscape ";
  const std::string name = "examples/mine/scenario.yaml";
  CHECK(shell(here + "lint " + name + " 2>&1").code == 2);  // it is found, and is no scenario
  const Shell made = shell(here + "import vllm 'vllm serve Qwen/Qwen2.5-1.5B-Instruct' -o " + name + " 2>&1");
  CHECK_MESSAGE(made.code == 0, made.out);
  CHECK(scratch.content("share/llmscape/" + name) == "what came\n");
  CHECK(holds(scratch.content("work/" + name), "schema: scenario/1"));
}

TEST_CASE("what is asked for on stdout stands there alone") {
  const Scratch scratch;
  const std::string out = scratch.path("out");
  REQUIRE(run_program({"run", scratch.file("s.yaml", small_scenario()), "-o", out, "--requests"}).code == 0);
  const Ran compared = run_program({"validate", out, "--against", out + "/requests.jsonl", "--json", "-"});
  CHECK(compared.code == 0);
  CHECK(compared.out.starts_with("{"));
  CHECK(compared.out.ends_with("}\n"));
  const Ran page = run_program({"report", out, "-o", "-"});
  CHECK(page.out.starts_with("<!DOCTYPE html>"));
  CHECK(page.err.empty());
}

TEST_CASE("files in a folder that llmscape did not write are named and kept, all of them, before anything runs") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario()), out = scratch.path("out");
  scratch.file("out/run.json", "{\"mine\": 1}\n");
  scratch.file("out/requests.jsonl", "{\"mine\": 2}\n");
  const std::vector<std::string> run = {"run", scenario, "-o", out, "--requests"};
  const Ran refused = run_program(run);
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, out + "/run.json: error: llmscape did not write this file"));
  CHECK(holds(refused.err, out + "/requests.jsonl: error: "));
  CHECK(holds(refused.err, "--overwrite"));
  CHECK(refused.out.empty());
  CHECK(scratch.content("out/run.json") == "{\"mine\": 1}\n");
  // A file that this run does not write is not in its way, and stays.
  fs::remove(out + "/run.json");
  CHECK(run_program({"run", scenario, "-o", out}).code == 0);
  CHECK(scratch.content("out/requests.jsonl") == "{\"mine\": 2}\n");
  std::vector<std::string> overwrite = run;
  overwrite.emplace_back("--overwrite");
  CHECK(run_program(overwrite).code == 0);
  CHECK(scratch.content("out/requests.jsonl").starts_with("{\"metadata\""));
  // Its own files are no obstacle; those of an earlier run that are not this one's go.
  CHECK(run_program({"run", scenario, "-o", out}).code == 0);
  CHECK_FALSE(fs::exists(out + "/requests.jsonl"));
  fs::remove(out + "/run.json");
  fs::create_directories(out + "/run.json");
  overwrite.back() = "--requests";
  CHECK(holds(run_program(overwrite).err, "a folder stands where 'run.json' is to be written"));
}

TEST_CASE("a folder holds a run or a sweep, whichever came first") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario());
  const std::string run = scratch.path("run"), sweep = scratch.path("sweep");
  REQUIRE(run_program({"run", scenario, "-o", run, "-q"}).code == 0);
  REQUIRE(run_program({"sweep", scenario, "-o", sweep, "-q"}).code == 0);
  const Ran into_sweep = run_program({"run", scenario, "-o", sweep, "-q", "--overwrite"});
  CHECK(into_sweep.code == 2);
  CHECK(holds(into_sweep.err, "/sweep: error: this folder holds a sweep (plan.yaml)"));
  CHECK_FALSE(fs::exists(sweep + "/run.json"));
  const Ran into_run = run_program({"sweep", scenario, "-o", run, "-q", "--overwrite"});
  CHECK(into_run.code == 2);
  CHECK(holds(into_run.err, "/run: error: this folder holds a run (run.json)"));
  CHECK_FALSE(fs::exists(run + "/plan.yaml"));
}

TEST_CASE("what cannot be written is answered with 4, by its own name") {
  const Scratch scratch;
  const std::string trace = scratch.file("t.csv",
                                         "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                         "2023-11-16 18:15:00.0000000,100,10\n");
  const Ran converted = run_program({"trace", "convert", trace, "-o", trace + "/x"});  // below a file
  CHECK(converted.code == 4);
  CHECK(holds(converted.err, "cannot write " + trace + "/x: "));
  const Ran schemas = run_program({"schema", "-o", trace});
  CHECK(schemas.code == 4);
  CHECK(holds(schemas.err, "cannot make the folder '" + trace + "': "));
}

TEST_CASE("a sweep keeps what is not of a sweep") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario()), out = scratch.path("out");
  for (const char* name : {"plan.yaml", "results.csv", "manifest.json"}) {
    scratch.file(std::string("out/") + name, "mine\n");
    const std::vector<std::string> sweep = {"sweep", scenario, "-o", out, "-q", "--resume"};
    const Ran refused = run_program(sweep);
    CHECK(refused.code == 2);
    CHECK(holds(refused.err, std::string("/") + name + ": error: llmscape did not write this file"));
    CHECK(scratch.content(std::string("out/") + name) == "mine\n");
    CHECK_FALSE(fs::exists(out + "/points"));
  }
  CHECK(run_program({"sweep", scenario, "-o", out, "-q", "--overwrite"}).code == 0);
  CHECK(scratch.content("out/results.csv").starts_with("point,id,"));
  CHECK(run_program({"sweep", "-o", out, "-q", "--resume"}).code == 0);
}

TEST_CASE("a stdout that is closed is no success, and no other file takes its place") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario()), out = scratch.path("out");
  const Shell closed = shell(kProgram + " run " + scenario + " -q -o " + out + " 2>&1 >&-");
  CHECK(closed.code == 4);
  CHECK(holds(closed.out, "cannot write to stdout"));
  CHECK_FALSE(holds(scratch.content("out/run.json") + scratch.content("out/manifest.json"), "TTFT"));
}

TEST_CASE("a pipe whose reader has gone ends the program as it ends others") {
  // 141 = 128 + SIGPIPE; nothing is said about it.
  const Shell gone = shell("bash -c '" + kProgram + " show fields scenario 2>&1 >/dev/full | cat; " + kProgram +
                           " list devices | true; echo ${PIPESTATUS[0]}'");
  CHECK(holds(gone.out, "cannot write to stdout: No space left"));
  CHECK((holds(gone.out, "\n141\n") || holds(gone.out, "\n0\n")));  // 0: it was faster than the pipe was closed
}

TEST_CASE("a stderr that cannot be written ends nothing") {
  const Scratch scratch;
  const std::string sweep = kProgram + " sweep " + scratch.file("s.yaml", small_scenario()) +
                            " --axis workload.arrivals.rate='1 /s,2 /s,4 /s,8 /s' -j1 -o ";
  for (const char* stream : {"2>/dev/full", "2>&-"}) {
    CAPTURE(stream);
    fs::remove_all(scratch.path("out"));
    CHECK(holds(shell(sweep + scratch.path("out") + " " + stream).out, "results.csv: 4 points"));
  }
  const std::string out = scratch.path("broken");
  const Shell broken = shell("bash -c '{ " + kProgram + " sweep " + scratch.path("s.yaml") + " -o " + out +
                             " -j1 --repeat 8; echo $? >&3; } 3>" + scratch.path("code") + " 2> >(true)'");
  CHECK(holds(broken.out, "results.csv: 8 points"));
  CHECK(scratch.content("code") == "0\n");
}

TEST_CASE("a run writes its output and nothing beside it") {
  const Scratch scratch;
  const std::string folder = scratch.path("");
  scratch.file("s.yaml", small_scenario());
  fs::create_directories(scratch.path("home"));
  fs::create_directories(scratch.path("tmp"));
  const std::string in = "cd " + folder + " && HOME=$PWD/home TMPDIR=$PWD/tmp XDG_CACHE_HOME=$PWD/home " + kProgram;
  REQUIRE(shell(in + " run s.yaml -q -o out --requests --timeline >/dev/null").code == 0);
  REQUIRE(shell(in + " sweep s.yaml -q -o swept >/dev/null").code == 0);
  REQUIRE(shell(in + " observe out/requests.jsonl >/dev/null 2>&1").code != 4);
  CHECK(shell("cd " + folder + " && ls -A . home tmp out").out ==
        ".:\nhome\nout\ns.yaml\nswept\ntmp\n\nhome:\n\nout:\nmanifest.json\nrequests.jsonl\nrun.json\n"
        "scenario.resolved.yaml\ntimeline.json\n\ntmp:\n");
}

TEST_CASE("timeline.json tells when a replica drains and when it serves again, beside its steps") {
  const Scratch scratch;
  const std::string scenario =
      scratch.file("s.yaml", small_scenario() +
                                 "serving: {cold_start: {boot: 1 s, bandwidth: 10 GB/s}, "
                                 "controllers: [{policy: drain, at: 2 s, lasts: 1 s, group: l4}]}\n");
  REQUIRE(run_program({"run", scenario, "--timeline", "-o", scratch.path("a")}).code == 0);
  const std::string timeline = scratch.content("a/timeline.json");
  CHECK(holds(timeline, R"("ph":"i","s":"p","name":"draining")"));
  CHECK(holds(timeline, R"("ph":"i","s":"p","name":"serving")"));
  CHECK(holds(timeline, R"("ph":"X","name":"decode")"));
}

}  // namespace llmscape::test::outputs_test
