// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/unit/traces/trace_folder.hpp"

using llmscape::testing::approx;

namespace llmscape::traces::simulator_tables_test {
namespace {

KernelTables read(const std::vector<std::string>& paths) {
  Diagnostics diagnostics;
  const auto tables = read_kernel_tables(paths, diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  return *tables;
}

std::string layer_table(const std::string& more_columns, const std::string& more_cells) {
  return "time_stats.emb.median,time_stats.input_layernorm.median,time_stats.attn_pre_proj.median,"
         "time_stats.attn_rope.median,time_stats.attn_post_proj.median,time_stats.mlp_up_proj.median,"
         "time_stats.mlp_up_proj.std,time_stats.mlp_act.median,time_stats.mlp_down_proj.median,time_stats.add.median,"
         "n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,num_tensor_parallel_workers" +
         more_columns + "\n0.01,0.02,0.03,0.04,0.05,0.06,0.5,0.07,0.08,,32,8,4096,14336,128256,True,64,2" + more_cells +
         "\n";
}

TEST_CASE("a layer of Vidur gives the share of its rank, in milliseconds; an empty cell gives nothing") {
  const TraceFolder folder;
  const auto tables = read({folder.write("mlp.csv", layer_table("", ""))});
  // 32 + 2 x 8 heads of 128 over two ranks: 3,072 outputs of the first projection.
  CHECK(tables.gemm == std::vector<TimedGemm>{{{64, 3072, 4096, "fp16"}, Seconds(30e-6)},
                                              {{64, 4096, 2048, "fp16"}, Seconds(50e-6)},
                                              {{64, 4096, 7168, "fp16"}, Seconds(80e-6)},
                                              {{64, 14336, 4096, "fp16"}, Seconds(60e-6)}});
  CHECK(tables.elementwise == std::vector<TimedElementwise>{{{"activation", 64, 7168, "fp16"}, Seconds(70e-6)},
                                                            {{"embedding", 64, 4096, "fp16"}, Seconds(10e-6)},
                                                            {{"norm", 64, 4096, "fp16"}, Seconds(20e-6)},
                                                            {{"rope", 64, 2560, "fp16"}, Seconds(40e-6)}});
}

TEST_CASE("projections whose queries and keys are normed are passed over; quantised weights keep their own name") {
  const TraceFolder folder;
  const auto tables = read({folder.write("linear_op.csv", layer_table(",use_qk_norm,profiling_precision,"
                                                                      "quant_signature,measurement_type",
                                                                      ",True,BF16,method=fp8,KERNEL_ONLY"))});
  REQUIRE(tables.gemm.size() == 2);
  CHECK(tables.gemm[0] == GemmCase{64, 4096, 7168, "method=fp8"});
  CHECK(tables.clock == "KERNEL_ONLY");
}

TEST_CASE("messages of Vidur say how many ranks share a node") {
  const TraceFolder folder;
  const auto tables = read({folder.write("all_reduce.csv",
                                         "row,time_stats.all_reduce.min,time_stats.all_reduce.median,rank,num_workers,"
                                         "size,collective,devices_per_node,max_devices_per_node\n"
                                         "0,0.031,0.043,0,16,2048,all_reduce,8,8\n")});
  REQUIRE(tables.collective.size() == 1);
  CHECK(tables.collective[0] == CollectiveCase{"all_reduce", 2048, 16, "nccl", 8});
}

const std::string kFrontierAttention =
    "time_stats.attn_prefill.median,time_stats.attn_decode.median,n_embd,n_q_head,n_kv_head,"
    "num_tensor_parallel_workers,batch_size,prefill_chunk_size,kv_cache_size,is_prefill,is_mixed_batch,mode,seq_lens,"
    "profiling_precision,measurement_type\n";

TEST_CASE("Frontier's even batches are read, its lists and mixed batches passed over") {
  const TraceFolder folder;
  const auto tables = read({folder.write(
      "attention.csv", kFrontierAttention + "0.3,0,4096,32,8,4,1,512,1024,True,False,even,[512],BF16,CUDA_EVENT\n"
                                            "0,0.1,4096,32,8,4,2,0,1023,False,False,even,\"[1, 1]\",BF16,CUDA_EVENT\n"
                                            "0.2,0.1,4096,32,8,4,2,0,9,True,False,true_mixed,,BF16,CUDA_EVENT\n"
                                            "0.2,0,4096,32,8,4,2,64,0,True,True,even,\"[64, 8]\",BF16,CUDA_EVENT\n")});
  CHECK(tables.prefill_attention ==
        std::vector<TimedPrefillAttention>{{{1, 512, 1024, 8, 2, 128, "bf16", "bf16"}, Seconds(300e-6)}});
  CHECK(tables.decode_attention ==
        std::vector<TimedDecodeAttention>{{{2, 1024, 8, 2, 128, "bf16", "bf16"}, Seconds(100e-6)}});
}

TEST_CASE("tables with and without launch gaps are never mixed") {
  const TraceFolder folder;
  const std::string row = "0.3,0,4096,32,8,4,1,512,1024,True,False,even,[512],BF16,";
  const std::string events = folder.write("a.csv", kFrontierAttention + row + "CUDA_EVENT\n");
  const std::string kernels = folder.write("b.csv", kFrontierAttention + row + "KERNEL_ONLY\n");
  Diagnostics diagnostics;
  CHECK_FALSE(read_kernel_tables({events, kernels}, diagnostics));
  const auto mistakes = diagnostics.sorted();
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0].where.source->name == kernels);
  CHECK(mistakes[0].where.line == 2);
}

TEST_CASE("an expert layer of Frontier is the sum of its pieces, where all were timed") {
  const TraceFolder folder;
  const auto tables = read({folder.write(
      "moe.csv",
      "time_stats.moe_gating_routing_topk.median,time_stats.moe_shuffling.median,time_stats.moe_grouped_gemm.median,"
      "num_tokens,num_experts,num_experts_per_device,expert_parallel_size,router_topk,hidden_dim,expert_hidden_dim,"
      "num_tensor_parallel_workers,expert_utilization,routing_assignment_policy,profiling_precision,measurement_type\n"
      "0.05,0.01,0.2,16,128,128,1,8,2048,768,2,0.75,logit_topk,BF16,CUDA_EVENT\n"
      ",,0.2,16,128,128,1,8,2048,768,2,0.5,logit_topk,BF16,CUDA_EVENT\n"
      "0.05,0.01,0.2,16,128,64,2,8,2048,768,2,0.5,logit_topk,BF16,CUDA_EVENT\n")});
  REQUIRE(tables.expert_layer.size() == 1);
  CHECK(tables.expert_layer[0] == ExpertLayerCase{16, 2048, 768, 128, 8, 2, 1, 96, "logit_topk", "bf16"});
  CHECK(tables.expert_layer[0].time.si() == approx(260e-6));
}

// A profile of Llama-3.1-8B at tensor-parallel degrees 1 and 2; meta.json has the sizes of a rank at 2.
class Profile {
 public:
  explicit Profile(const std::string& model = "meta-llama/Llama-3.1-8B", const std::string& degrees = "1, 2") {
    folder.write("meta.json", "{\"model\": \"" + model +
                                  "\", \"variant\": \"bf16\", \"gpu\": \"X\", \"vllm_version\": \"0.19.0\",\n"
                                  "\"tp_degrees\": [" +
                                  degrees +
                                  "], \"engine_effective\": {\"hf_overrides\": "
                                  "{\"intermediate_size\": 7168, \"num_attention_heads\": 16, "
                                  "\"num_key_value_heads\": 4, \"vocab_size\": 64128}}}");
    for (const std::string tp : {"tp1/", "tp2/"}) {
      folder.write(tp + "dense.csv", "layer,tokens,time_us\nqkv_proj,8,10\nqk_norm,8,3\nact_fn,8,2\n");
      folder.write(tp + "per_sequence.csv", "layer,sequences,time_us\nlm_head,4,300\nsampler,4,20\n");
      folder.write(
          tp + "attention.csv.gz",
          "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n16,64,0,0,7\n0,0,32,1023,8\n16,64,32,1023,9\n");
    }
  }
  TraceFolder folder;
};

TEST_CASE("a profile of LLMServingSim gives each degree its share, and tells prefill, decode and mixed steps apart") {
  const Profile profile;
  const auto tables = read({profile.folder.path_of("")});
  CHECK(tables.gemm == std::vector<TimedGemm>{{{4, 64128, 4096, "bf16"}, Seconds(300e-6)},
                                              {{4, 128256, 4096, "bf16"}, Seconds(300e-6)},
                                              {{8, 3072, 4096, "bf16"}, Seconds(10e-6)},
                                              {{8, 6144, 4096, "bf16"}, Seconds(10e-6)}});
  // Both degrees sample from the whole vocabulary.
  CHECK(tables.elementwise == std::vector<TimedElementwise>{{{"activation", 8, 7168, "bf16"}, Seconds(2e-6)},
                                                            {{"activation", 8, 14336, "bf16"}, Seconds(2e-6)},
                                                            {{"sampling", 4, 128256, "bf16"}, Seconds(20e-6)}});
  REQUIRE(tables.prefill_attention.size() == 2);
  CHECK(tables.prefill_attention[0] == PrefillAttentionCase{1, 16, 64, 16, 4, 128, "bf16", "bf16"});
  REQUIRE(tables.decode_attention.size() == 2);
  CHECK(tables.decode_attention[1] == DecodeAttentionCase{32, 1024, 32, 8, 128, "bf16", "bf16"});
  REQUIRE(tables.mixed_attention.size() == 2);
  CHECK(tables.mixed_attention[0] == MixedAttentionCase{16, 64, 32, 1024, 16, 4, 128, "bf16", "bf16"});
  CHECK(tables.device == "X");
  CHECK(tables.software == "vLLM 0.19.0");
}

TEST_CASE("a profile of a model whose widths are not known is refused") {
  const Profile profile("someone/else");
  Diagnostics diagnostics;
  CHECK_FALSE(read_kernel_tables({profile.folder.path_of("")}, diagnostics));
  CHECK(diagnostics.sorted()[0].message == "the widths of model 'someone/else' are not known");
}

TEST_CASE("is a tensor-parallel degree of 0 refused before anything is divided by it?") {
  for (const char* degrees : {"0", "1, 0", "-2, 4"}) {
    const Profile profile("meta-llama/Llama-3.1-8B", degrees);
    Diagnostics diagnostics;
    CHECK_FALSE(read_kernel_tables({profile.folder.path_of("")}, diagnostics));
    REQUIRE(diagnostics.errors() == 1);
    CHECK(diagnostics.sorted()[0].message.find("a tensor-parallel degree is at least 1") != std::string::npos);
  }
}

}  // namespace
}  // namespace llmscape::traces::simulator_tables_test
