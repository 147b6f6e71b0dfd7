// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/calibrate.hpp"
#include "base/catalog.hpp"
#include "base/random.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/gpu/gpu.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

YamlNode base(const char* name = "l40s") {
  Diagnostics diagnostics;
  auto tree = catalog_entry("hardware/catalog", "device", name, {}, diagnostics);
  REQUIRE_MESSAGE(tree, diagnostics.text(false));
  return *tree;
}

std::shared_ptr<const Gpu> gpu_of(const YamlNode& tree) {
  Diagnostics diagnostics;
  auto gpu = std::dynamic_pointer_cast<const Gpu>(devices().read(tree, diagnostics));
  REQUIRE_MESSAGE(gpu, diagnostics.text(false));
  return gpu;
}

// Products of an L40S that reaches 0.7 of its peak and 0.9 of its bandwidth, with 2 % noise.
traces::KernelTables products() {
  GemmParameters truth = gpu_of(base())->gemm;
  truth.correction.reset();
  truth.compute_efficiency = 0.7;
  truth.memory_efficiency = 0.9;
  truth.launch = Seconds(3e-6);
  traces::KernelTables tables;
  tables.device = "a test device";
  tables.software = "a test";
  RandomStream draws(1);
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto side = [&](double low, double high) {
      return std::llround(low * std::pow(high / low, draws.uniform()));
    };
    tables.gemm.push_back({{side(1, 8192), 64 * side(8, 256), 64 * side(8, 256), "bf16"}, Seconds()});
  }
  const auto times = predict(*gpu_of(base()), {}, truth, tables.gemm);
  for (std::size_t i = 0; i < times.size(); ++i)
    tables.gemm[i].time = Seconds(times[i] * std::exp(0.02 * draws.normal()));
  return tables;
}

TEST_CASE("families with rows are fitted, the others keep what the base says") {
  Diagnostics diagnostics;
  const auto calibration = calibrate(products(), base(), {{}, 1500, "records.csv"}, diagnostics);
  REQUIRE_MESSAGE(calibration, diagnostics.text(false));
  REQUIRE(calibration->reports.size() == 1);
  CHECK(calibration->reports[0].family == "gemm");
  const auto before = gpu_of(base()), after = gpu_of(calibration->device);
  CHECK(after->gemm.compute_efficiency == approx(0.7).epsilon(0.03));
  CHECK(after->gemm.memory_efficiency == approx(0.9).epsilon(0.03));
  CHECK(after->gemm.launch.si() == approx(3e-6).epsilon(0.1));
  CHECK(after->gemm.tag == Tag::fitted);
  CHECK(after->gemm.source.starts_with("a test on a test device, records.csv: bf16, 200 rows"));
  CHECK(after->gemm.source.find("unseen shapes MAPE ") != std::string::npos);
  CHECK(calibration->reports[0].held_out.mean < 0.022);  // 1.6 % are the noise alone
  CHECK(after->gemm.residuals.small.size() == 11);
  CHECK(after->decode_attention.source == before->decode_attention.source);
  CHECK(after->hbm_bandwidth.value == before->hbm_bandwidth.value);
}

TEST_CASE("tables of another engine than the base's make a set of that engine, and leave the base's kernels alone") {
  traces::KernelTables tables = products();
  for (auto& row : tables.gemm) row.engine = "sglang", row.time = 5 * row.time;
  Diagnostics diagnostics;
  const auto calibration = calibrate(tables, base("h200"), {{}, 1500, "records.csv"}, diagnostics);
  REQUIRE_MESSAGE(calibration, diagnostics.text(false));
  const auto before = gpu_of(base("h200")), after = gpu_of(calibration->device);
  CHECK(after->engine == "vllm");
  CHECK(after->gemm.source == before->gemm.source);
  CHECK(after->kernel_sets.at("sglang").gemm->source.find("records.csv") != std::string::npos);
  CHECK(after->kernel_sets.at("sglang").prefill_attention->source ==
        before->kernel_sets.at("sglang").prefill_attention->source);
}

