// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/cli/guard.hpp"
#include "sim/kernel/kernel.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::exit_codes_test {
namespace {

const std::string kProgram = LLMSCAPE_PROGRAM;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the table of exit codes stands in the footer of --help") {
  const Ran ran = run_program({"--help"});
  CHECK(ran.code == 0);
  for (const char* line : {"\n    0  done", "\n    1  a check", "\n    2  wrong usage", "\n    3  some points",
                           "\n    4  an invariant broke", "\n  130  interrupted"})
    CHECK(holds(ran.out, line));
}

TEST_CASE("wrong usage is answered with 2, a message and nothing on stdout") {
  const Scratch scratch;
  const std::string good = scratch.file("good.yaml", small_scenario());
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"no-such-verb"},
      {"run"},
      {"run", "--no-such-option"},
      {"run", good, "--format", "csv"},
      {"run", good, "--color", "sometimes"},
      {"run", good, "one-too-many.yaml"},
      {"run", good, "--requests"},
      {"run", good, "--timeline"},
      {"run", good, "--seed", "many"},
      {"run", good, "--set"},
      {"run", good, "--set", "no.such.path=1"},
      {"run", scratch.path("missing.yaml")},
      {"run", "--from", scratch.path("missing")},
      {"run", good, "--from", scratch.path("missing")},
      {"run", "--set", "seed=2", "--from", scratch.path("missing")},
      {"run", "--seed", "2", "--from", scratch.path("missing")},
      {"lint"},
      {"lint", scratch.path("missing.yaml")},
      {"list", "nothing"},
      {"show", "no-such-device"},
      {"show", "hardware/no-such-device"},
      {"show", "fields", "nothing"},
      {"schema"},
      {"schema", "sweeps"},
      {"schema", "link", "-o", scratch.path("schemas")},
      {"completion", "fish"},
      {"compare", good, good},
      {"compare", good},
      {"trace"},
      {"trace", "describe", scratch.path("missing.csv")},
      {"trace", "convert", good},
      {"import", "vllm", "ollama run llama3"},
  };
  for (const auto& arguments : cases) {
    std::string typed;
    for (const std::string& argument : arguments) typed += argument + ' ';
    CAPTURE(typed);
    const Ran ran = run_program(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK_FALSE(ran.err.empty());
    CHECK(ran.out.empty());
  }
}

TEST_CASE("import says every name that the catalogues do not have") {
  const Ran ran = run_program({"import", "vllm", "vllm serve meta-llama/Llama-3.1-8B-Instruct", "--device", "h10-sxm",
                               "--workload", "chat-1", "--model", "lama-3.1-8b"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "--device: error: no device 'h10-sxm'"));
  CHECK(holds(ran.err, "--workload: error: no workload 'chat-1'"));
  CHECK(holds(ran.err, "'lama-3.1-8b'"));
  CHECK(holds(ran.err, "3 errors. Nothing was run."));
}

TEST_CASE("a mistyped verb is answered with the one that was meant, at any depth") {
  CHECK(holds(run_program({"rnu", "x.yaml"}).err, "did you mean 'run'?"));
  CHECK(holds(run_program({"trace", "descibe", "x.csv"}).err, "did you mean 'describe'?"));
}

TEST_CASE("a broken invariant and a deadlock are answered with 4, other failures too") {
  CHECK(cli::guarded([] { return 3; }) == 3);
  CHECK(cli::guarded([]() -> int { throw std::logic_error("INV-4: lost a block"); }) == 4);
  CHECK(cli::guarded([]() -> int { throw kernel::Deadlock("all wait"); }) == 4);
  CHECK(cli::guarded([]() -> int { throw std::runtime_error("disk full"); }) == 4);
}

TEST_CASE("a stdout that does not take the result is no success") {
  const Shell full = shell(kProgram + " list devices 2>&1 >/dev/full");
  CHECK(full.code == 4);
  CHECK(holds(full.out, "cannot write to stdout"));
}

TEST_CASE("a folder that cannot be made is answered with 4") {
  const Scratch scratch;
  const std::string good = scratch.file("good.yaml", small_scenario());
  const Ran ran = run_program({"run", good, "-o", good + "/below-a-file"});
  CHECK(ran.code == 4);
  CHECK(holds(ran.err, "cannot make the folder"));
}

TEST_CASE("Ctrl-C ends a run with 130 and a message, and leaves nothing behind") {
  const Scratch scratch;
  const std::string good = scratch.file("good.yaml", small_scenario());
  const std::string out = scratch.path("out");
  // --foreground: without it `timeout` sends the signal twice, and the second one ends the program at once.
  const Shell stopped = shell("timeout --foreground --preserve-status -s INT 2 " + kProgram + " run " + good +
                              " --set workload.requests=100000000 --quiet --requests --timeline -o " + out + " 2>&1");
  CHECK(stopped.code == 130);
  CHECK(holds(stopped.out, "interrupted"));
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace llmscape::test::exit_codes_test
