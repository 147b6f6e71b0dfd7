// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload.hpp"

#include <algorithm>

namespace llmscape::workloads {
namespace {

constexpr double kMostPrograms = 1e12;

const Fields<MixtureComponent>& component_fields() {
  static const Fields<MixtureComponent> fields = [] {
    Fields<MixtureComponent> f("mixture", "one part of a mixed workload");
    f.add("weight", &MixtureComponent::weight, "share of the starts, relative to the other parts")
        .above(0)
        .at_most(1e9);
    f.add("slo_class", &MixtureComponent::slo_class,
          "name of the SLO class of its programs; if absent the limits of 'slo' itself judge them");
    f.add("model", &MixtureComponent::model,
          "name of the model that its calls ask for, of the scenario's 'models'; that of the workload if absent");
    f.add("priority", &MixtureComponent::priority, "smaller is served first by priority orders").between(-1e6, 1e6);
    f.add_family("stream", &MixtureComponent::stream, streams(), "what each of its programs does").required();
    return f;
  }();
  return fields;
}

const Fields<ReplayConfig>& replay_fields() {
  static const Fields<ReplayConfig> fields = [] {
    Fields<ReplayConfig> f("replay", "the calls of a recorded trace, each a program");
    f.add("trace", &ReplayConfig::trace, "path of the file, from the scenario's folder").required();
    f.add("format", &ReplayConfig::format, "format of the file; recognised from its first line if absent");
    f.add("first", &ReplayConfig::first, "records to skip at the start").between(0, kMostPrograms);
    f.add("count", &ReplayConfig::count, "records to replay; to the end if absent").between(1, kMostPrograms);
    return f;
  }();
  return fields;
}

void check_workload(const WorkloadConfig& config, const YamlNode& node, Diagnostics& diagnostics) {
  const int contents = (config.stream ? 1 : 0) + (config.mixture.empty() ? 0 : 1) + (config.replay ? 1 : 0);
  if (contents != 1) diagnostics.error(node.where, "a workload is one of 'stream', 'mixture' or 'replay'");
  if (config.replay) {
    if (config.arrivals) diagnostics.error(node.where, "a replay has its own arrivals: 'arrivals' must be absent");
    if (config.rate) diagnostics.error(node.where, "a replay has no rate to scale: use 'speedup'");
    return;
  }
  if (!config.arrivals) {
    diagnostics.error(node.where, "'arrivals' are missing: when do programs start?");
  } else if (!config.arrivals->ends() && !config.duration && !config.requests) {
    diagnostics.error(node.where, "this workload would never end: give it a 'duration' or a number of 'requests'");
  }
  if (!config.arrivals) return;
  if (config.rate && !config.arrivals->mean_rate())
    diagnostics.error(node.where, "these arrivals have no mean rate that 'rate' could scale");
  // Arrivals that are replaced whole may have a rate: it is their shape that is asked for.
  const YamlNode* arrivals = node.find("arrivals");
  const YamlNode* own = config.rate && arrivals ? arrivals->find("rate") : nullptr;
  const auto is_set = [](const YamlNode::Entry& entry) { return entry.value.origin == "--set"; };
  if (own && own->origin == "--set" && std::ranges::count_if(arrivals->entries, is_set) == 1)
    diagnostics.error(own->where, "'workload.arrivals.rate' has no effect beside 'workload.rate', which scales it away",
                      "vary workload.rate instead");
  if (config.speedup != 1 && config.arrivals->users() > 0)
    diagnostics.error(node.where, "a closed loop starts a program when another ends: 'speedup' has nothing to divide");
}

}  // namespace

std::string_view name_of(Tokens tokens) {
  switch (tokens) {
    case Tokens::random: return "random";
    case Tokens::skewed: return "skewed";
    default: return "text";
  }
}

const Fields<WorkloadConfig>& workload_fields() {
  static const Fields<WorkloadConfig> fields = [] {
    Fields<WorkloadConfig> f("workload", "what arrives: programs of model calls, tools and pauses");
    f.add("source", &WorkloadConfig::source, "where the workload comes from: a paper, a trace");
    f.add_enum(
        "tokens", &WorkloadConfig::tokens,
        {{"text", Tokens::text}, {"random", Tokens::random}, {"skewed", Tokens::skewed}},
        "what prompts and answers are made of, which decides how many experts of a mixture a step touches: real "
        "text, whose tokens agree on experts; random token ids, as most benchmarks send, which spread evenly; or "
        "tokens for which some experts are more popular than others, over a factor of 12");
    f.add_family("arrivals", &WorkloadConfig::arrivals, arrivals(), "when programs start");
    f.add_family("stream", &WorkloadConfig::stream, streams(), "what each program does");
    f.add_group("mixture", &WorkloadConfig::mixture, component_fields(), "several streams that share the arrivals");
    f.add_group("replay", &WorkloadConfig::replay, replay_fields(), "a recorded trace instead of arrivals and stream");
    f.add("model", &WorkloadConfig::model,
          "name of the model that calls ask for which name none, of the scenario's 'models'; its 'model' if absent");
    f.add("rate", &WorkloadConfig::rate, "mean rate of programs that the arrivals are scaled to; their own if absent")
        .above(0)
        .at_most(1e9);
    f.add("speedup", &WorkloadConfig::speedup, "times between arrivals are divided by this, also those of a trace")
        .above(0)
        .at_most(1e6);
    f.add("duration", &WorkloadConfig::duration, "no program starts after this time").above(0).at_most(1e9);
    f.add("warmup", &WorkloadConfig::warmup, "what arrives before this time is served but not measured")
        .between(0, 1e9);
    f.add("timeout", &WorkloadConfig::timeout,
          "a model call that is not answered this long after its arrival is given up")
        .above(0)
        .at_most(1e9);
    f.add("requests", &WorkloadConfig::requests, "programs in all; of single calls, that is requests")
        .between(1, kMostPrograms);
    f.check(&check_workload);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::workloads