// A library's messages of 4 ranks: 20 us + x / 200 GB/s, x = 1.5 times the tensor.
TEST_CASE(
    "a library's messages do not take the place of those that an engine sends itself, nor these of the library's") {
  const auto own = [](const Gpu& gpu, bool below) {
    std::vector<double> latencies;
    for (const CollectiveFit& fit : gpu.links.collectives)
      if (fit.kind == models::Collective::Kind::all_reduce && fit.below.has_value() == below)
        latencies.push_back(fit.latency.si());
    return latencies;
  };
  const auto fitted = [](const char* implementation, const char* engine) {
    traces::KernelTables tables;
    tables.device = "a test device";
    for (int power = 9; power <= 28; ++power)
      tables.collective.push_back({{"all_reduce", std::int64_t{1} << power, 4, implementation, 4},
                                   Seconds(20e-6 + 1.5 * std::pow(2, power) / 200e9),
                                   engine});
    Diagnostics diagnostics;
    const auto calibration = calibrate(tables, base("h200"), {{}, 1500, "records.csv"}, diagnostics);
    REQUIRE_MESSAGE(calibration, diagnostics.text(false));
    return *gpu_of(calibration->device);
  };
  const auto before = *gpu_of(base("h200")), nccl = fitted("nccl", ""), graph = fitted("vllm_graph", "vllm");
  REQUIRE(own(before, true).size() == 3);  // 2, 4 and 8 ranks
  CHECK(own(nccl, true) == own(before, true));
  const auto of_20_us = [](double seconds) { return std::abs(seconds / 20e-6 - 1) < 0.05; };  // the catalogue: 4 to 16
  CHECK(std::ranges::count_if(own(nccl, false), of_20_us) == 1);
  CHECK(own(nccl, false).size() == own(before, false).size());
  CHECK(own(graph, false) == own(before, false));
  CHECK(std::ranges::count_if(own(graph, true), of_20_us) == 1);
}

TEST_CASE("kinds of element-wise kernels without rows keep their source, and what is known of errors") {
  traces::KernelTables tables;
  tables.device = "a test device";
  tables.software = "a test";
  for (std::int64_t rows = 1; rows <= 512; rows *= 2)  // ten, too few to tell how errors lie
    tables.elementwise.push_back({{"norm", rows, 4096, "bf16"}, Seconds(3e-6 + 1e-8 * static_cast<double>(rows))});
  Diagnostics diagnostics;
  const auto calibration = calibrate(tables, base(), {{}, 1500, "records.csv"}, diagnostics);
  REQUIRE_MESSAGE(calibration, diagnostics.text(false));
  const auto before = gpu_of(base())->elementwise, after = gpu_of(calibration->device)->elementwise;
  CHECK(after.norm.launch.si() == approx(3e-6).epsilon(0.03));
  CHECK(after.sampling.launch.si() == before.sampling.launch.si());
  CHECK(after.source.starts_with("a test on a test device, records.csv: norm; 10 rows"));
  CHECK(after.source.ends_with("; other kinds: " + before.source));
  CHECK(after.residuals.small == before.residuals.small);
}

TEST_CASE("the same tables give the same device, byte for byte") {
  Diagnostics diagnostics;
  const CalibrationRequest request{{}, 100, "records.csv"};
  const auto one = calibrate(products(), base(), request, diagnostics);
  const auto other = calibrate(products(), base(), request, diagnostics);
  REQUIRE((one && other));
  CHECK(write_yaml(one->device) == write_yaml(other->device));
  CHECK(one->reports[0].data.find("100 rows") != std::string::npos);
}

TEST_CASE("tables that serve no wanted family are a mistake") {
  Diagnostics diagnostics;
  CHECK_FALSE(calibrate(products(), base(), {{"decode_attention"}, 1500, "records.csv"}, diagnostics));
  CHECK(diagnostics.text(false).find("nothing to fit: no family has 20 rows") != std::string::npos);
}

// Layers of five models, of each as many whose rows fall evenly on experts as by a power law; these take
// `skewed` times what the form says.
traces::KernelTables expert_layers(double skewed) {
  GemmParameters truth = gpu_of(base())->gemm;
  truth.correction.reset();
  const std::int64_t models[][4] = {
      {2048, 768, 128, 8}, {4096, 14336, 8, 2}, {4096, 1536, 128, 8}, {7168, 2048, 256, 8}, {6144, 2560, 160, 8}};
  traces::KernelTables tables;
  tables.device = "a test device";
  tables.software = "a test";
  for (const char* routing : {"balanced", "power_law_1.01"})
    for (const auto& m : models)
      for (std::int64_t tokens = 1; tokens <= 8192; tokens *= 2)
        tables.expert_layer.push_back({{tokens, m[0], m[1], m[2], m[3], 1, 1, 0, routing, "bf16"}, Seconds()});
  const auto times = predict(*gpu_of(base()), gpu_of(base())->elementwise, truth, tables.expert_layer);
  for (std::size_t i = 0; i < times.size(); ++i)
    tables.expert_layer[i].time = Seconds(times[i] * (tables.expert_layer[i].routing == "balanced" ? 1 : skewed));
  return tables;
}

TEST_CASE("rows that a power law deals out to experts count, unless even ones are met worse for it") {
  const auto data = [](double skewed) {
    Diagnostics diagnostics;
    const auto calibration =
        calibrate(expert_layers(skewed), base(), {{"expert_gemm"}, 1500, "records.csv"}, diagnostics);
    REQUIRE_MESSAGE(calibration, diagnostics.text(false));
    REQUIRE(calibration->reports.size() == 1);
    return calibration->reports[0].data;
  };
  CHECK(data(1).find("140 rows") != std::string::npos);
  CHECK(data(1.5).find("70 rows") != std::string::npos);
}

