// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::optimize_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// 2 x 3 x 3 x 2 configurations and an interval.
std::string space(const Scratch& scratch) {
  scratch.file("scenario.yaml", small_scenario());
  return scratch.file("space.yaml",
                      "schema: sweep/1\nbase: scenario.yaml\nset: {workload.requests: 12}\n"
                      "variants: {hardware: {l4: {\"hardware.devices[0].preset\": l4}, a100: "
                      "{\"hardware.devices[0].preset\": a100-80}}}\n"
                      "axes:\n  hardware.devices[0].count: [1, 2, 3]\n  serving.batcher.max_num_seqs: [4, 16, 64]\n"
                      "  workload.arrivals.rate: {between: [1 /s, 64 /s], log: true}\n"
                      "objectives: {maximize: [output_tokens_per_joule], minimize: [ttft.p99]}\n");
}

}  // namespace

TEST_CASE("optimize keeps what it ran as a sweep does, the same for any number of jobs, and goes on where it stopped") {
  const Scratch scratch;
  const std::string plan = space(scratch);
  const auto optimize = [&](const std::string& folder, const char* jobs, const char* evaluations) {
    return run_program({"optimize", plan, "-o", scratch.path(folder), "--include-invalid", "--evaluations", evaluations,
                        "-q", "-j", jobs});
  };
  const Ran one = optimize("a", "1", "24");
  CHECK(one.code == 0);
  CHECK(holds(one.out, "24 configurations evaluated"));
  CHECK(optimize("b", "2", "24").code == 0);
  const std::string results = scratch.content("a/results.csv");
  CHECK(std::ranges::count(results, '\n') == 25);
  CHECK(results == scratch.content("b/results.csv"));
  CHECK(optimize("a", "1", "24").out == one.out);  // nothing runs again
  CHECK(run_program({"pareto", scratch.path("a"), "--include-invalid"}).code == 0);
}

TEST_CASE("with one objective optimize finds the configuration that a sweep of all finds") {
  const Scratch scratch;
  scratch.file("scenario.yaml", small_scenario());
  const std::string plan =
      scratch.file("space.yaml",
                   "schema: sweep/1\nbase: scenario.yaml\nset: {workload.requests: 12}\n"
                   "axes:\n  hardware.devices[0].count: [1, 2, 3]\n  serving.batcher.max_num_seqs: [1, 2, 4, 8, 16]\n"
                   "  workload.arrivals.rate: [1 /s, 4 /s, 16 /s, 64 /s]\n"
                   "objectives: {maximize: [output_tokens_per_joule]}\nslo: ttft.p99 <= 300 ms\n");
  const Ran found = run_program(
      {"optimize", plan, "-o", scratch.path("best"), "--include-invalid", "--evaluations", "40", "-q", "-j1"});
  CHECK(found.code == 0);
  CHECK(run_program({"sweep", plan, "-o", scratch.path("all"), "-q", "-j1"}).code == 0);
  const Ran all = run_program({"pareto", scratch.path("all"), "--include-invalid", "--slo", "ttft.p99 <= 300 ms",
                               "--max", "output_tokens_per_joule,same=output_tokens_per_joule", "--format", "json"});
  const auto best = nlohmann::json::parse(all.out)["groups"][0]["points"][0];
  // "count=2 max_num_seqs=16 rate=64 /s meets ttft.p99 <= 300 ms and ... with ..., the best of those compared"
  CAPTURE(found.out);
  CHECK(found.out.starts_with(best["label"].get<std::string>() +
                              " meets ttft.p99 <= 300 ms and lost_share <= 1% with output\ntokens/joule "));
  CHECK(holds(found.out, "  max tokens/J  ttft.p99"));  // how far it is from the limit
  CHECK_FALSE(holds(found.out, "Hypervolume"));
}

TEST_CASE("optimize names nothing that drops more than one call in a hundred, unless the limits speak of losses") {
  const Scratch scratch;
  // One call at a time takes 2 s or so: of 4 a second most are dropped, and what is answered is answered at once.
  scratch.file("scenario.yaml",
               "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
               "serving: {admission: {max_outstanding: 1, max_waiting: 1}}\n"
               "workload: {requests: 200, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: "
               "{kind: fixed, value: 100}, output: {kind: fixed, value: 300}}}\nseed: 4\n");
  const std::string plan =
      scratch.file("plan.yaml",
                   "schema: sweep/1\nbase: scenario.yaml\naxes: {workload.arrivals.rate: [4 /s, 6 /s]}\n"
                   "objectives: {maximize: [output_tokens_per_joule]}\n");
  const auto code = [&](const char* folder, const char* slo) {
    return run_program({"optimize", plan, "-o", scratch.path(folder), "--slo", slo, "--include-invalid", "-q", "-j1"})
        .code;
  };
  CHECK(code("a", "ttft.p99 <= 10 s") == 1);
  CHECK(code("b", "ttft.p99 <= 10 s, lost_share <= 99%") == 0);
}

