// SPDX-License-Identifier: Apache-2.0
#include "hardware/retrieval/index.hpp"

#include <optional>

namespace llmscape::hardware {
namespace {

constexpr double kIdBytes = 8;      // FAISS keeps a 64-bit id beside each vector of a list
constexpr double kCodewords = 256;  // of a subquantizer of 8 bits

// Inverted lists (Jegou, Douze, Schmid, "Product quantization for nearest neighbor search", TPAMI 2011): the query is
// compared with the centroids of all lists, then with the vectors of the nearest ones. Lists are taken as equally long.
// With product quantisation a vector is a code of one byte for each subquantizer; the query's distances to all
// codewords are tabled once, and a distance is a look-up and an addition for each byte.
struct IvfIndex final : SearchIndex {
  std::int64_t lists = 1, probes = 1;
  std::optional<std::int64_t> subquantizers;

  [[nodiscard]] Bytes stored_bytes() const {
    return subquantizers ? Bytes(static_cast<double>(*subquantizers)) : vector_bytes();
  }
  [[nodiscard]] Bytes memory() const override {
    const double codebook = subquantizers ? kCodewords : 0;
    return (static_cast<double>(lists) + codebook) * centroid_bytes() +
           static_cast<double>(vectors) * (stored_bytes() + Bytes(kIdBytes));
  }
  [[nodiscard]] QueryWork search() const override {
    const double scanned = static_cast<double>(vectors) * static_cast<double>(probes) / static_cast<double>(lists);
    const double centroid_flops = 2 * static_cast<double>(dimension);
    QueryWork work = subquantizers ? QueryWork{} : distances(scanned);
    if (subquantizers) {
      work.vector = Flops(kCodewords * centroid_flops);
      work.look_ups = scanned * static_cast<double>(*subquantizers);
      work.bytes = scanned * stored_bytes();
    }
    work.vector += Flops(static_cast<double>(lists) * centroid_flops);
    work.bytes += static_cast<double>(lists) * centroid_bytes();
    return work;
  }

 private:
  [[nodiscard]] Bytes centroid_bytes() const { return Bytes(4 * static_cast<double>(dimension)); }  // fp32
};

void check_lists(const IvfIndex& index, const YamlNode& node, Diagnostics& diagnostics) {
  if (index.probes > index.lists) diagnostics.error(node.where, "more 'probes' than 'lists'");
  if (index.lists > index.vectors) diagnostics.error(node.where, "more 'lists' than 'vectors'");
  if (index.subquantizers && index.dimension % *index.subquantizers != 0)
    diagnostics.error(node.where, "'dimension' cannot be divided into equal parts for that many 'subquantizers'");
}

}  // namespace

FamilyMember<SearchIndex> ivf_index() {
  static const Fields<IvfIndex> fields = [] {
    Fields<IvfIndex> f("index/ivf", "inverted lists: the vectors near some centroids are compared");
    add_vector_fields(f);
    f.add("lists", &IvfIndex::lists, "lists, each with a centroid").required().between(1, 1e9);
    f.add("probes", &IvfIndex::probes, "lists that a query looks into").required().between(1, 1e9);
    f.add("subquantizers", &IvfIndex::subquantizers,
          "bytes of a vector's product-quantised code; uncompressed if absent")
        .between(1, 1e6);
    f.check(&check_lists);
    return f;
  }();
  return member<IvfIndex, SearchIndex>("ivf", fields.info().text, fields);
}

}  // namespace llmscape::hardware
