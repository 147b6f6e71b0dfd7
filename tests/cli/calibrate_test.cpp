// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A table of AIConfigurator: products whose weights are read at 2 TB/s behind 5 us.
std::string products() {
  std::string csv = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
  for (int m : {1, 8, 48, 160, 700})
    for (int n : {512, 1536, 3072, 6144})
      for (int k : {1024, 2048, 5120})
        csv += fmt::format("VLLM,1.0,a test device,gemm,default,bfloat16,{},{},{},{}\n", m, n, k,
                           5e-3 + 2.0 * (m * k + n * k + m * n) / 2e12 * 1e3);
  return csv;
}

TEST_CASE("a calibrated device passes lint, can be shown and runs in a scenario that names its file") {
  const Scratch scratch;
  const std::string table = scratch.file("gemm.csv", products()), device = scratch.path("my-gpu.yaml");
  const Ran ran =
      run_program({"calibrate", table, "--base", "h100-sxm", "-o", device, "--report", scratch.path("r.json")});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(holds(ran.out, "Errors on shapes that the fit had not seen:"));
  CHECK(holds(ran.out, "bf16, 60 rows of 12 shapes"));
  CHECK(holds(ran.out, "memory_efficiency"));
  CHECK(run_program({"lint", device}).code == 0);
  CHECK(holds(run_program({"show", device}).out, "VLLM 1.0 on a test device, gemm.csv: bf16, 60 rows"));

  const auto report = nlohmann::json::parse(scratch.content("r.json"));
  CHECK(report["schema"] == "calibration/1");
  CHECK(report["families"][0]["held_out"]["rows"] == 60);

  const std::string scenario = scratch.file("scenario.yaml",
                                            "schema: scenario/1\nmodel: llama-3.1-8b\n"
                                            "hardware: {devices: [{preset: my-gpu.yaml}]}\n"
                                            "workload: {preset: chat-1k, requests: 20}\nseed: 1\n");
  const Ran run = run_program({"run", scenario, "-q"});
  CHECK_MESSAGE(run.code == 0, run.err);
  CHECK(holds(run.out, "my-gpu"));
}

TEST_CASE("rows of a format that nobody knows are told, and change nothing") {
  const Scratch scratch;
  std::string csv = products();
  for (int n : {512, 1536}) csv += fmt::format("VLLM,1.0,a test device,gemm,default,fp6_e3m2,8,{},1024,1.0\n", n);
  const auto fitted = [&](const char* name, const std::string& table) {
    const Ran ran =
        run_program({"calibrate", scratch.file("gemm.csv", table), "--base", "h100-sxm", "-o", scratch.path(name)});
    REQUIRE(ran.code == 0);
    return ran.err;
  };
  CHECK_FALSE(holds(fitted("a.yaml", products()), "no number format"));
  CHECK(
      holds(fitted("b.yaml", csv), "2 rows of GEMMs and experts are left out: no number format is called 'fp6_e3m2'"));
  const auto numbers = [&](const char* name) {
    const std::string text = scratch.content(name);
    return text.substr(text.find("gemm:"));
  };
  CHECK(numbers("a.yaml") == numbers("b.yaml"));
}

TEST_CASE("the same tables give the same file") {
  const Scratch scratch;
  const std::string table = scratch.file("gemm.csv", products());
  for (const char* folder : {"a", "b"})
    REQUIRE(run_program({"calibrate", table, "--base", "h100-sxm", "-o", scratch.path(folder) + "/gpu.yaml"}).code ==
            0);
  CHECK(scratch.content("a/gpu.yaml") == scratch.content("b/gpu.yaml"));
}

TEST_CASE("all mistakes of a call are named, and nothing is written") {
  const Scratch scratch;
  std::string csv = products();
  csv += "VLLM,1.0,a test device,gemm,default,bfloat16,1,two,3,0.01\n";
  const std::string table = scratch.file("gemm.csv", csv), device = scratch.path("my-gpu.yaml");
  const Ran ran = run_program({"calibrate", table, "--base", "h100", "-o", device});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "gemm.csv:62:"));
  CHECK(holds(ran.err, "no device 'h100' in the catalogue"));
  CHECK_FALSE(std::filesystem::exists(device));
  CHECK(run_program({"calibrate", table, "--base", "h100-sxm", "-o", device, "--family", "gem"}).code == 2);
  const Ran none = run_program({"calibrate", scratch.file("good.csv", products()), "--base", "h100-sxm", "-o", device,
                                "--family", "decode_attention"});
  CHECK(none.code == 2);
  CHECK(holds(none.err, "nothing to fit"));
}

TEST_CASE("a CPU is calibrated family by family, and what does not apply to it is an error") {
  const Scratch scratch;
  const std::string record = "traces/measured/epyc-zen4-vm-2026-11-21.json", device = scratch.path("my-cpu.yaml");
  const auto calibrated = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"calibrate", record, "--base", "cpu-epyc-vm", "-o", device});
    return run_program(more);
  };
  const Ran one = calibrated({"--family", "decode_attention", "--rows", "20"});
  REQUIRE_MESSAGE(one.code == 0, one.err);
  CHECK(holds(one.out, "fp32, 20 rows"));
  CHECK(holds(scratch.content("my-cpu.yaml"), "epyc-zen4-vm-2026-11-21.json on "));
  CHECK_FALSE(holds(one.out, "gemm"));
  const Ran wrong = calibrated({"--family", "energy", "--hold", "active"});
  CHECK(wrong.code == 2);
  CHECK(
      holds(wrong.err, "a CPU has no family 'energy': it has gemm, prefill_attention, decode_attention, elementwise"));
  CHECK(holds(wrong.err, "--hold is of the energy"));
}

}  // namespace
}  // namespace llmscape::test
