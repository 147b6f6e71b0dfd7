// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/traces/trace_folder.hpp"
#include "traces/aiconfigurator_csv.hpp"

#include <doctest/doctest.h>

namespace llmscape::traces {
namespace {

const std::string kGemmHeader = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
const std::string kAttentionHeader =
    "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,beam_width,"
    "attn_dtype,kv_cache_dtype,step,window_size,latency\n";

TEST_CASE("rows of a compressed product table are read in seconds, sorted, and repeated cases averaged") {
  const TraceFolder folder;
  const std::string path = folder.write("gemm.csv.gz", kGemmHeader +
                                                           "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n"
                                                           "VLLM,1,X,gemm,a,bfloat16,1,4096,512,0.0155\n"
                                                           "VLLM,1,X,gemm,b,bfloat16,1,4096,512,0.0145\n");
  Diagnostics diagnostics;
  const auto records = read_aiconfigurator_gemm(path, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  REQUIRE(records.size() == 2);
  CHECK(records[0] == GemmCase{1, 4096, 512, "bf16"});
  CHECK(records[0].time.si() == doctest::Approx(15e-6));
  CHECK(records[1] == GemmCase{64, 512, 1024, "fp8"});
  CHECK(records[1].time.si() == doctest::Approx(2e-3));
}

TEST_CASE("attention rows with a sliding window are passed over, and a decode counts its own token") {
  const TraceFolder folder;
  const std::string rows =
      "VLLM,1,X,generation_attention,a,32,1,64,8,128,1,bfloat16,fp8,1023,0,0.02\n"
      "VLLM,1,X,generation_attention,a,32,1,64,8,128,1,bfloat16,fp8,1023,128,0.01\n";
  Diagnostics diagnostics;
  const auto decodes =
      read_aiconfigurator_generation_attention(folder.write("decode.csv", kAttentionHeader + rows), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  REQUIRE(decodes.size() == 1);
  CHECK(decodes[0] == DecodeAttentionCase{32, 1024, 64, 8, 128, "bf16", "fp8"});
  CHECK(decodes[0].time.si() == doctest::Approx(20e-6));
}

TEST_CASE("prefill tables may lack the window; repeated rows are averaged") {
  const TraceFolder folder;
  std::string header = kAttentionHeader;
  header.erase(header.find("window_size,"), 12);
  const std::string rows =
      "VLLM,1,X,context_attention,a,4,512,64,8,128,1,bfloat16,bfloat16,0,0.2\n"
      "VLLM,1,X,context_attention,a,4,512,64,8,128,1,bfloat16,bfloat16,0,0.4\n";
  Diagnostics diagnostics;
  const auto prefills = read_aiconfigurator_context_attention(folder.write("p.csv", header + rows), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  REQUIRE(prefills.size() == 1);
  CHECK(prefills[0] == PrefillAttentionCase{4, 512, 0, 64, 8, 128, "bf16", "bf16"});
  CHECK(prefills[0].time.si() == doctest::Approx(300e-6));
}

TEST_CASE("every broken row is reported where it breaks, and the good ones stay") {
  const TraceFolder folder;
  const std::string path = folder.write("gemm.csv", kGemmHeader +
                                                        "VLLM,1,X,gemm,a,fp8,0,512,1024,2\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024,nan\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024\n"
                                                        "VLLM,1,X,moe,a,fp8,64,512,1024,2\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n");
  Diagnostics diagnostics;
  const auto records = read_aiconfigurator_gemm(path, diagnostics);
  CHECK(records.size() == 1);
  const auto mistakes = diagnostics.sorted();
  REQUIRE(mistakes.size() == 4);
  const struct {
    int line, column;
    std::string message;
  } expected[] = {{2, 21, "'m' must be a whole number from 1 to 2147483647; got '0'"},
                  {3, 33, "'latency' must be a number above 0; got 'nan'"},
                  {4, 1, "9 columns where the header has 10"},
                  {5, 10, "'op_name' must be 'gemm'; got 'moe'"}};
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    CHECK(mistakes[i].where.line == expected[i].line);
    CHECK(mistakes[i].where.column == expected[i].column);
    CHECK(mistakes[i].message == expected[i].message);
  }
}

// The only mistake that a product table of this content has.
std::string mistake(const std::string& content) {
  const TraceFolder folder;
  Diagnostics diagnostics;
  CHECK(read_aiconfigurator_gemm(folder.write("gemm.csv", content), diagnostics).empty());
  const auto all = diagnostics.sorted();
  REQUIRE(all.size() == 1);
  return all[0].message + (all[0].suggestion.empty() ? "" : "; " + all[0].suggestion);
}

TEST_CASE("a table without rows, or with the wrong columns, is refused") {
  CHECK(mistake("") == "the table is empty");
  CHECK(mistake(kGemmHeader) == "the table has no rows");
  CHECK(mistake("speed," + kGemmHeader) == "unknown column 'speed'");
  CHECK(mistake("k," + kGemmHeader) == "column 'k' stands twice");
  CHECK(mistake("framework,version,device,op_name,kernel_source,gemm_dtype,m,n,latency\n") == "column 'k' is missing");
}

}  // namespace
}  // namespace llmscape::traces
