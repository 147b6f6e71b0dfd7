// SPDX-License-Identifier: Apache-2.0
#include "hardware/retrieval/index.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kLinkBytes = 4;  // a neighbour's number, as in hnswlib and FAISS

// A hierarchy of neighbour graphs (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
// hierarchical navigable small world graphs", TPAMI 2020). A vector has 2 M links in the base layer and M in each of
// the layers above, of which there are ln(n) / ln(M): their factor 1 / ln(M). The law of a query: one hop in each upper
// layer and `ef_search` in the base layer; each hop reads the links of a vertex after the one before is done, and
// compares M neighbours. Assumed: one hop a layer, and that half of the 2 M neighbours in the base layer were compared
// before.
struct HnswIndex final : SearchIndex {
  std::int64_t links = 32, ef_search = 64;

  [[nodiscard]] Bytes memory() const override { return static_cast<double>(vectors) * (vector_bytes() + base_links()); }
  [[nodiscard]] QueryWork search() const override {
    const auto m = static_cast<double>(links);
    const double hops = static_cast<double>(ef_search) + std::log(static_cast<double>(vectors)) / std::log(m);
    QueryWork work = distances(std::min(hops * m, static_cast<double>(vectors)));
    work.bytes += hops * base_links();
    work.dependent = hops;
    return work;
  }

 private:
  [[nodiscard]] Bytes base_links() const { return Bytes(2 * static_cast<double>(links) * kLinkBytes); }
};

}  // namespace

FamilyMember<SearchIndex> hnsw_index() {
  static const Fields<HnswIndex> fields = [] {
    Fields<HnswIndex> f("index/hnsw", "a hierarchy of neighbour graphs, walked towards the query");
    add_vector_fields(f);
    f.add("links", &HnswIndex::links, "M: links of a vector in a layer; twice as many in the base layer")
        .between(2, 1024);
    f.add("ef_search", &HnswIndex::ef_search, "candidates that a query keeps in the base layer").between(1, 1e6);
    f.check([](const HnswIndex& index, const YamlNode& node, Diagnostics& diagnostics) {
      if (index.ef_search > index.vectors) diagnostics.error(node.where, "'ef_search' exceeds 'vectors'");
    });
    return f;
  }();
  return member<HnswIndex, SearchIndex>("hnsw", fields.info().text, fields);
}

}  // namespace llmscape::hardware
