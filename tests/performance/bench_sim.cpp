// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: requests, steps and sequence-steps per second of CPU time, and peak memory. Figures depend
// on the machine; compare pairs of runs. `llmscape-bench-sim [CASE...]`, or without names all.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/heap.hpp"
#include "base/process_pool.hpp"
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
      {"fleet-64",
       "64 replicas at 640 req/s, 100,000 requests",
       {"workload.arrivals.rate=640 /s", "hardware.devices[gpu].count=64"}},
      {"fleet-256",
       "256 replicas at 2,560 req/s, 100,000 requests",
       {"workload.arrivals.rate=2560 /s", "hardware.devices[gpu].count=256"}},
      {"fleet-1024",
       "1,024 replicas at 10,240 req/s, 400,000 requests",
       {"workload.arrivals.rate=10240 /s", "hardware.devices[gpu].count=1024", "workload.requests=400000"}},
      {"kv-1024",
       "512 replicas compute prompts and send KV to 512 others, 5,120 req/s, 400,000 requests",
       {"hardware.devices=[{name: in, preset: h100-sxm, count: 512}, {name: out, preset: h100-sxm, count: 512}]",
        "hardware.fabric={groups: {in: {node: dgx-h100}, out: {node: dgx-h100}}}",
        "serving.pools=[{devices: [in], role: prefill}, {devices: [out], role: decode}]",
        "workload.arrivals.rate=5120 /s", "workload.requests=400000"}},
      {"chat-million",
       "1 replica at 10 req/s, 1,000,000 requests",
       {"workload.arrivals.rate=10 /s", "workload.requests=1000000"}},
      {"chat-short",
       "1 replica at 10 req/s, 20,000 requests",
       {"workload.arrivals.rate=10 /s", "workload.requests=20000"}},
  };
  return table;
}

double cpu_seconds(const rusage& use) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// What a case came to; the memory is that of the process that ran it alone.
struct Figures {
  std::int64_t completed = 0, steps = 0, sequence_steps = 0;
  double cpu_s = 0, peak_kib = 0;
  template <class Message>
  void cross(Message& m) {
    m(completed, steps, sequence_steps, cpu_s, peak_kib);
  }
};

Figures run_case(const Case& c) {
  const std::filesystem::path data = cli::data_folder();
  Diagnostics diagnostics;
  const auto scenario = scenario::load_scenario(
      data / "tests/performance/chat.yaml", c.overrides, std::nullopt,
      {data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"}, diagnostics);
  if (!scenario) throw std::invalid_argument(diagnostics.text(false));
  const result::RunResult result = run::run_scenario(*scenario, {}, diagnostics);
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return {result.requests.completed, result.steps, result.sequence_steps, cpu_seconds(use),
          static_cast<double>(use.ru_maxrss)};
}

void print(const Case& c, const Figures& f) {
  fmt::print("{:<13} {:>9} {:>10} {:>7.2f} {:>10.0f} {:>10.0f} {:>12.0f} {:>8.0f}\n", c.name, f.completed, f.steps,
             f.cpu_s, static_cast<double>(f.completed) / f.cpu_s, static_cast<double>(f.steps) / f.cpu_s,
             static_cast<double>(f.sequence_steps) / f.cpu_s, f.peak_kib / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  widen_heap();
  const std::vector<std::string_view> wanted(argv + 1, argv + argc);
  fmt::print("{:<13} {:>9} {:>10} {:>7} {:>10} {:>10} {:>12} {:>8}\n", "case", "requests", "steps", "CPU s",
             "requests/s", "steps/s", "seq-steps/s", "peak MiB");
  std::fflush(stdout);
  for (const Case& c : cases()) {
    bool chosen = wanted.empty();
    for (const std::string_view name : wanted) chosen = chosen || name == c.name;
    if (!chosen) continue;
    const auto outcome = in_child<Figures>([&] { return run_case(c); });  // SimGrid runs once in the life of a process
    if (!outcome.answer) {
      fmt::print(stderr, "{}: {}\n", c.name, outcome.error);
      return EXIT_FAILURE;
    }
    print(c, *outcome.answer);
  }
  return EXIT_SUCCESS;
}