TEST_CASE("optimize --halving says how much it simulated") {
  const Scratch scratch;
  const std::string plan = space(scratch);
  const Ran ran = run_program({"optimize", plan, "-o", scratch.path("h"), "--include-invalid", "--evaluations", "16",
                               "--halving", "-q", "-j1"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, " dropped early, "));
  CHECK(holds(ran.out, " full lengths simulated"));
}

TEST_CASE("--halving loses nothing to short runs that end in a warm-up, or are too short for a verdict") {
  // 400 calls at 10 /s: a quarter of them is over after 10 s, and always unsteady. At 0.5 TB/s the whole run keeps the
  // limit (116.98 ms), the quarter misses it by 0.1 %.
  const Scratch scratch;
  scratch.file(
      "scenario.yaml",
      "schema: scenario/1\nmodel: llama-3.2-1b\nhardware: {devices: [{kind: roofline, name: a, count: 1, "
      "energy_boundary: chip, accuracy: ideal, peak_bf16: 100 Tflop/s, memory_bandwidth: 1 TB/s, "
      "memory_capacity: 64 GB, compute_efficiency: 1, attention_efficiency: 1, memory_efficiency: 1, "
      "per_operator: 0 us, per_step: 0 us, per_request: 0 us, tdp: 10000 W, idle_power: 100 W, compute_energy: 1 "
      "pJ/flop, memory_energy: 10 pJ/bit}]}\n"
      "serving: {batcher: {policy: vllm_v1, max_num_seqs: 64, max_num_batched_tokens: 8192}}\n"
      "workload: {requests: 400, arrivals: {kind: poisson, rate: 10 /s}, stream: {kind: lengths, prompt: {kind: "
      "fixed, value: 1000}, output: {kind: fixed, value: 101}}}\nseed: 4\n");
  const std::string plan = scratch.file(
      "plan.yaml",
      "schema: sweep/1\nbase: scenario.yaml\naxes:\n  hardware.devices[0].memory_bandwidth: [0.5 TB/s, 0.6 TB/s, 0.7 "
      "TB/s, 0.8 TB/s, 1 TB/s, 2 TB/s]\nobjectives: {maximize: [output_tokens_per_joule]}\nslo: ttft.p99 <= 117 ms\n");
  const auto best = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"optimize", plan, "-o", scratch.path(folder), "-q", "-j1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run_program(arguments);
    CHECK(ran.code == 0);
    return ran.out.substr(0, ran.out.find(','));
  };
  const std::string found = best("whole", {});
  CHECK(found.starts_with("memory_bandwidth=0.5 TB/s meets"));
  CHECK(best("halved", {"--halving"}) == found);
  const std::string late = best("late", {"--set", "workload.warmup=30 s", "--set", "workload.requests=800"});
  CHECK(late.starts_with("memory_bandwidth="));
  CHECK(best("late-halved", {"--halving", "--set", "workload.warmup=30 s", "--set", "workload.requests=800"}) == late);
}

TEST_CASE("--halving drops no configuration that costs the same and is faster") {
  const Scratch scratch;
  const std::string plan = scratch.file(
      "plan.yaml",
      "schema: sweep/1\nbase: {schema: scenario/1, model: llama-3.2-1b, hardware: {devices: [{preset: h100-sxm}]}, "
      "cost: {currency: USD, devices: {h100-sxm: {capital: 100, lifetime: 4 y}}}, workload: {preset: chat-1k, "
      "requests: 40}}\n"
      "axes:\n  hardware.devices[0].hbm_bandwidth: [1 TB/s, 1.5 TB/s, 2 TB/s, 3 TB/s]\n"
      "objectives: {minimize: [capital]}\nslo: ttft.p99 <= 100 s\n");
  const Ran ran =
      run_program({"optimize", plan, "-o", scratch.path("h"), "--include-invalid", "--halving", "-q", "-j1"});
  CHECK(ran.code == 0);
  // 4 x (1/4 + 1/2 + 1).
  CHECK_MESSAGE(holds(ran.out, "4 configurations evaluated of 4 (100.0 %); 0 dropped early, 7.0 full lengths"),
                ran.out);
}

