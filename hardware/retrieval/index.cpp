// SPDX-License-Identifier: Apache-2.0
#include "hardware/retrieval/index.hpp"

#include "models/format.hpp"

namespace llmscape::hardware {
namespace {

// Every vector is compared.
struct FlatIndex final : SearchIndex {
  [[nodiscard]] Bytes memory() const override { return static_cast<double>(vectors) * vector_bytes(); }
  [[nodiscard]] QueryWork search() const override { return distances(static_cast<double>(vectors)); }
};

}  // namespace

Bytes SearchIndex::vector_bytes() const {
  return Bytes(static_cast<double>(dimension) * models::format_named(format)->bytes);
}

QueryWork SearchIndex::distances(double count) const {
  QueryWork work;
  work.vector = Flops(count * 2 * static_cast<double>(dimension));
  work.bytes = count * vector_bytes();
  return work;
}

FamilyMember<SearchIndex> flat_index() {
  static const Fields<FlatIndex> fields = [] {
    Fields<FlatIndex> f("index/flat", "every vector is compared: exact");
    add_vector_fields(f);
    return f;
  }();
  return member<FlatIndex, SearchIndex>("flat", fields.info().text, fields);
}

const Family<SearchIndex>& search_indices() {
  static const Family<SearchIndex> family("index", "kind", {flat_index(), ivf_index(), hnsw_index()});
  return family;
}

}  // namespace llmscape::hardware
