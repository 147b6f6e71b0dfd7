// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/collectives.hpp"
#include "hardware/gpu/attention_decode.hpp"
#include "hardware/gpu/attention_indexed.hpp"
#include "hardware/gpu/attention_prefill.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware {

// What the kernels of one serving engine do on a GPU, in the words of the GPU's own groups. What a set lacks is the
// GPU's own.
struct KernelSet {
  std::optional<GemmParameters> gemm, expert_gemm;
  std::map<std::string, GemmParameters> gemm_by_format, expert_gemm_by_format;
  std::optional<PrefillAttentionParameters> prefill_attention;
  std::map<std::string, PrefillAttentionParameters> prefill_attention_by_kv;
  std::optional<DecodeAttentionParameters> decode_attention;
  std::map<std::string, DecodeAttentionParameters> decode_attention_by_kv;
  std::map<std::string, PrefillAttentionParameters> latent_prefill_attention;
  std::map<std::string, DecodeAttentionParameters> latent_decode_attention;
  std::map<std::string, IndexedAttentionParameters> indexed_attention;
  std::optional<FittedScales> scales;     // in place of ElementwiseParameters::scales; absent: nowhere
  std::vector<std::string> quantises_in;  // as Gpu has it; absent: none, whatever the GPU's own do
  // The engine's own: they take the place of the GPU's rows of the same kind and ranks that leave large tensors to
  // others (`below`).
  std::vector<CollectiveFit> collectives;
};
const Fields<KernelSet>& kernel_set_fields();

}  // namespace llmscape::hardware
