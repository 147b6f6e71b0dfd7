// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/kernel_fits.hpp"

#include "hardware/gpu/absorbed_prompts.hpp"
#include "hardware/gpu/pricing.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace llmscape::hardware {
namespace {

// The fit that prices an operator.
struct FitOf {
  const Gpu& gpu;
  const Fit* operator()(const models::Gemm& g) const { return &gpu.gemm_of(g.weights, g.activations); }
  const Fit* operator()(const models::GroupedGemm& g) const { return &gpu.grouped_gemm_of(g.weights, g.activations); }
  const Fit* operator()(const models::IndexScores& s) const { return &gpu.indexed_attention_of(s.kv); }
  const Fit* operator()(const models::PrefillAttention& a) const {
    if (a.kernel == models::AttentionKernel::indexed) return &gpu.indexed_attention_of(a);
    if (absorbed(a)) return &gpu.decode_attention_of(as_decodes(a, a.chunks).front());
    if (runs_sparse(a, a.chunks)) return &gpu.sparse_attention_of(a.sparse_kernel);
    return &gpu.prefill_attention_of(a);
  }
  const Fit* operator()(const models::DecodeAttention& a) const {
    if (attends_in_own_kernel(gpu, a)) return &gpu.indexed_attention_of(a.kv);
    return &gpu.decode_attention_of(a);
  }
  const Fit* operator()(const models::StateUpdate& u) const { return &gpu.state_of(u.form); }
  const Fit* operator()(const models::Elementwise&) const { return &gpu.elementwise; }
  const Fit* operator()(const models::Copy&) const { return &gpu.elementwise; }
  const Fit* operator()(const models::Sample&) const { return &gpu.elementwise; }
  // Fits of messages have the residuals of their set on one of them: residuals(Links).
  const Fit* operator()(const models::Collective&) const { return nullptr; }
};

// A step in the middle of a regime, of a prompt and of decodes behind contexts of ordinary length.
struct TypicalStep {
  std::array<models::PrefillChunk, 1> chunks;
  std::int64_t decodes;
};
constexpr std::int64_t kContext = 2048;
constexpr std::array<TypicalStep, kRegimes> kTypicalSteps = {
    TypicalStep{{{{16, kContext, true}}}, 16}, {{{{256, kContext, true}}}, 128}, {{{{4096, kContext, true}}}, 256}};

}  // namespace

KernelFits kernel_fits(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                       const models::ExpertCoverage& coverage) {
  KernelFits fits{};
  const std::vector<std::int64_t> laws = models::kv_laws(model);
  for (std::size_t regime = 0; regime < kRegimes; ++regime) {
    const TypicalStep& step = kTypicalSteps[regime];
    std::vector<models::Attended> attended;
    for (const std::int64_t law : laws) {
      const std::int64_t each = law > 0 ? std::min(law, kContext) : kContext;
      attended.push_back({step.decodes * each, each});
    }
    std::array<std::vector<std::pair<const Fit*, Seconds>>, kOperatorFamilies> times;
    for (const models::Operator& op :
         models::step_work(model, plan, {step.chunks, step.decodes, 1, attended}, coverage)) {
      const Fit* fit = std::visit(FitOf{gpu}, op.what);
      if (!fit) continue;
      PartCost part;
      add_price(gpu, op, part);
      for (std::size_t family = 0; family < kOperatorFamilies; ++family) {
        if (part.by_family[family] <= Seconds()) continue;
        auto& own = times[family];
        const auto known = std::ranges::find(own, fit, &std::pair<const Fit*, Seconds>::first);
        if (known == own.end()) own.emplace_back(fit, part.by_family[family]);
        else known->second += part.by_family[family];
      }
    }
    for (std::size_t family = 0; family < kOperatorFamilies; ++family)
      if (const auto most = std::ranges::max_element(times[family], {}, &std::pair<const Fit*, Seconds>::second);
          most != times[family].end())
        fits[family][regime] = most->first;
  }
  return fits;
}

}  // namespace llmscape::hardware
