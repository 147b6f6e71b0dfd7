// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <llmscape/llmscape.hpp>

// Prints the result of a scenario twice, to show that one process runs as many as it likes, or its mistakes.
int main(int argc, char** argv) {
  using namespace llmscape::api;
  try {
    const Scenario scenario = Scenario::read(argc > 1 ? argv[1] : "scenario.yaml");
    const Result first = Result::of_run(scenario), again = Result::of_run(scenario);
    std::fputs(first.json().c_str(), stdout);
    std::fprintf(stderr, "%s, TTFT %.6f s, %s\n", first.verdict().c_str(), first.metric("ttft.p99").value_or(0),
                 first.json() == again.json() ? "the same again" : "another result");
  } catch (const Refused& refused) {
    for (const Mistake& mistake : refused.mistakes)
      std::fprintf(stderr, "%s:%d:%d: %s\n", mistake.file.c_str(), mistake.line, mistake.column,
                   mistake.message.c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
}
