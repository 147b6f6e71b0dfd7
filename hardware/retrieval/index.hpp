// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "hardware/retrieval/host.hpp"

namespace llmscape::hardware {

// An index of vectors as configured (immutable): what it takes in memory, and what one query costs.
struct SearchIndex {
  std::int64_t vectors = 0, dimension = 0;
  std::string format = "fp32";  // of a component

  virtual ~SearchIndex() = default;
  [[nodiscard]] virtual Bytes memory() const = 0;
  [[nodiscard]] virtual QueryWork search() const = 0;

  // Of one vector, uncompressed.
  [[nodiscard]] Bytes vector_bytes() const;
  // `count` distances to uncompressed vectors: a multiply-add for each component.
  [[nodiscard]] QueryWork distances(double count) const;
};
// The table of kinds (flat, ivf, hnsw): key `kind`.
const Family<SearchIndex>& search_indices();

// The fields that every kind begins with.
template <class T>
void add_vector_fields(Fields<T>& f) {
  f.add("vectors", &T::vectors, "vectors in the index").required().between(1, 1e12);
  f.add("dimension", &T::dimension, "components of a vector").required().between(1, 1e6);
  f.add("format", &T::format, "number format of a component").one_of({"fp32", "fp16", "bf16", "int8"});
}

FamilyMember<SearchIndex> flat_index();
FamilyMember<SearchIndex> ivf_index();
FamilyMember<SearchIndex> hnsw_index();

}  // namespace llmscape::hardware
