// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace llmscape::models {

// How a state layer updates its state S (key_dim x value_dim, per head) with a token's key k, value v and decay a.
enum class StateForm : std::uint8_t {
  mamba2,       // S = a S + k v^T, a of the head (arXiv 2405.21060)
  gated_delta,  // S = a (I - b k k^T) S + b k v^T, a of the head (arXiv 2412.06464)
  kimi_delta,   // the same with a decay of each key channel (arXiv 2510.26692)
};
inline constexpr std::array<std::string_view, 3> kStateFormNames = {"mamba2", "gated_delta", "kimi_delta"};

}  // namespace llmscape::models
