// SPDX-License-Identifier: Apache-2.0
#include "hardware/retrieval/retrieval.hpp"

#include <fmt/format.h>

#include "models/format.hpp"

namespace llmscape::hardware {
namespace {

const Fields<Embedding>& embedding_fields() {
  static const Fields<Embedding> fields = [] {
    Fields<Embedding> f("embedding", "the encoder that makes a vector of a query");
    f.add("parameters", &Embedding::parameters, "weights that a token passes").required().above(0).at_most(1e12);
    f.add("format", &Embedding::format, "number format of the weights; narrower than fp32: on matrix units, if any")
        .one_of({"fp32", "fp16", "bf16", "int8"});
    return f;
  }();
  return fields;
}

// The host holds what it searches and encodes with.
void check_memory(const Retrieval& retrieval, const YamlNode& node, Diagnostics& diagnostics) {
  const Bytes index = retrieval.index->memory();
  const Bytes encoder = retrieval.embedding ? retrieval.embedding->memory() : Bytes();
  const RetrievalHost& host = retrieval.host;
  if (index + encoder > *host.capacity)
    diagnostics.error(
        node.where,
        fmt::format("an index of {:.1f} GB{} exceeds the {:.1f} GB of memory of a '{}'", index.si() / 1e9,
                    retrieval.embedding ? fmt::format(" and an encoder of {:.1f} GB", encoder.si() / 1e9) : "",
                    host.capacity.value.si() / 1e9, host.name));
}

}  // namespace

Bytes Embedding::memory() const { return Bytes(parameters * models::format_named(format)->bytes); }

QueryWork Embedding::encode(std::int64_t tokens) const {
  QueryWork work;
  const Flops flops(2 * parameters * static_cast<double>(tokens));
  (format == "fp32" ? work.vector : work.matrix) = flops;
  work.bytes = memory();
  return work;
}

Retrieval::Query Retrieval::query(std::int64_t tokens) const {
  const QueryWork search = index->search();
  Seconds time = *host.per_query + host.time(search);
  Bytes bytes = search.bytes;
  if (embedding) {
    const QueryWork encode = embedding->encode(tokens);
    time += host.time(encode);
    bytes += encode.bytes;
  }
  return {time, bytes / time};
}

const Fields<Retrieval>& retrieval_fields() {
  static const Fields<Retrieval> fields = [] {
    Fields<Retrieval> f("retrieval", "hosts that search an index for the queries of a workload");
    f.add_group("host", &Retrieval::host, retrieval_host_fields(), "the server").preset_from("hosts").required();
    f.add("count", &Retrieval::count, "how many of them there are, each with the whole index").between(1, 10000);
    f.add_family("index", &Retrieval::index, search_indices(), "what a query is looked up in").required();
    f.add_group("embedding", &Retrieval::embedding, embedding_fields(),
                "encoder of the queries; absent: they come as vectors");
    f.check(&check_memory);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
