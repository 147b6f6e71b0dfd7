// SPDX-License-Identifier: Apache-2.0
#include "hardware/state_work.hpp"

namespace llmscape::hardware {

StateLoad load_of(const models::StateUpdate& u) {
  const double k = u.key_dim, v = u.value_dim;
  const bool delta = u.form != models::StateForm::mamba2;
  // For each head and token.
  const double within = kScanChunk * (delta ? 3 * k + 2 * v : k + v);
  const double flops = u.scan ? within + (delta ? 6 : 4) * k * v : (delta ? 7 : 5) * k * v;
  const double channels = 2.0 * u.key_heads * k + u.heads * v;
  const double state = u.heads * k * v * u.state_bytes, kept = u.convolution - 1;
  // Through the convolution and back, then into the scan; a decode does both at once.
  const double passes = u.scan ? 3 : 1;
  const auto tokens = static_cast<double>(u.tokens), sequences = static_cast<double>(u.sequences);
  // Beyond the first token of a decode.
  const double further = u.scan ? 0 : tokens - sequences;
  return {tokens * u.heads * flops, (2 * sequences + further) * state +
                                        (2 * sequences * kept + further) * channels * u.element_bytes +
                                        tokens * u.element_bytes * (passes * channels + u.heads * v)};
}

}  // namespace llmscape::hardware
