// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/unit/traces/trace_folder.hpp"
#include "traces/microbench_record.hpp"

using llmscape::testing::approx;

namespace llmscape::traces::kernel_tables_test {
namespace {

const std::string kGemmHeader = "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
const std::string kAttentionHeader =
    "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,beam_width,"
    "attn_dtype,kv_cache_dtype,step,window_size,latency\n";

KernelTables read(const std::vector<std::string>& paths) {
  Diagnostics diagnostics;
  const auto tables = read_kernel_tables(paths, diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  return *tables;
}

// The only mistake of a file of this content.
std::string mistake(const std::string& content) {
  const TraceFolder folder;
  Diagnostics diagnostics;
  CHECK_FALSE(read_kernel_tables({folder.write("table.csv", content)}, diagnostics));
  const auto all = diagnostics.sorted();
  REQUIRE(all.size() == 1);
  return all[0].message + (all[0].suggestion.empty() ? "" : "; " + all[0].suggestion);
}

TEST_CASE("rows of a compressed product table are read in seconds, sorted, and repeated cases averaged") {
  const TraceFolder folder;
  const auto tables = read({folder.write("gemm.csv.gz", kGemmHeader + "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n"
                                                                      "VLLM,1,X,gemm,a,bfloat16,1,4096,512,0.0155\n"
                                                                      "VLLM,1,X,gemm,b,bfloat16,1,4096,512,0.0145\n")});
  REQUIRE(tables.gemm.size() == 2);
  CHECK(tables.gemm[0] == GemmCase{1, 4096, 512, "bf16"});
  CHECK(tables.gemm[0].time.si() == approx(15e-6));
  CHECK(tables.gemm[1] == GemmCase{64, 512, 1024, "fp8"});
  CHECK(tables.gemm[1].time.si() == approx(2e-3));
  CHECK(tables.device == "X");
  CHECK(tables.software == "VLLM 1");
  CHECK_FALSE(tables.warm_attention);
}

TEST_CASE("repeats of a case count by their mean wherever they stand, and are told where they are unlike") {
  const TraceFolder folder;
  const auto table = [&](const char* name, std::initializer_list<double> milliseconds) {
    std::string text = kGemmHeader;
    for (const double time : milliseconds) text += "VLLM,1,X,gemm,a,fp8,64,512,1024," + std::to_string(time) + '\n';
    return folder.write(name, text);
  };
  const auto both = [](const std::vector<std::string>& paths) {
    Diagnostics diagnostics;
    const auto tables = read_kernel_tables(paths, diagnostics);
    REQUIRE(tables);
    CHECK(tables->gemm.size() == 1);
    CHECK(tables->gemm[0].time.si() == approx(2e-3));
    return diagnostics.text(false);
  };
  const std::string told =
      "gemm: repeats that are more than a tenth apart count by their mean (cases: 1; most in "
      "gemm/m:64/n:512/k:1024/format:fp8, 1000 to 3000 us)";
  CHECK(both({table("one.csv", {1, 3})}).find(told) != std::string::npos);
  CHECK(both({table("a.csv", {3}), table("b.csv", {1})}).find(told) != std::string::npos);
  CHECK(both({table("alike.csv", {1.95, 2.05})}).empty());
}

TEST_CASE("rows with watts are readings of power and no times, and need both numbers") {
  const TraceFolder folder;
  const std::string header =
      "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency,power,power_limit\n";
  const auto tables = read({folder.write("power.csv", header + "VLLM,2,X,gemm,a,bfloat16,64,512,1024,2,431.5,700\n"),
                            folder.write("times.csv", kGemmHeader + "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n")});
  CHECK(tables.gemm.size() == 1);
  CHECK(tables.software == "VLLM 1");
  REQUIRE(tables.power.size() == 1);
  const PowerReading& reading = tables.power[0];
  CHECK(std::get<GemmCase>(reading.what) == GemmCase{64, 512, 1024, "bf16"});
  CHECK(reading.time == Seconds(2e-3));
  CHECK(reading.power == Watts(431.5));
  CHECK(reading.limit == Watts(700));
  CHECK(reading.engine == "vllm");
  CHECK(reading.software == "VLLM 2");
  CHECK(mistake(header + "VLLM,2,X,gemm,a,bfloat16,64,512,1024,2,0,700\n") ==
        "'power' must be a number above 0; got '0'");
}

TEST_CASE("whole modules of latent attention are left out, but for their watts") {
  const TraceFolder folder;
  const std::string columns =
      "framework,version,device,op_name,kernel_source,model,architecture,mla_dtype,kv_cache_dtype,gemm_type,num_heads,"
      "batch_size,isl,tp_size,step,latency";
  const std::string row = "VLLM,2,X,mla_generation_module,default,d,D,bfloat16,fp8,fp8_block,16,4,1,1,8192,0.3";
  const auto times = read({folder.write("times.csv", kGemmHeader + "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n"),
                           folder.write("module.csv", columns + '\n' + row + '\n')});
  CHECK(times.latent_attention.empty());
  CHECK(times.latent_power.empty());
  const auto watts = read({folder.write("power.csv", columns + ",power,power_limit\n" + row + ",410.5,700\n")});
  REQUIRE(watts.latent_power.size() == 1);
  const LatentModuleReading& reading = watts.latent_power[0];
  CHECK(reading.what == LatentAttentionCase{4, 1, 8192, 16, true, "bf16", "fp8"});
  CHECK(reading.projections == "fp8_block");
  CHECK(reading.time == Seconds(0.3e-3));
  CHECK(reading.power == Watts(410.5));
}

TEST_CASE("modules and kernels of an index are kept, but for scores that are all alike and choices that took no time") {
  const TraceFolder folder;
  const std::string columns =
      "framework,version,device,op_name,kernel_source,model,architecture,mla_dtype,kv_cache_dtype,gemm_type,num_heads,"
      "batch_size,isl,tp_size,step,compress_ratio,latency,score_mode\n";
  const auto tables = read({folder.write(
      "index.csv",
      columns + "VLLM,2,X,dsa_generation_module,a,M,D,bfloat16,fp8,fp8_block,16,4,1,1,8192,1,0.3,\n" +
          "SGLang,2,X,glm5_topk_module,a,M,D,fp8_e4m3,fp8_e4m3,fp8_block,64,2,512,1,4096,1,0.1,top_last\n" +
          "SGLang,2,X,glm5_topk_module,a,M,D,fp8_e4m3,fp8_e4m3,fp8_block,64,2,512,1,4096,1,0.2,flat\n" +
          "SGLang,2,X,glm5_topk_module,a,M,D,fp8_e4m3,fp8_e4m3,fp8_block,64,2,16,1,0,1,0,top_last\n" +
          "SGLang,2,X,glm5_mqa_logits_module,a,M,D,fp8_e4m3,fp8_e4m3,fp8_block,64,2,512,1,0,1,0.4,\n")});
  REQUIRE(tables.indexed_attention.size() == 3);
  CHECK(tables.indexed_attention[0] ==
        IndexedAttentionCase{"M", "choice", 2, 512, 4096, 64, false, "fp8_block", "fp8_e4m3"});
  CHECK(tables.indexed_attention[0].time.si() == approx(100e-6));
  CHECK(tables.indexed_attention[1] == IndexedAttentionCase{"M", "module", 4, 1, 8192, 16, true, "fp8_block", "fp8"});
  CHECK(tables.indexed_attention[2].part == "scores");
}

TEST_CASE("attention rows keep their sliding window, and a decode counts its own token") {
  const TraceFolder folder;
  const auto tables =
      read({folder.write("decode.csv", kAttentionHeader + "V,1,X,generation_attention,a,32,1,64,8,128,1,bfloat16,fp8,"
                                                          "1023,0,0.02\n"
                                                          "V,1,X,generation_attention,a,32,1,64,8,128,1,bfloat16,fp8,"
                                                          "1023,128,0.01\n"
                                                          "V,1,X,generation_attention,vllm_fa2,32,1,64,8,128,1,"
                                                          "bfloat16,fp8,1023,256,0.01\n")});
  REQUIRE(tables.decode_attention.size() == 3);
  CHECK(tables.decode_attention[0] == DecodeAttentionCase{32, 1024, 64, 8, 128, "bf16", "fp8"});
  CHECK(tables.decode_attention[1] == DecodeAttentionCase{32, 1024, 64, 8, 128, "bf16", "fp8", 128});
  CHECK(tables.decode_attention[0].time.si() == approx(20e-6));
  CHECK(tables.warm_attention);
}

TEST_CASE("prefill tables may lack the window") {
  const TraceFolder folder;
  std::string header = kAttentionHeader;
  header.erase(header.find("window_size,"), 12);
  const auto tables =
      read({folder.write("p.csv", header + "V,1,X,context_attention,a,4,512,64,8,128,1,bfloat16,bfloat16,256,0.2\n")});
  REQUIRE(tables.prefill_attention.size() == 1);
  CHECK(tables.prefill_attention[0] == PrefillAttentionCase{4, 512, 256, 64, 8, 128, "bf16", "bf16"});
}

TEST_CASE("expert layers keep their routing, formats and share of a rank") {
  const TraceFolder folder;
  const auto tables = read({folder.write(
      "moe.csv",
      "framework,version,device,op_name,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,"
      "moe_tp_size,moe_ep_size,distribution,latency\n"
      "VLLM,1,X,moe,a,bfloat16,96,2048,768,8,128,2,4,power_law_1.2,0.5\n"
      "TRTLLM,1,X,moe,moe_torch_flow_cutlass,fp8,96,2048,768,8,128,2,4,balanced,0.5\n"
      "TRTLLM,1,X,moe,moe_torch_flow_nongated,fp8,96,2048,768,8,128,2,4,balanced,0.3\n"
      "SGLang,1,X,moe,sglang_marlin_moe_situ_as_silu,w4a16_mxfp4,96,2048,768,8,128,2,4,balanced,0.3\n")});
  REQUIRE(tables.expert_layer.size() == 2);  // experts of two matrices and another activation are none of these layers
  CHECK(tables.expert_layer[0].engine == "tensorrt_llm");
  CHECK(tables.expert_layer[0].placed == PlacedRows::own);
  CHECK(tables.two_matrices == std::set<std::array<std::int64_t, 4>>{{2048, 768, 128, 8}});
  CHECK(tables.expert_layer[1] == ExpertLayerCase{96, 2048, 768, 128, 8, 2, 4, 0, "power_law_1.2", "bf16"});
}

TEST_CASE("messages are counted in bytes: elements of 2 bytes, or of 1") {
  const TraceFolder folder;
  const std::string nccl =
      folder.write("nccl.csv",
                   "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"
                   "TRTLLM,2,X,alltoall,NCCL,half,4,512,0.02\n"
                   "TRTLLM,2,X,alltoall,NCCL,int8,4,1024,0.03\n"
                   "TRTLLM,2,X,all_reduce,NCCL,int8,4,1024,0.07\n");  // no engine sums up int8
  const std::string custom = folder.write(
      "custom.csv",
      "framework,version,device,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency,backend\n"
      "vLLM,1,X,all_reduce,v,bfloat16,2,128,0.004,vllm_graph\n");
  const auto tables = read({nccl, custom});
  REQUIRE(tables.collective.size() == 2);
  CHECK(tables.collective[0] == CollectiveCase{"all_reduce", 256, 2, "vllm_graph", 2});
  CHECK(tables.collective[1] == CollectiveCase{"all_to_all", 1024, 4, "nccl", 4});
  CHECK(tables.collective[1].time.si() == approx(25e-6));
  CHECK(tables.software == "TRTLLM 2, vLLM 1");
}

TEST_CASE("every broken row is reported where it breaks, and nothing is returned") {
  const TraceFolder folder;
  const std::string path = folder.write("gemm.csv", kGemmHeader +
                                                        "VLLM,1,X,gemm,a,fp8,0,512,1024,2\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024,nan\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024\n"
                                                        "VLLM,1,X,moe,a,fp8,64,512,1024,2\n"
                                                        "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n");
  Diagnostics diagnostics;
  CHECK_FALSE(read_kernel_tables({path}, diagnostics));
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

TEST_CASE("a table without rows, or with the wrong columns, is refused") {
  CHECK(mistake("") == "the table is empty");
  CHECK(mistake(kGemmHeader) == "the table has no rows");
  CHECK(mistake("speed," + kGemmHeader) == "unknown column 'speed'");
  CHECK(mistake("k," + kGemmHeader) == "column 'k' stands twice");
  CHECK(mistake("framework,version,device,op_name,kernel_source,gemm_dtype,m,n,latency\n") == "column 'k' is missing");
}

TEST_CASE("what is no kernel table is refused with the formats that are known") {
  const std::string message = mistake("time,tokens\n1,2\n");
  CHECK(message.starts_with("no kernel table that can be read; known are AIConfigurator watts of latent attention, "));
  CHECK(message.find("LLMServingSim") != std::string::npos);
  CHECK(message.find("Frontier moe") != std::string::npos);
  const TraceFolder empty;
  Diagnostics diagnostics;
  CHECK_FALSE(read_kernel_tables({empty.path_of(""), empty.path_of("missing.csv")}, diagnostics));
  CHECK(diagnostics.errors() == 2);
}

TEST_CASE("a record of the harness joins the tables of others") {
  const TraceFolder folder;
  MicrobenchRecord record;
  record.context = {{"device", "X"}};
  record.backend = "cuda";
  MicrobenchRow row;
  row.what = GemmCase{64, 512, 1024, "fp8"};
  row.time = {20, 1e-3, 1e-3, 2e-3, 3e-3, 1e-3};
  record.rows = {row};
  write_microbench_record(record, folder.path_of("bench.json"));
  const auto tables =
      read({folder.path_of("bench.json"), folder.write("b.csv", kGemmHeader + "V,1,X,gemm,a,fp8,64,512,1024,4\n")});
  REQUIRE(tables.gemm.size() == 1);
  CHECK(tables.gemm[0].time.si() == approx(3e-3));
  CHECK(tables.device == "X");
}

TEST_CASE("a folder stands for the tables inside it") {
  const TraceFolder folder;
  folder.write("a/gemm.csv", kGemmHeader + "VLLM,1,X,gemm,a,fp8,64,512,1024,2\n");
  folder.write("b.csv", kGemmHeader + "VLLM,1,X,gemm,a,fp8,64,512,1024,4\n");
  folder.write("README.md", "not a table");
  const auto tables = read({folder.path_of("")});
  REQUIRE(tables.gemm.size() == 1);
  CHECK(tables.gemm[0].time.si() == approx(3e-3));
}

}  // namespace
}  // namespace llmscape::traces::kernel_tables_test
