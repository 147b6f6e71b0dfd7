// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "base/catalog.hpp"
#include "hardware/retrieval/retrieval.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::hardware;
using llmscape::testing::approx;

namespace {

// Two cores of 1 Gflop/s and 2 GB/s each, 3 GB/s together.
RetrievalHost small_host() {
  RetrievalHost host;
  host.cores = 2;
  host.memory_bandwidth.value = BytesPerSecond(4e9);
  host.memory_efficiency.value = 0.75;
  host.core_bandwidth.value = BytesPerSecond(2e9);
  host.vector_peak.value = FlopsPerSecond(4e9);
  host.compute_efficiency.value = 0.5;
  host.look_up_rate.value = PerSecond(1e9);
  host.memory_latency.value = Seconds(1e-7);
  host.per_query.value = Seconds(1e-3);
  return host;
}

std::shared_ptr<const SearchIndex> index_of(const std::string& text) {
  Diagnostics diagnostics;
  const YamlNode node = read_yaml(std::make_shared<SourceText>(SourceText{"test.yaml", text}), diagnostics);
  auto index = search_indices().read(node, diagnostics);
  REQUIRE_MESSAGE(index, diagnostics.text(false));
  return index;
}

std::string mistakes_of(const std::string& text) {
  Diagnostics diagnostics;
  const YamlNode node = read_yaml(std::make_shared<SourceText>(SourceText{"test.yaml", text}), diagnostics);
  CHECK_FALSE(search_indices().read(node, diagnostics));
  return diagnostics.text(false);
}

}  // namespace

TEST_CASE("a flat index compares every vector: 2 d FLOP and d components each") {
  const auto index = index_of("{kind: flat, vectors: 1_000_000, dimension: 768, format: fp16}");
  CHECK(index->memory() == Bytes(1e6 * 768 * 2));
  CHECK(index->search().vector == Flops(1e6 * 2 * 768));
  CHECK(index->search().bytes == Bytes(1e6 * 768 * 2));
  CHECK(index->search().dependent == 0);
}

TEST_CASE("an inverted file that probes every list is a flat index and its centroids") {
  const std::string vectors = "vectors: 1_000_000, dimension: 768";
  const QueryWork flat = index_of("{kind: flat, " + vectors + "}")->search();
  const QueryWork all = index_of("{kind: ivf, " + vectors + ", lists: 1000, probes: 1000}")->search();
  CHECK(all.vector == flat.vector + Flops(1000 * 2 * 768));
  CHECK(all.bytes == flat.bytes + Bytes(1000 * 4 * 768));
  const QueryWork tenth = index_of("{kind: ivf, " + vectors + ", lists: 1000, probes: 100}")->search();
  CHECK(tenth.bytes == 0.1 * flat.bytes + Bytes(1000 * 4 * 768));
}

TEST_CASE("a product-quantised inverted file scans codes and holds them with their ids and its codebook") {
  const auto index =
      index_of("{kind: ivf, vectors: 100_000_000, dimension: 768, lists: 16384, probes: 32, subquantizers: 64}");
  const double scanned = 1e8 * 32 / 16384;
  CHECK(index->search().look_ups == scanned * 64);
  CHECK(index->search().bytes == Bytes(scanned * 64 + 16384 * 4 * 768));
  CHECK(index->search().vector == Flops((16384 + 256) * 2 * 768));
  CHECK(index->memory() == Bytes(1e8 * (64 + 8) + (16384 + 256) * 4 * 768));
}

TEST_CASE("a graph index takes a hop for each candidate and layer, M comparisons and a dependent read each") {
  // ln(n) / ln(M) = 10 layers.
  const auto index = index_of("{kind: hnsw, vectors: 1_048_576, dimension: 100, links: 4, ef_search: 90}");
  const double hops = 90 + 10;
  CHECK(index->search().dependent == approx(hops).epsilon(1e-12));
  CHECK(index->search().vector.si() == approx(hops * 4 * 2 * 100).epsilon(1e-12));
  CHECK(index->search().bytes.si() == approx(hops * (4 * 400 + 8 * 4)).epsilon(1e-12));
  CHECK(index->memory() == Bytes(1'048'576.0 * (400 + 32)));
}

TEST_CASE("a graph index never compares more vectors than it has") {
  const auto index = index_of("{kind: hnsw, vectors: 100, dimension: 10, links: 32, ef_search: 64}");
  CHECK(index->search().vector == Flops(100 * 2 * 10));
}