TEST_CASE("a reading at rest is the power of the idle device, unless it is held or no board draws so much") {
  traces::KernelTables tables = products();
  const auto idle = [&](std::vector<double> readings, CalibrationRequest request = {{}, 1500, "bench.json"}) {
    tables.rest.clear();
    for (const double watts : readings) tables.rest.emplace_back(watts);
    Diagnostics diagnostics;
    const auto calibration = calibrate(tables, base(), request, diagnostics);
    REQUIRE_MESSAGE(calibration, diagnostics.text(false));
    return std::pair(gpu_of(calibration->device)->idle, diagnostics.text(false));
  };
  const Sourced<Watts> before = gpu_of(base())->idle;
  CHECK(idle({}).first.value == before.value);
  const Sourced<Watts> read = idle({60, 64}).first;
  CHECK(read.value.si() == approx(62));
  CHECK(read.tag == Tag::measured);
  CHECK(read.source == "at rest with a context and buffers on a test device: bench.json");
  CHECK(idle({60}, {{}, 1500, "bench.json", {}, {"idle"}}).first.value == before.value);
  CHECK(idle({60}, {{"gemm"}, 1500, "bench.json"}).first.value == before.value);
  const auto [kept, told] = idle({900});  // the base's limit is 350 W
  CHECK(kept.value == before.value);
  CHECK(told.find("the power at rest (900 W) is left out: the base draws 350 W at most") != std::string::npos);
}

TEST_CASE("the families of a CPU are fitted one by one, those of fewer than 20 rows not at all") {
  Diagnostics diagnostics;
  const auto cpu = catalog_entry("hardware/catalog", "device", "cpu-epyc-vm", {}, diagnostics);
  REQUIRE_MESSAGE(cpu, diagnostics.text(false));
  traces::KernelTables tables;
  for (std::int64_t m : {1, 4, 16, 64, 256})
    for (std::int64_t n : {256, 512, 1024, 2048})
      tables.gemm.push_back({{m, n, 1024, "fp32"}, Seconds(1e-6 + 2e-11 * static_cast<double>(m * n * 1024))});
  const auto fitted = [&](const CalibrationRequest& request) { return calibrate(tables, *cpu, request, diagnostics); };
  const auto products = fitted({{}, 1500, "a table"});
  REQUIRE_MESSAGE(products, diagnostics.text(false));
  REQUIRE(products->reports.size() == 1);
  CHECK(products->reports.front().family == "gemm");
  CHECK(write_yaml(*products->device.find("decode_attention")) == write_yaml(*cpu->find("decode_attention")));
  CHECK(write_yaml(*products->device.find("gemm")) != write_yaml(*cpu->find("gemm")));
  CHECK_FALSE(fitted({{"decode_attention"}, 1500, "a table"}));
  tables.gemm.pop_back();
  CHECK_FALSE(fitted({{}, 1500, "a table"}));
  CHECK(diagnostics.text(false).find("no family has 20 rows") != std::string::npos);
}

TEST_CASE("records of another kind of device, of other threads or in another unit are refused, not fitted") {
  const auto said = [](const traces::KernelTables& tables, const YamlNode& device) {
    Diagnostics diagnostics;
    CHECK_FALSE(calibrate(tables, device, {{}, 1500, "records.csv"}, diagnostics));
    return diagnostics.text(false);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  traces::KernelTables tables = products();
  tables.backend = "cpu";
  has(said(tables, base()), "the base is no device of these records: their backend is 'cpu'");

  tables.backend = "cuda";
  for (auto& row : tables.gemm) row.time = 1000 * row.time;  // milliseconds that were taken for seconds
  has(said(tables, base()), "gemm: the fit is off by ");

  Diagnostics diagnostics;
  auto cpu = catalog_entry("hardware/catalog", "device", "cpu-epyc-vm", {}, diagnostics);
  REQUIRE_MESSAGE(cpu, diagnostics.text(false));
  traces::KernelTables of_cpu;
  of_cpu.backend = "cpu";
  of_cpu.threads = "1";
  for (std::int64_t m : {1, 4, 16, 64, 256})
    for (std::int64_t n : {256, 512, 1024, 2048})
      of_cpu.gemm.push_back({{m, n, 1024, "fp32"}, Seconds(1e-6 + 2e-11 * static_cast<double>(m * n * 1024))});
  CHECK(calibrate(of_cpu, *cpu, {{}, 1500, "records.csv"}, diagnostics));
  cpu->set("threads", YamlNode::scalar("16"));
  has(said(of_cpu, *cpu), "the records are of 1 thread, and the base has 16");
}

}  // namespace
}  // namespace llmscape::hardware
