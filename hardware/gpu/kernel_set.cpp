// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/kernel_set.hpp"

namespace llmscape::hardware {

const Fields<KernelSet>& kernel_set_fields() {
  static const Fields<KernelSet> fields = [] {
    using P = KernelSet;
    Fields<P> f("kernel_set", "kernels of one serving engine; what is absent is the device's own");
    f.add_group("gemm", &P::gemm, gemm_fields(), "dense GEMMs");
    f.add_group("expert_gemm", &P::expert_gemm, expert_gemm_fields(), "GEMMs of routed experts");
    f.add_group("gemm_by_format", &P::gemm_by_format, gemm_fields(), "dense GEMMs whose weights have this format");
    f.add_group("expert_gemm_by_format", &P::expert_gemm_by_format, expert_gemm_fields(),
                "GEMMs of routed experts whose weights have this format");
    f.add_group("prefill_attention", &P::prefill_attention, prefill_attention_fields(), "attention of prompt chunks");
    f.add_group("prefill_attention_by_kv", &P::prefill_attention_by_kv, prefill_attention_fields(),
                "attention of prompt chunks over KV of this format");
    f.add_group("decode_attention", &P::decode_attention, decode_attention_fields(), "attention of decodes");
    f.add_group("decode_attention_by_kv", &P::decode_attention_by_kv, decode_attention_fields(),
                "attention of decodes over KV of this format");
    f.add_group("latent_prefill_attention", &P::latent_prefill_attention, prefill_attention_fields(),
                "latent attention of prompt chunks, by the format of the latents");
    f.add_group("latent_decode_attention", &P::latent_decode_attention, decode_attention_fields(),
                "latent attention of decodes, by the format of the latents");
    f.add_group("indexed_attention", &P::indexed_attention, indexed_attention_fields(),
                "latent attention to entries that an index chooses, by the format of the latents");
    f.add_group("scales", &P::scales, fitted_scales_fields(),
                "quantisation where scales are found first, as in tables of GEMMs; absent: nowhere");
    f.add("quantises_in", &P::quantises_in, "kernels that write narrow inputs of GEMMs themselves; absent: none")
        .one_of({"norm", "activation"});
    f.add_group("collectives", &P::collectives, collective_fields(),
                "the engine's own; they take the place of the device's rows of the same kind and ranks with 'below'");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
