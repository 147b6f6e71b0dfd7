// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/unfitted_rows.hpp"

#include "hardware/calibration/cpu_fit.hpp"

#include <doctest/doctest.h>

namespace llmscape::hardware {
namespace {

std::string told(const traces::KernelTables& tables, bool cpu, const std::vector<std::string>& wanted,
                 const std::vector<std::string>& fitted) {
  std::vector<FamilyReport> reports;
  for (const std::string& family : fitted) reports.emplace_back().family = family;
  Diagnostics diagnostics;
  warn_of_unfitted_rows(tables, cpu, wanted, reports, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  return diagnostics.text(false);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Products in bf16 and these many decodes.
traces::KernelTables with_decodes(int rows, const std::string& format, const std::string& kv,
                                  std::int64_t head_dim = 128) {
  traces::KernelTables tables;
  for (std::int64_t i = 1; i <= 30; ++i) tables.gemm.push_back({{i, 1024, 1024, "bf16"}, Seconds(1e-5)});
  for (std::int64_t i = 1; i <= rows; ++i)
    tables.decode_attention.push_back({{i, 1000, 32, 8, head_dim, format, kv}, Seconds(1e-5)});
  return tables;
}

}  // namespace

TEST_CASE("rows that no form of a GPU is fitted to are told with their number and the reason") {
  const auto of = [](const traces::KernelTables& tables) { return told(tables, false, {}, {"gemm"}); };
  CHECK(holds(of(with_decodes(25, "fp16", "fp16")),
              "decode_attention: 25 rows are left out: KV in 'fp16', where 'bf16' and 'fp8' are fitted"));
  CHECK(holds(of(with_decodes(25, "bf16", "float7")), "decode_attention: 25 rows are left out: KV in 'float7'"));
  CHECK(
      holds(of(with_decodes(25, "bf16", "bf16", 512)), "decode_attention: 25 rows are left out: heads wider than 256"));
  CHECK(
      holds(of(with_decodes(25, "bf16", "bf16", 256)), "decode_attention: 25 rows were read, and nothing was fitted"));
  traces::KernelTables wide = with_decodes(25, "bf16", "bf16", 256);
  CHECK(holds(of(wide),
              "decode_attention: 25 rows with KV in 'bf16' are left out: heads wider than 128 are learned from "
              "20 rows and more, beside 250 of others"));
  const auto beside = with_decodes(250, "bf16", "bf16").decode_attention;
  wide.decode_attention.insert(wide.decode_attention.end(), beside.begin(), beside.end());
  CHECK(told(wide, false, {}, {"gemm", "decode_attention"}).empty());
  wide.decode_attention.push_back(beside.front());
  wide.decode_attention.back().window = 128;  // of a context of 1,000
  CHECK(holds(told(wide, false, {}, {"gemm", "decode_attention"}),
              "decode_attention: 1 rows with KV in 'bf16' that a window cuts are left out: a fit needs 20"));
  CHECK(holds(of(with_decodes(19, "bf16", "fp8")),
              "decode_attention: 19 rows with KV in 'fp8' are left out: a fit needs 20"));
  CHECK(told(with_decodes(20, "bf16", "fp8"), false, {}, {"gemm", "decode_attention"}).empty());

  traces::KernelTables others = with_decodes(0, "", "");
  for (std::int64_t i = 1; i <= 12; ++i) {
    others.collective.push_back({{"allreduce", i, 2, "nccl", 2}, Seconds(1e-5)});
    others.elementwise.push_back({{"rotary", i, 1024, "bf16"}, Seconds(1e-5)});
    others.elementwise.push_back({{"softmax", i, 1024, "bf16"}, Seconds(1e-5)});  // timed for its own sake
  }
  CHECK(holds(of(others), "collectives: 12 rows are left out: no collective is called 'allreduce'"));
  CHECK(holds(of(others), "elementwise: 12 rows are left out: no kernel is called 'rotary'"));
  CHECK(told(others, false, {"gemm"}, {"gemm"}).empty());  // nobody asked for them

  traces::KernelTables few = with_decodes(0, "", "");
  for (std::int64_t i = 1; i <= 9; ++i) {
    few.elementwise.push_back({{"sampling", i, 1024, "fp32"}, Seconds(1e-5)});
    few.elementwise.push_back({{"quantise", i, 1024, "bf16"}, Seconds(1e-5)});
    few.collective.push_back({{"all_reduce", i, 4, "nccl", 4}, Seconds(1e-5)});
    few.collective.push_back({{"all_reduce", 8'388'608 + i, 2, "vllm_graph", 2}, Seconds(1e-5)});
  }
  CHECK(holds(of(few), "elementwise: 9 rows of 'sampling' are left out: a fit needs 10"));
  CHECK(holds(of(few), "elementwise: 9 rows are left out: quantised to 'bf16', which is not narrow"));
  CHECK(holds(of(few), "collectives: 9 rows of 'all_reduce' by 'nccl' over 4 ranks are left out: a fit needs 10"));
  CHECK(holds(of(few), "collectives: 9 rows are left out: tensors that 'vllm_graph' leaves to another kernel"));
}

TEST_CASE("families that were asked for by name and have no fit are told") {
  const std::string text =
      told(with_decodes(30, "bf16", "bf16", 256), false, {"gemm", "decode_attention", "latent_attention"}, {"gemm"});
  CHECK(holds(text, "decode_attention: 30 rows were read, and nothing was fitted"));
  CHECK(holds(text, "latent_attention: no rows were read, and nothing was fitted"));
  CHECK_FALSE(holds(text, "gemm: "));
}

TEST_CASE("a CPU's attention over KV in other formats than fp32 is left out, and told") {
  traces::KernelTables tables;
  for (std::int64_t i = 1; i <= 40; ++i)
    tables.decode_attention.push_back({{i, 1000, 32, 8, 64, "fp32", i % 2 == 0 ? "int8" : "fp32"}, Seconds(1e-5)});
  const CpuCalibration fit = fit_cpu(tables);
  REQUIRE(fit.reports.size() == 1);
  CHECK(fit.reports[0].data.starts_with("fp32, 20 rows"));
  CHECK(holds(told(tables, true, {}, {"decode_attention"}),
              "decode_attention: 20 rows are left out: KV in 'int8', where a CPU's are fitted in 'fp32'"));
  tables.elementwise.push_back({{"norm", 1, 64, "fp32"}, Seconds(1e-5)});
  CHECK(holds(told(tables, true, {}, {"decode_attention"}), "(a CPU wants rows of each kind)"));
}

}  // namespace llmscape::hardware
