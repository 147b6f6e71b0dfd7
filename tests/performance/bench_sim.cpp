// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: requests, steps and sequence-steps per second of CPU time, and peak memory. Figures depend
// on the machine; compare pairs of runs. `llmscape-bench-sim [CASE...]`, or without names all.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/data_folder.hpp"
#include "sim/run/run.hpp"

using namespace llmscape;

namespace {

struct Case {
  std::string_view name, text;
  std::vector<std::string> overrides;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"chat-10", "1 replica at 10 req/s, 100,000 requests", {"workload.arrivals.rate=10 /s"}},
      {"chat-20", "1 replica at 20 req/s, 100,000 requests", {"workload.arrivals.rate=20 /s"}},
      {"chat-80x8",
       "8 replicas at 80 req/s, 100,000 requests",
       {"workload.arrivals.rate=80 /s", "hardware.devices[gpu].count=8"}},
      {"chat-million",
       "1 replica at 10 req/s, 1,000,000 requests",
       {"workload.arrivals.rate=10 /s", "workload.requests=1000000"}},
  };
  return table;
}

double cpu_seconds(const rusage& use) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

int run_case(const Case& c) {
  const std::filesystem::path data = cli::data_folder();
  Diagnostics diagnostics;
  const auto scenario = scenario::load_scenario(
      data / "tests/performance/chat.yaml", c.overrides, std::nullopt,
      {data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"}, diagnostics);
  if (!scenario) {
    std::fputs(diagnostics.text(false).c_str(), stderr);
    return 2;
  }
  const result::RunResult result = run::run_scenario(*scenario, {}, diagnostics);
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const double cpu = cpu_seconds(use);
  fmt::print("{:<13} {:>9} {:>10} {:>7.2f} {:>10.0f} {:>10.0f} {:>12.0f} {:>8.0f}\n", c.name, result.requests.completed,
             result.steps, cpu, static_cast<double>(result.requests.completed) / cpu,
             static_cast<double>(result.steps) / cpu, static_cast<double>(result.sequence_steps) / cpu,
             static_cast<double>(use.ru_maxrss) / 1024);
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> wanted(argv + 1, argv + argc);
  fmt::print("{:<13} {:>9} {:>10} {:>7} {:>10} {:>10} {:>12} {:>8}\n", "case", "requests", "steps", "CPU s",
             "requests/s", "steps/s", "seq-steps/s", "peak MiB");
  std::fflush(stdout);
  for (const Case& c : cases()) {
    bool chosen = wanted.empty();
    for (const std::string_view name : wanted) chosen = chosen || name == c.name;
    if (!chosen) continue;
    const pid_t child = fork();  // SimGrid runs once in the life of a process
    if (child == 0) _exit(run_case(c));
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
