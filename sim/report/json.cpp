// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <stdexcept>

namespace llmscape::report {

namespace {

using Json = nlohmann::ordered_json;

double finite(double value, const char* what) {
  if (!std::isfinite(value)) throw std::logic_error(std::string("a result is not a number: ") + what);
  return value;
}

Json counters(const serving::Counters& c) {
  return {{"injected", c.injected}, {"completed", c.completed}, {"queued", c.queued},   {"running", c.running},
          {"waiting", c.waiting},   {"dropped", c.dropped},     {"timed_out", c.timed_out}, {"cancelled", c.cancelled},
          {"failed", c.failed}};
}

void add_percentiles(Json& latency, const char* key, const std::optional<run::Percentiles>& p) {
  if (!p) return;
  latency[key] = {{"mean", finite(p->mean, key)}, {"p50", p->p50}, {"p90", p->p90}, {"p95", p->p95},
                  {"p99", p->p99},                {"max", p->max}, {"count", p->count}, {"exact", p->exact}};
}

Json throughput(const run::Throughput& t) {
  Json json = {{"requests_per_s", finite(t.requests_per_s, "requests_per_s")},
               {"output_tokens_per_s", t.output_tokens_per_s},
               {"total_tokens_per_s", t.total_tokens_per_s},
               {"output_tokens_per_s_per_device", t.output_tokens_per_s_per_device}};
  if (t.goodput_rps) json["goodput_rps"] = *t.goodput_rps;
  if (t.slo_attainment) json["slo_attainment"] = *t.slo_attainment;
  return json;
}

Json energy(const run::EnergyResult& e) {
  Json joules = Json::object();
  for (const auto& [component, value] : e.joules) joules[component] = finite(value, "joules");
  Json json = {{"joules", joules}, {"total_joules", e.total_joules}};
  if (e.joules_per_output_token) json["joules_per_output_token"] = *e.joules_per_output_token;
  json["mean_w"] = finite(e.mean_w, "mean_w");
  return json;
}

}  // namespace

std::string to_json(const run::RunResult& r) {
  Json json;
  json["schema"] = "run/1";
  json["seed"] = r.seed;
  json["verdict"] = {{"state", metrics::name_of(r.verdict.state)}, {"reasons", r.verdict.reasons}};
  json["requests"] = counters(r.requests);
  json["tasks"] = counters(r.tasks);
  json["tokens"] = {{"prompt", r.tokens.prompt},         {"computed", r.tokens.computed},   {"reused", r.tokens.reused},
                    {"recomputed", r.tokens.recomputed}, {"discarded", r.tokens.discarded}, {"emitted", r.tokens.emitted}};
  Json latency = Json::object();
  add_percentiles(latency, "ttft_s", r.ttft_s);
  add_percentiles(latency, "tpot_s", r.tpot_s);
  add_percentiles(latency, "itl_s", r.itl_s);
  add_percentiles(latency, "e2e_s", r.e2e_s);
  json["latency"] = latency;
  json["throughput"] = throughput(r.throughput);
  json["kv"] = {{"blocks", r.kv.blocks}, {"hit_rate", r.kv.hit_rate}, {"preemptions", r.kv.preemptions}, {"peak_use", r.kv.peak_use}};
  if (r.energy) json["energy"] = energy(*r.energy);
  Json provenance = Json::object();
  for (std::size_t i = 0; i < kTagNames.size(); ++i) provenance[std::string(kTagNames[i])] = r.provenance[i];
  json["provenance"] = provenance;
  Json shares = Json::object();
  for (const auto& [family, share] : r.time_share) shares[family] = share;
  json["time_share"] = shares;
  json["warnings"] = r.warnings;
  json["steps"] = r.steps;
  json["sequence_steps"] = r.sequence_steps;
  json["simulated_s"] = finite(r.simulated_s, "simulated_s");
  json["window_s"] = r.window_s;
  json["model"] = r.model;
  json["hardware"] = r.hardware;
  json["devices"] = r.devices;
  json["replicas"] = r.replicas;
  return json.dump(2) + "\n";
}

}  // namespace llmscape::report
