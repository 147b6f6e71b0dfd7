// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/state_layer.hpp"

#include <fmt/format.h>

#include "models/operator_list.hpp"

#include <algorithm>

namespace llmscape::models {

std::int64_t StateLayer::channels(int tensor) const {
  return 2 * std::int64_t{std::max(1, key_heads / tensor)} * key_dim + std::int64_t{heads / tensor} * value_dim;
}

std::vector<HeadCount> StateLayer::head_counts() const {
  return {{heads, "heads with a state"}, {key_heads, "key heads of the state", true}};
}

std::string StateLayer::description() const {
  return fmt::format("{} states of {} x {} ({})", heads, key_dim, value_dim,
                     kStateFormNames[static_cast<std::size_t>(form)]);
}

// As vLLM fuses them. Mamba 2: gates, values, keys, queries and steps in one. Gated delta rule: queries, keys, values
// and gates in one, decays and strengths in another (in_proj_qkvz, in_proj_ba). Kimi: decays and gates come through two
// narrow matrices each.
std::vector<Linear> StateLayer::projections(std::int64_t hidden, int tensor) const {
  const std::int64_t mine = heads / tensor, values = mine * value_dim;
  const Linear output{values, hidden};
  switch (form) {
    case StateForm::mamba2: return {{hidden, values + channels(tensor) + mine}, output};
    case StateForm::gated_delta: return {{hidden, channels(tensor) + values}, {hidden, 2 * mine}, output};
    case StateForm::kimi_delta: {
      std::vector<Linear> all = {
          {hidden, channels(tensor)}, {hidden, mine}, {hidden, value_dim}, {value_dim, mine * key_dim}};
      if (full_gate) all.push_back({hidden, values});
      else all.insert(all.end(), {{hidden, value_dim}, {value_dim, values}});
      all.push_back(output);
      return all;
    }
  }
  return {};
}

// The convolution, its bias (Mamba 2), decays and steps of each head or key channel, and the norm of the output.
std::int64_t StateLayer::inner_parameters(int tensor) const {
  const std::int64_t mine = heads / tensor;
  const std::int64_t filter = channels(tensor) * convolution;
  switch (form) {
    case StateForm::mamba2: return filter + channels(tensor) + 3 * mine + mine * value_dim;
    case StateForm::gated_delta: return filter + 2 * mine + value_dim;
    case StateForm::kimi_delta: return filter + mine + mine * key_dim + value_dim;
  }
  return 0;
}

SequenceState StateLayer::state(const Precision& precision, int tensor) const {
  const double matrix = static_cast<double>(heads / tensor) * key_dim * value_dim * state_bytes;
  const double inputs = static_cast<double>((convolution - 1) * channels(tensor)) * hidden_format(precision).bytes;
  return {.bytes_per_sequence = matrix + inputs, .sharing = Sharing::exact_end};
}

void StateLayer::add_token_work(OperatorList& list, const LayerShare& share) const {
  share.add_projections(list, projections(share.hidden, share.tensor));
  // Output and gate are read, the normed product is written.
  share.add_elementwise(list, Elementwise::Kind::norm, 3, std::int64_t{heads / share.tensor} * value_dim);
}

void StateLayer::add_state_work(OperatorList& list, const LayerShare& share, std::int64_t chunks,
                                std::int64_t decodes) const {
  StateUpdate work;
  work.form = form;
  work.heads = heads / share.tensor;
  work.key_heads = std::max(1, key_heads / share.tensor);
  work.key_dim = key_dim;
  work.value_dim = value_dim;
  work.convolution = convolution;
  work.state_bytes = state_bytes;
  work.element_bytes = hidden_format(share.precision).bytes;
  if (share.chunk_tokens > 0) {
    work.scan = true;
    work.sequences = std::max<std::int64_t>(1, chunks);
    work.tokens = share.chunk_tokens;
    list.add(work, share.layers);
  }
  if (decodes > 0) {
    work.scan = false;
    work.sequences = decodes;
    work.tokens = share.decode_tokens;
    list.add(work, share.layers);
  }
}

}  // namespace llmscape::models
