// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/sections.hpp"

#include <algorithm>

namespace llmscape::hardware {

SectionLoad& SectionLoad::operator+=(const SectionLoad& o) {
  weights += o.weights;
  kv += o.kv;
  flops += o.flops;
  sent += o.sent;
  return *this;
}

Seconds SectionTimes::longest() const { return std::max({memory, compute, links}); }

double pipeline_stages(double tiles, std::int64_t depth) { return tiles + static_cast<double>(depth - 1); }

SectionTimes section_times(const Fabric& fabric, const MemoryTiers& tiers, const SectionLoad& load,
                           const SectionRun& run) {
  SectionTimes t;
  t.memory = (run.resident ? resident_time : streaming_time)(tiers, load.weights, load.kv, run.sockets);
  const FlopsPerSecond rate = run.sockets * *fabric.peak * *fabric.compute_efficiency * run.balance;
  const Seconds stage = load.flops / run.tiles / rate;
  t.compute = pipeline_stages(run.tiles, *fabric.pipeline_depth) * stage;
  if (load.sent.si() > 0) t.links = load.sent / *fabric.link_bandwidth;
  return t;
}

const Fields<Fabric>& fabric_fields() {
  static const Fields<Fabric> fields = [] {
    using F = Fabric;
    Fields<F> f("fabric", "the compute units of a socket and how sections flow through them");
    f.add("peak", &F::peak, "dense peak of all compute units").required().above(0);
    f.add("compute_units", &F::compute_units, "compute units, which the stages of a section share")
        .required()
        .at_least(1);
    f.add("memory_units", &F::memory_units, "memory units, even parts of the SRAM; each holds weights of one stage")
        .required()
        .at_least(1);
    f.add("least_units", &F::least_units, "compute units that a stage takes, however little it has to do").at_least(1);
    f.add("compute_efficiency", &F::compute_efficiency, "share of the peak that a busy stage reaches")
        .above(0)
        .at_most(1);
    f.add("pipeline_depth", &F::pipeline_depth, "stages of a section").at_least(1);
    f.add("tile_tokens", &F::tile_tokens, "tokens that move through the pipeline together").at_least(1);
    f.add("link_bandwidth", &F::link_bandwidth, "between sockets, of one socket in one direction").required().above(0);
    f.add("hop", &F::hop, "from a group of sockets to the one that holds the next layers (pipeline parallelism)")
        .at_least(0);
    f.add("fill", &F::fill, "time of a section before its first result").at_least(0);
    f.add("routed_layer", &F::routed_layer, "fixed cost of choosing and gathering the experts of a layer").at_least(0);
    f.check([](const F& fabric, const YamlNode& node, Diagnostics& diagnostics) {
      if (*fabric.least_units > *fabric.compute_units)
        diagnostics.error(node.where, "'least_units' exceeds 'compute_units': no stage would fit");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
