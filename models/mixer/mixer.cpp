// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/mixer.hpp"

#include <utility>

#include "models/operator_list.hpp"

namespace llmscape::models {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

void LayerShare::add_product(OperatorList& list, const Linear& shape, std::int64_t rows, const Format& format,
                             Elementwise::Input input) const {
  list.add_gemm(rows, shape.k, shape.n, format, inputs_of(precision, format), layers, input);
}

void LayerShare::add_linear(OperatorList& list, const Linear& shape, std::int64_t rows) const {
  add_product(list, shape, rows, weights, Elementwise::Input::elsewhere);
}

void LayerShare::add_projections(OperatorList& list, std::span<const Linear> shapes, Elementwise::Input input) const {
  for (const Linear& shape : shapes.first(shapes.size() - 1))
    add_product(list, shape, tokens(), weights, std::exchange(input, Elementwise::Input::elsewhere));
  add_product(list, shapes.back(), tokens(), output_weights, Elementwise::Input::elsewhere);
}

void LayerShare::add_elementwise(OperatorList& list, Elementwise::Kind kind, double accesses,
                                 std::int64_t per_token) const {
  const double elements = static_cast<double>(tokens()) * static_cast<double>(per_token);
  list.add_elementwise(kind, accesses * hidden_format(precision).bytes * elements, layers);
}

PrefillAttention LayerShare::prefill(const Batch& batch, std::int64_t window) const {
  PrefillAttention work;
  for (const PrefillChunk& chunk : batch.chunks)
    work.chunks.push_back({change.passing.of(chunk.tokens), change.cached(chunk.cached), chunk.ends_prompt});
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
  work.masks = !change.reach && window > 0;
  if (work.masks && batch.decodes > 0) work.contexts = batch.attended.front().sum;
  work.kv = precision.kv;
  return work;
}

std::vector<HeadCount> head_counts(const Mixer& mixer) {
  return std::visit(Overloaded{[](const NoMixer&) { return std::vector<HeadCount>(); },
                               [](const auto& kind) { return kind.head_counts(); }},
                    mixer);
}

std::string description(const Mixer& mixer) {
  return std::visit(Overloaded{[](const NoMixer&) { return std::string("no attention"); },
                               [](const auto& kind) { return kind.description(); }},
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

// Not every kind has work of each of these.
void add_attention(OperatorList& list, const Mixer& mixer, const LayerShare& share, const Batch& batch,
                   const Attended& decodes) {
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.add_attention(list, share, batch, decodes); })
          kind.add_attention(list, share, batch, decodes);
      },
      mixer);
}

void add_state_work(OperatorList& list, const Mixer& mixer, const LayerShare& share, std::int64_t chunks,
                    std::int64_t decodes) {
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.add_state_work(list, share, chunks, decodes); })
          kind.add_state_work(list, share, chunks, decodes);
      },
      mixer);
}

bool depends_on_phase(const Mixer& mixer) {
  return std::visit([](const auto& kind) { return requires { kind.kDependsOnPhase; }; }, mixer);
}

}  // namespace llmscape::models
