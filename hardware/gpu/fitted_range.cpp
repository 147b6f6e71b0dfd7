// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/fitted_range.hpp"

#include "hardware/gpu/absorbed_prompts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::hardware {

template <class G>
bool FittedRange::check_product(OperatorFamily family, const GemmParameters& fit, const GemmParameters& of_16_bits,
                                const G& g, std::int64_t rows) {
  const std::int64_t n = g.n, k = g.k;
  if (g.weights.bytes < kHalfPrecision && &fit == &of_16_bits) {
    if (first(family).empty())
      first(family) = fmt::format(
          "weights {} with {} inputs: that kernel was not timed, and is priced with the fit to "
          "16 bits at its own bytes and peak",
          g.weights.name, g.activations.name);
    return false;
  }
  const bool inside = rows <= fit.most_rows && std::min(n, k) >= fit.least_width;
  if (!inside && first(family).empty())
    first(family) = fmt::format("a GEMM of {} rows, N {}, K {} (fitted: rows to {}, N and K from {})", rows, n, k,
                                fit.most_rows, fit.least_width);
  return inside;
}

bool FittedRange::check_indexed(const models::KvFormat& kv) {
  if (gpu_.known_indexed_attention(kv)) return true;
  unknown_index_ = kv.name();
  return false;
}

bool FittedRange::check(const models::DecodeAttention& a, const DecodeAttentionParameters& fit) {
  if (holds(a, fit, gpu_)) return true;
  if (a.kernel == models::AttentionKernel::indexed) return check_indexed(a.kv);
  std::string& text = first(OperatorFamily::decode_attention);
  if (!text.empty()) return false;
  if (a.sequences > 0 && a.kv.bytes() < kHalfPrecision && &fit == &gpu_.decode_attention)
    text = fmt::format("KV in {}: that kernel was not timed, and is priced with the fit to 16 bits at its own bytes",
                       a.kv.name());
  else
    text = fmt::format("{} decodes, the longest over {} tokens (fitted: {} decodes, {} tokens)", a.sequences,
                       a.attended.max, fit.most_sequences, fit.longest_context);
  return false;
}

bool FittedRange::check_sparse(const models::PrefillAttention& shape) {
  if (gpu_.sparse_attention.contains(shape.sparse_kernel)) return true;
  unknown_kernel_ = shape.sparse_kernel;
  return false;
}

bool FittedRange::check(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  if (runs_sparse(shape, chunks)) return check_sparse(shape);
  if (chunks.empty()) return true;
  if (shape.kernel == models::AttentionKernel::indexed) return check_indexed(shape.kv);
  if (absorbed(shape))
    return std::ranges::all_of(as_decodes(shape, chunks), [this](const auto& decodes) {
      return check(decodes, gpu_.decode_attention_of(decodes));
    });
  const auto& fit = gpu_.prefill_attention_of(shape);
  const auto outside = std::ranges::find_if(chunks, [&](const models::PrefillChunk& chunk) {
    return chunk.tokens > fit.most_tokens || chunk.tokens + chunk.cached > fit.longest_context;
  });
  if (outside == chunks.end()) return true;
  if (std::string& text = first(OperatorFamily::prefill_attention); text.empty())
    text = fmt::format("a chunk of {} tokens behind {} cached ones (fitted: chunks to {}, contexts to {})",
                       outside->tokens, outside->cached, fit.most_tokens, fit.longest_context);
  return false;
}

bool FittedRange::check(const models::AnyOperator& op) {
  if (const auto* g = std::get_if<models::Gemm>(&op))
    return check_product(OperatorFamily::gemm, gpu_.gemm_of(g->weights, g->activations), gpu_.gemm, *g, g->m);
  if (const auto* g = std::get_if<models::GroupedGemm>(&op)) {
    if (!gpu_.prices_as_block_scaled(g->weights, g->activations))
      return check_product(OperatorFamily::grouped_gemm, gpu_.grouped_gemm_of(g->weights, g->activations),
                           gpu_.grouped_gemm(), *g, g->rows);
    if (std::string& text = first(OperatorFamily::grouped_gemm); text.empty())
      text = fmt::format("experts in {}: that kernel was not timed, and is priced as fp8_block", g->weights.name);
    return false;
  }
  if (const auto* a = std::get_if<models::DecodeAttention>(&op)) return check(*a, gpu_.decode_attention_of(*a));
  if (const auto* a = std::get_if<models::PrefillAttention>(&op)) return check(*a, a->chunks);
  if (const auto* s = std::get_if<models::IndexScores>(&op)) return check_indexed(s->kv);
  if (const auto* u = std::get_if<models::StateUpdate>(&op)) {
    const std::string_view form = models::kStateFormNames[static_cast<std::size_t>(u->form)];
    if (gpu_.state_kernels.contains(std::string(form))) return true;
    unknown_state_ = form;
    return false;
  }
  const auto* c = std::get_if<models::Collective>(&op);
  if (!c || measured(gpu_.links, *c)) return true;
  if (std::string& text = first(OperatorFamily::collective); text.empty())
    text = fmt::format("a collective over {} devices that was not measured", c->ranks);
  return false;
}

namespace {

constexpr unsigned kStateBit = 1U << kOperatorFamilies, kIndexBit = kStateBit << 1U;

constexpr unsigned bit(OperatorFamily family) { return 1U << static_cast<unsigned>(family); }

}  // namespace

unsigned FittedRange::bit_of(const models::AnyOperator& op) {
  if (std::holds_alternative<models::Gemm>(op)) return bit(OperatorFamily::gemm);
  if (std::holds_alternative<models::GroupedGemm>(op)) return bit(OperatorFamily::grouped_gemm);
  if (std::holds_alternative<models::PrefillAttention>(op)) return bit(OperatorFamily::prefill_attention);
  if (std::holds_alternative<models::DecodeAttention>(op)) return bit(OperatorFamily::decode_attention);
  if (std::holds_alternative<models::IndexScores>(op)) return kIndexBit;
  return std::holds_alternative<models::StateUpdate>(op) ? kStateBit : bit(OperatorFamily::collective);
}

unsigned FittedRange::noted() const {
  unsigned bits = unknown_state_.empty() ? 0 : kStateBit;
  if (!unknown_index_.empty()) bits |= kIndexBit;
  for (unsigned family = 0; family < first_.size(); ++family)
    if (!first_[family].empty()) bits |= 1U << family;
  return bits;
}

std::vector<std::string> FittedRange::warnings() const {
  std::vector<std::string> out = accuracy_warning(gpu_.name, gpu_.accuracy);
  for (std::size_t family = 0; family < first_.size(); ++family)
    if (!first_[family].empty())
      out.push_back(
          fmt::format("{} of {} left its fitted range: {}", kOperatorFamilyNames[family], gpu_.name, first_[family]));
  if (!unknown_state_.empty())
    out.push_back(
        fmt::format("kernels of states '{}' were not timed on {}: assumed as on an H100, by clock and bandwidth",
                    unknown_state_, gpu_.name));
  if (!unknown_index_.empty())
    out.push_back(
        fmt::format("attention to entries of {} that an index chooses was not timed on {}: assumed as for 16 "
                    "bits, or as on an H100, by peaks",
                    unknown_index_, gpu_.name));
  if (!unknown_kernel_.empty())
    out.push_back(fmt::format("sparse attention '{}' is not known of {}: assumed to reach {:.0f} % of its peak",
                              unknown_kernel_, gpu_.name, 100 * assumed_sparse_attention().compute_efficiency));
  return out;
}

}  // namespace llmscape::hardware
