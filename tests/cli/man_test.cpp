// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {

TEST_CASE("the manual page is roff without a warning, and says what --help says") {
  const Scratch scratch;
  const std::string page = scratch.file("llmscape.1", run_program({"man"}).out);
  if (shell("command -v man").code != 0 || shell("command -v groff").code != 0) {
    MESSAGE("skipped: there is no man");
    return;
  }
  CHECK(shell("man --warnings -E UTF-8 -l " + page + " 2>&1 >/dev/null").out == "");
  const std::string text = shell("MANWIDTH=100 LC_ALL=C.UTF-8 man -E ascii -l " + page + " | col -bx").out;
  for (const char* part :
       {"NAME\n       llmscape - predicts how a language model is served", "llmscape run [OPTION]... [FILE]",
        "-o, --output DIR", "llmscape trace slice [OPTION]... FILE", "EXIT CODES\n", "4  an invariant broke",
        "EXAMPLES\n", "llmscape run examples/chat-h100/scenario.yaml\n"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, " is not in\n", text.substr(0, 3000));
}

TEST_CASE("an installation has the program, its manual page and both completions, as the program prints them") {
  const Scratch scratch;
  REQUIRE(shell(LLMSCAPE_CMAKE " --install " LLMSCAPE_BUILD_FOLDER " --prefix " + scratch.path("") + " 2>&1").code ==
          0);
  CHECK(scratch.content("share/man/man1/llmscape.1") == run_program({"man"}).out);
  CHECK(scratch.content("share/bash-completion/completions/llmscape") == run_program({"completion", "bash"}).out);
  CHECK(scratch.content("share/zsh/site-functions/_llmscape") == run_program({"completion", "zsh"}).out);
  CHECK(shell(scratch.path("bin/llmscape") + " lint " + scratch.path("share/llmscape/examples/chat-h100/scenario.yaml"))
            .code == 0);
}

}  // namespace llmscape::test
