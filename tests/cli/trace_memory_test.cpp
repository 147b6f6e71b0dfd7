// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"

namespace llmscape::test::trace_memory_test {
namespace {

constexpr int kRows = 1'200'000;

// A row's arrival in ms: neighbours stand in turned order, and the second half of the file lies before the first.
int arrival_of(int row) { return (row + kRows / 2) % kRows ^ 1; }

// Most memory that a conversion held at once, in MB of 10^6 bytes.
double most_memory(const std::vector<std::string>& arguments) {
  std::vector<char*> call;
  for (const std::string& argument : arguments) call.push_back(const_cast<char*>(argument.c_str()));
  call.push_back(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execv(LLMSCAPE_PROGRAM, call.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

// 1.2 million calls held as records of some 180 bytes are 216 MB, their text 90 MB.
TEST_CASE("trace convert: memory does not grow with a table in any order") {
  const Scratch scratch;
  {
    std::ofstream table(scratch.path("calls.csv"));
    table << "ts,in,out,user\n";
    for (int row = 0; row < kRows; ++row)
      table << fmt::format("{},{},{},a-user-with-a-long-name-{}\n", arrival_of(row), arrival_of(row) + 1, 7,
                           row % 1000);
  }
  const double megabytes =
      most_memory({"llmscape", "trace", "convert", scratch.path("calls.csv"), "-o", scratch.path("calls.jsonl"),
                   "--columns", "arrival=ts,prompt=in,output=out,session=user", "--time-unit", "ms"});
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  CHECK(megabytes < 120);
#endif
  CHECK(megabytes > 1);
  std::ifstream converted(scratch.path("calls.jsonl"));
  std::string line;
  std::getline(converted, line);
  int at = 0, wrong = 0;
  for (; std::getline(converted, line); ++at) {
    const int row = ((at ^ 1) + kRows / 2) % kRows;
    if (line != fmt::format(R"({{"arrival_s": {}, "prompt_tokens": {}, "output_tokens": 7, )"
                            R"("session": "a-user-with-a-long-name-{}"}})",
                            at / 1e3, at + 1, row % 1000))
      ++wrong;
  }
  CHECK(at == kRows);
  CHECK(wrong == 0);
}

}  // namespace llmscape::test::trace_memory_test