// Both limits are missed by some hundred times. The peak of a short run is that of its own slices and drops nobody: 4 x
// (1/4 + 1/2 + 1) lengths. The mean of a quarter is near that of the whole, and drops all four: 4 x 1/4.
TEST_CASE("--halving drops no configuration by a limit of peak_w") {
  const Scratch scratch;
  const auto said = [&](const std::string& slo) {
    const std::string plan = scratch.file(
        "plan.yaml",
        "schema: sweep/1\nbase: {schema: scenario/1, model: llama-3.2-1b, hardware: {devices: [{preset: h100-sxm}]}, "
        "window: {rule: whole}, workload: {preset: chat-1k, requests: 40}}\n"
        "axes:\n  hardware.devices[0].hbm_bandwidth: [1 TB/s, 1.5 TB/s, 2 TB/s, 3 TB/s]\n"
        "objectives: {minimize: [ttft.mean]}\nslo: " +
            slo + "\n");
    return run_program(
               {"optimize", plan, "-o", scratch.path(slo.substr(0, 4)), "--include-invalid", "--halving", "-q", "-j1"})
        .out;
  };
  const std::string peak = said("peak_w <= 1 W"), mean = said("mean_w <= 1 W");
  CHECK_MESSAGE(holds(peak, "4 configurations evaluated of 4 (100.0 %); 0 dropped early, 7.0 full lengths"), peak);
  CHECK_MESSAGE(holds(mean, "4 configurations evaluated of 4 (100.0 %); 4 dropped early, 1.0 full lengths"), mean);
}

TEST_CASE("prices in two currencies have no order: where money is an objective, nothing runs") {
  const Scratch scratch;
  const std::string plan = scratch.file(
      "plan.yaml",
      "schema: sweep/1\nbase: {schema: scenario/1, model: llama-3.2-1b, hardware: {devices: [{preset: h100-sxm}]}, "
      "workload: {preset: chat-1k, requests: 20}}\nvariants:\n  hardware:\n"
      "    one: {cost: {currency: EUR, devices: {h100-sxm: {hourly: 3 /h}}}}\n"
      "    two: {cost: {currency: JPY, devices: {h100-sxm: {hourly: 450 /h}}}}\n");
  const Ran ran = run_program({"optimize", plan, "-o", scratch.path("o"), "-q", "--min",
                               "cost_per_million_output_tokens,ttft.p99", "--evaluations", "2"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "prices are in EUR and JPY"));
  const Ran limited = run_program({"optimize", plan, "-o", scratch.path("l"), "-q", "--min", "ttft.p99", "--slo",
                                   "total_cost <= 5", "--evaluations", "2"});
  CHECK(limited.code == 2);
  CHECK(holds(limited.err, "an objective or a limit is an amount of money, and prices are in EUR and JPY"));
  // Also where something else of the plan is wrong, and the limit stands in it.
  std::ifstream read(plan);
  const std::string yaml((std::istreambuf_iterator<char>(read)), {});
  const std::string broken =
      scratch.file("broken.yaml", yaml + "objectives: {minimize: [ttft.p9, tpot.mean]}\nslo: total_cost <= 5\n");
  const Ran beside = run_program({"optimize", broken, "-o", scratch.path("b"), "-q"});
  CHECK(beside.code == 2);
  CHECK_MESSAGE(holds(beside.err, "prices are in EUR and JPY"), beside.err);
  CHECK(holds(beside.err, "'ttft.p9'"));
  CHECK(run_program({"optimize", plan, "-o", scratch.path("t"), "-q", "--min", "ttft.p99,tpot.mean", "--evaluations",
                     "2", "--include-invalid"})
            .code == 0);
}

TEST_CASE("lint takes the space of an optimisation, and says where that only 'optimize' does") {
  const Scratch scratch;
  const std::string plan = scratch.file(
      "space.yaml",
      "schema: sweep/1\nbase: {schema: scenario/1, model: llama-3.2-1b, hardware: {devices: [{preset: h100-sxm}]}, "
      "workload: {preset: chat-1k, requests: 20}}\naxes:\n  hardware.devices[0].count: [1, 2]\n"
      "  workload.arrivals.rate: {between: [1 /s, 64 /s], log: true}\n");
  const Ran ran = run_program({"lint", plan});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(holds(ran.out, "space.yaml: a sweep without mistakes"));
  CHECK(holds(ran.err, "space.yaml:5:3: warning: 'workload.arrivals.rate' takes any value between two ends"));
  const Ran swept = run_program({"sweep", plan, "-o", scratch.path("s")});
  CHECK(swept.code == 2);
  CHECK(holds(swept.err, "space.yaml:5:3: error: 'workload.arrivals.rate'"));
}

