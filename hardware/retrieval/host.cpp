// SPDX-License-Identifier: Apache-2.0
#include "hardware/retrieval/host.hpp"

#include <algorithm>

namespace llmscape::hardware {

Seconds RetrievalHost::time(const QueryWork& work) const {
  const double core = *compute_efficiency / static_cast<double>(cores);
  const FlopsPerSecond vector_rate = core * *vector_peak;
  const Seconds matrix = work.matrix / (matrix_peak ? core * **matrix_peak : vector_rate);
  const Seconds computing = work.vector / vector_rate + matrix + work.look_ups / *look_up_rate;
  const Seconds streaming = work.bytes / std::min(*core_bandwidth, shared_bandwidth());
  return std::max(computing, streaming) + work.dependent * *memory_latency;
}

const Fields<RetrievalHost>& retrieval_host_fields() {
  static const Fields<RetrievalHost> fields = [] {
    using Host = RetrievalHost;
    Fields<Host> f("host", "a server that searches an index: a query for each core, bandwidth shared");
    f.add("name", &Host::name, "the name of the host").required();
    f.add("description", &Host::description, "what it is, in a line");
    f.add("cores", &Host::cores, "physical cores, over all sockets").required().between(1, 100000);
    f.add("capacity", &Host::capacity, "memory").required().above(0);
    f.add("memory_bandwidth", &Host::memory_bandwidth, "of all channels of all sockets").required().above(0);
    f.add("memory_efficiency", &Host::memory_efficiency, "share of it that all cores reach")
        .required()
        .above(0)
        .at_most(1);
    f.add("core_bandwidth", &Host::core_bandwidth, "what one core can stream from memory").required().above(0);
    f.add("vector_peak", &Host::vector_peak, "fp32 peak of the vector units of all cores").required().above(0);
    f.add("matrix_peak", &Host::matrix_peak, "bf16 peak of the matrix units of all cores; absent: none").above(0);
    f.add("compute_efficiency", &Host::compute_efficiency, "share of the peaks that is reached")
        .required()
        .above(0)
        .at_most(1);
    f.add("look_up_rate", &Host::look_up_rate, "additions of cached table entries by one core").required().above(0);
    f.add("memory_latency", &Host::memory_latency, "of a read that waits for the one before").required().at_least(0);
    f.add("per_query", &Host::per_query, "fixed time of a query: network, parsing, merging").required().at_least(0);
    f.add("tdp", &Host::tdp, "power with all cores busy").required().above(0);
    f.add("idle_power", &Host::idle, "power with none busy").required().at_least(0);
    f.check([](const Host& host, const YamlNode& node, Diagnostics& diagnostics) {
      if (*host.idle > *host.tdp) diagnostics.error(node.where, "'idle_power' exceeds 'tdp'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
