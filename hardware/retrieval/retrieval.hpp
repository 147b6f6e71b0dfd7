// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/fields.hpp"
#include "hardware/retrieval/host.hpp"
#include "hardware/retrieval/index.hpp"

namespace llmscape::hardware {

// An encoder that makes a vector of a query: 2 FLOP for each parameter and token, and its weights read once.
struct Embedding {
  double parameters = 0;
  std::string format = "fp32";  // of the weights: narrower ones run on the matrix units, if the host has them
  [[nodiscard]] Bytes memory() const;
  [[nodiscard]] QueryWork encode(std::int64_t tokens) const;
};

// Equal hosts that each hold the whole index.
struct Retrieval {
  RetrievalHost host;
  std::int64_t count = 1;
  std::shared_ptr<const SearchIndex> index;
  std::optional<Embedding> embedding;  // absent: queries come as vectors

  struct Query {
    Seconds time;              // on one core while the others leave the memory alone
    BytesPerSecond bandwidth;  // that it draws then, in the mean
  };
  // Encodes `tokens` tokens, then searches.
  [[nodiscard]] Query query(std::int64_t tokens) const;
};
const Fields<Retrieval>& retrieval_fields();

}  // namespace llmscape::hardware