TEST_CASE("work takes the longer of computing and streaming, and a latency for each dependent read") {
  const RetrievalHost host = small_host();
  QueryWork work;
  work.vector = Flops(1e6);  // 1 ms on a core
  work.bytes = Bytes(1e6);   // 0.5 ms
  CHECK(host.time(work).si() == approx(1e-3).epsilon(1e-12));
  work.bytes = Bytes(8e6);  // 4 ms
  work.dependent = 1000;    // 0.1 ms
  CHECK(host.time(work).si() == approx(4.1e-3).epsilon(1e-12));
  work.look_ups = 5e6;  // 5 ms beside the 1 ms of distances
  CHECK(host.time(work).si() == approx(6.1e-3).epsilon(1e-12));
}

TEST_CASE("narrow encoders run on the matrix units, if the host has them") {
  RetrievalHost host = small_host();
  const QueryWork work = Embedding{1e6, "bf16"}.encode(10);
  CHECK(host.time(work).si() == approx(20e-3).epsilon(1e-12));
  host.matrix_peak.emplace().value = FlopsPerSecond(32e9);
  CHECK(host.time(work).si() == approx(2.5e-3).epsilon(1e-12));
  CHECK(host.time(Embedding{1e6, "fp32"}.encode(10)).si() == approx(20e-3).epsilon(1e-12));
}

TEST_CASE("a query takes the fixed time, then encodes, then searches; what it draws is its bytes over that time") {
  Retrieval retrieval;
  retrieval.host = small_host();
  retrieval.index = index_of("{kind: flat, vectors: 10_000, dimension: 100}");  // 4 MB: 2 ms; 2 Mflop: 2 ms
  CHECK(retrieval.query(10).time.si() == approx(3e-3).epsilon(1e-12));
  CHECK(retrieval.query(10).bandwidth.si() == approx(4e6 / 3e-3).epsilon(1e-12));
  retrieval.embedding = Embedding{1e6, "fp32"};  // 4 MB: 2 ms; 20 Mflop: 20 ms
  CHECK(retrieval.query(10).time.si() == approx(23e-3).epsilon(1e-12));
  CHECK(retrieval.query(10).bandwidth.si() == approx(8e6 / 23e-3).epsilon(1e-12));
  CHECK(retrieval.query(20).time.si() == approx(43e-3).epsilon(1e-12));
}

TEST_CASE("a search of more probes, more vectors or wider vectors is never faster") {
  const RetrievalHost host = small_host();
  const auto time = [&](int vectors, int dimension, int probes) {
    return host.time(index_of("{kind: ivf, vectors: " + std::to_string(vectors) + ", dimension: " +
                              std::to_string(dimension) + ", lists: 64, probes: " + std::to_string(probes) + "}")
                         ->search());
  };
  CHECK(time(100'000, 64, 8) < time(100'000, 64, 9));
  CHECK(time(100'000, 64, 8) < time(110'000, 64, 8));
  CHECK(time(100'000, 64, 8) < time(100'000, 80, 8));
}

TEST_CASE("an index that cannot be is refused with the reason") {
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(holds(mistakes_of("{kind: ivf, vectors: 100, dimension: 8, lists: 10, probes: 11}"), "more 'probes'"));
  CHECK(holds(mistakes_of("{kind: ivf, vectors: 100, dimension: 8, lists: 101, probes: 1}"), "more 'lists'"));
  CHECK(holds(mistakes_of("{kind: ivf, vectors: 100, dimension: 8, lists: 10, probes: 1, subquantizers: 3}"),
              "'subquantizers'"));
  CHECK(holds(mistakes_of("{kind: hnsw, vectors: 100, dimension: 8, ef_search: 101}"), "'ef_search'"));
}

TEST_CASE("every host of the catalogue is read, and says where each value comes from") {
  Diagnostics diagnostics;
  const auto tree = catalog_entry("hardware/catalog/hosts", "host", "xeon-8480-2s", {}, diagnostics);
  RetrievalHost host;
  REQUIRE_MESSAGE((tree && retrieval_host_fields().read(host, *tree, diagnostics)), diagnostics.text(false));
  CHECK(host.capacity.source != "");
  CHECK(host.memory_bandwidth.source != "");
  // 2 sockets x 8 channels x 8 B x 4.8 GT/s.
  CHECK(host.memory_bandwidth.value.si() == approx(2 * 8 * 8 * 4.8e9).epsilon(0.001));
}
