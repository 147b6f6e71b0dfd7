// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/mixer/latent_attention.hpp"
#include "models/mixer/softmax_attention.hpp"
#include "models/mixer/state_layer.hpp"

namespace llmscape::models {

// Layers of feed-forward alone.
struct NoMixer {
  bool operator==(const NoMixer&) const = default;
};

// What mixes the tokens of a sequence in a layer: one file pair a kind. What others want to know of it, they ask here.
using Mixer = std::variant<SoftmaxAttention, LatentAttention, StateLayer, NoMixer>;

[[nodiscard]] inline bool has_mixer(const Mixer& mixer) { return !std::holds_alternative<NoMixer>(mixer); }

std::vector<HeadCount> head_counts(const Mixer& mixer);
// The projections around it, in order of execution, as one rank of `tensor` holds them: the inputs of what mixes, fused
// where engines fuse them, then the output. Every token passes them.
std::vector<Linear> projections(std::int64_t hidden, const Mixer& mixer, int tensor);
// Parameters beside the projections on that rank: norms, sinks, convolutions, the expansion of latents.
std::int64_t inner_parameters(const Mixer& mixer, int tensor);
// What a layer keeps of a sequence on that rank.
SequenceState state_of(const Mixer& mixer, const Precision& precision, int tensor = 1);
// Work that depends on counts of tokens alone: projections, norms, rotation.
void add_token_work(OperatorList& list, const Mixer& mixer, const LayerShare& share);
// Work over entries of the context: chunks, and the decodes of the batch, which attend to `decodes`.
void add_attention(OperatorList& list, const Mixer& mixer, const LayerShare& share, const Batch& batch,
                   const Attended& decodes);
// Work on recurrent states, which depends on counts of tokens and sequences alone.
void add_state_work(OperatorList& list, const Mixer& mixer, const LayerShare& share, std::int64_t chunks,
                    std::int64_t decodes);
// "32 heads of 128, 8 with keys and values"
std::string description(const Mixer& mixer);
// Whether it tells prompt tokens from decodes where both pass the same projections.
[[nodiscard]] bool depends_on_phase(const Mixer& mixer);

}  // namespace llmscape::models