TEST_CASE("mistakes in an optimisation are reported together, and nothing runs") {
  const Scratch scratch;
  const Ran ran = run_program({"optimize", space(scratch), "-o", scratch.path("m"), "--max", "output_tokens_per_jule",
                               "--min", "ttft.p99", "--slo", "ttft.p99"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "did you mean 'output_tokens_per_joule'?"));
  CHECK(holds(ran.err, "'ttft.p99' is no limit"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("m")));
}

TEST_CASE("a broken axis, or a first value that cannot run, hides no other mistake") {
  const Scratch scratch;
  scratch.file("scenario.yaml", small_scenario());
  const auto said = [&](const std::string& axes, const std::vector<std::string>& more) {
    const std::string plan =
        scratch.file("plan.yaml", "schema: sweep/1\nbase: scenario.yaml\naxes:\n" + axes +
                                      "objectives: {maximize: [output_tokens_per_joule], minimize: [ttft.p99]}\n");
    std::vector<std::string> arguments = {"optimize", plan, "-o", scratch.path("m")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run_program(arguments);
    CHECK(ran.code == 2);
    return ran.err;
  };
  const std::vector<std::string> typed = {"--max", "output_tokens_per_jule,max_num_seqs", "--slo",
                                          "ttft.p99, count<=2"};
  const std::string broken =
      said("  serving.batcher.max_num_seqs: {range: [1, 9]}\n  hardware.devices[0].count: [1, 2]\n", typed);
  CHECK(holds(broken, "'step' is missing"));
  CHECK(holds(broken, "did you mean 'output_tokens_per_joule'?"));
  CHECK(holds(broken, "'ttft.p99' is no limit"));
  CHECK(holds(broken, "3 errors."));
  const std::string of_values =
      said("  hardware.devices[0].count: [-1, 1]\n  model: [qwen2.5-1.5b, qwen2.5-15b]\n", typed);
  CHECK(holds(of_values, "'count'"));
  CHECK(holds(of_values, "did you mean 'output_tokens_per_joule'?"));
  // Three devices are not shared evenly, which is looked at where all keys can be read.
  for (const char* seqs : {"[0, 8]", "[8, 0]"}) {
    const std::string hidden = said(std::string("  serving.batcher.max_num_seqs: ") + seqs +
                                        "\n  serving.tensor_parallel: [1, 3]\n  hardware.devices[0].count: [3]\n",
                                    {});
    CHECK(holds(hidden, "'max_num_seqs' must be at least 1"));
    CHECK_MESSAGE(holds(hidden, "tensor parallelism 3 is no multiple of the 2 KV heads"), hidden);
  }
  // Nor does one that is excluded, which is no configuration that runs.
  const std::string excluded = said(
      "  serving.batcher.max_num_seqs: [0, 8]\n  serving.tensor_parallel: [1, 3]\n  hardware.devices[0].count: [3]\n"
      "exclude: [max_num_seqs == 0 and tensor_parallel == 1]\n",
      {});
  CHECK_MESSAGE(holds(excluded, "tensor parallelism 3 is no multiple of the 2 KV heads"), excluded);
}

TEST_CASE("a mistake in a file that a plan includes is told with one note, and whole numbers are asked for") {
  const Scratch scratch;
  scratch.file("device.yaml", "schema: device/1\nname: d\npreset: h100-sxm\nnonsense: 3\n");
  const auto said = [&](const std::string& device, const std::string& axes) {
    const std::string plan = scratch.file("plan.yaml",
                                          "schema: sweep/1\nbase: {schema: scenario/1, model: llama-3.2-1b, hardware: "
                                          "{devices: [{preset: " +
                                              device + "}]}, workload: {preset: chat-1k, requests: 20}}\naxes:\n" +
                                              axes + "objectives: {minimize: [ttft.p99, tpot.p99]}\n");
    const Ran ran = run_program({"optimize", plan, "-o", scratch.path("m")});
    CHECK(ran.code == 2);
    return ran.err;
  };
  const std::string included = said("./device.yaml", "  workload.arrivals.rate: [1 /s, 2 /s]\n");
  const std::size_t first = included.find("note: included from ");
  REQUIRE_MESSAGE(first != included.npos, included);
  CHECK_MESSAGE(included.find("note: included from ", first + 1) == included.npos, included);
  const std::string broken = said("h100-sxm", "  serving.batcher.max_num_seqs: {between: [8, 64]}\n");
  CHECK_MESSAGE(holds(broken, "plan.yaml:4:3: error: 'serving.batcher.max_num_seqs' takes whole numbers"), broken);
  CHECK(holds(broken, "add whole: true"));
}

}  // namespace llmscape::test::optimize_test
