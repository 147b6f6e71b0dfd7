// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/mixer.hpp"

#include "models/operator_list.hpp"

#include <fmt/format.h>

namespace llmscape::models {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

void LayerShare::add_linear(OperatorList& list, const Linear& shape, std::int64_t rows) const {
  list.add_gemm(rows, shape.k, shape.n, precision.weights, inputs_of(precision, precision.weights), layers);
}

void LayerShare::add_elementwise(OperatorList& list, Elementwise::Kind kind, double accesses,
                                 std::int64_t per_token) const {
  const double elements = static_cast<double>(tokens()) * static_cast<double>(per_token);
  list.add_elementwise(kind, accesses * hidden_format(precision).bytes * elements, layers);
}

PrefillAttention LayerShare::prefill(const Batch& batch, std::int64_t window) const {
  PrefillAttention work;
  for (const PrefillChunk& chunk : batch.chunks)
    work.chunks.push_back({chunk.tokens, change.cached(chunk.cached), chunk.ends_prompt});
  work.window = change.prompt_reach.value_or(window);
  work.kv = precision.kv;
  work.sparse_kernel = change.prompt_kernel;
  work.estimate_queries = change.scored_queries;
  work.estimates_each_chunk = change.scores_each_chunk();
  return work;
}

DecodeAttention LayerShare::decode(const Batch& batch, const Attended& attended, std::int64_t window) const {
  DecodeAttention work;
  work.sequences = batch.decodes;
  work.tokens_per_sequence = batch.tokens_per_decode;
  work.attended = attended;
  work.window = change.reach.value_or(window);
  work.kv = precision.kv;
  return work;
}

std::vector<HeadCount> head_counts(const Mixer& mixer) {
  return std::visit(
      Overloaded{[](const SoftmaxAttention& a) {
                   return std::vector<HeadCount>{{a.heads, "attention heads"}, {a.kv_heads, "KV heads", true}};
                 },
                 [](const LatentAttention& a) { return std::vector<HeadCount>{{a.heads, "attention heads"}}; },
                 [](const StateLayer& s) {
                   return std::vector<HeadCount>{{s.heads, "heads with a state"},
                                                 {s.key_heads, "key heads of the state", true}};
                 },
                 [](const NoMixer&) { return std::vector<HeadCount>(); }},
      mixer);
}

std::string description(const Mixer& mixer) {
  return std::visit(
      Overloaded{[](const SoftmaxAttention& a) {
                   const std::string widths = a.value_width() == a.head_dim
                                                  ? std::to_string(a.head_dim)
                                                  : fmt::format("{} ({} of values)", a.head_dim, a.value_width());
                   return fmt::format("{} heads of {}, {} with keys and values", a.heads, widths, a.kv_heads);
                 },
                 [](const LatentAttention& a) {
                   return fmt::format("{} heads over a latent of {} + {}", a.heads, a.kv_rank, a.rope_dim);
                 },
                 [](const StateLayer& s) {
                   return fmt::format("{} states of {} x {} ({})", s.heads, s.key_dim, s.value_dim,
                                      kStateFormNames[static_cast<std::size_t>(s.form)]);
                 },
                 [](const NoMixer&) { return std::string("no attention"); }},
      mixer);
}

std::vector<Linear> projections(std::int64_t hidden, const Mixer& mixer, int tensor) {
  return std::visit(Overloaded{[](const NoMixer&) { return std::vector<Linear>(); },
                               [&](const auto& kind) { return kind.projections(hidden, tensor); }},
                    mixer);
}

std::int64_t inner_parameters(const Mixer& mixer, int tensor) {
  return std::visit(Overloaded{[](const NoMixer&) { return std::int64_t{0}; },
                               [&](const auto& kind) { return kind.inner_parameters(tensor); }},
                    mixer);
}

SequenceState state_of(const Mixer& mixer, const Precision& precision, int tensor) {
  return std::visit(Overloaded{[](const NoMixer&) { return SequenceState(); },
                               [&](const auto& kind) { return kind.state(precision, tensor); }},
                    mixer);
}

void add_token_work(OperatorList& list, const Mixer& mixer, const LayerShare& share) {
  std::visit(Overloaded{[](const NoMixer&) {}, [&](const auto& kind) { kind.add_token_work(list, share); }}, mixer);
}

void add_attention(OperatorList& list, const Mixer& mixer, const LayerShare& share, const Batch& batch,
                   const Attended& decodes) {
  std::visit(Overloaded{[](const NoMixer&) {}, [](const StateLayer&) {},
                        [&](const auto& kind) { kind.add_attention(list, share, batch, decodes); }},
             mixer);
}

void add_state_work(OperatorList& list, const Mixer& mixer, const LayerShare& share, std::int64_t chunks,
                    std::int64_t decodes) {
  if (const auto* layer = std::get_if<StateLayer>(&mixer)) layer->add_state_work(list, share, chunks, decodes);
}

bool depends_on_phase(const Mixer& mixer) { return std::holds_alternative<LatentAttention>(mixer); }

}  // namespace llmscape::models
