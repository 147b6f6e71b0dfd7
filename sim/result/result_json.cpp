// SPDX-License-Identifier: Apache-2.0
#include "sim/result/result_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace llmscape::result {
namespace {

using Json = nlohmann::ordered_json;

Json counters(const serving::Counters& c) {
  return {{"injected", c.injected},   {"completed", c.completed}, {"queued", c.queued},
          {"running", c.running},     {"waiting", c.waiting},     {"dropped", c.dropped},
          {"timed_out", c.timed_out}, {"cancelled", c.cancelled}, {"failed", c.failed}};
}

// The numbers of one section, as the table of metrics has them.
Json section(const RunResult& result, std::string_view name) {
  Json json = Json::object();
  for (const metrics::Metric& metric : metrics::numbers())
    if (metric.section == name)
      if (const std::optional<double> value = metric.number(result))
        json[std::string(metric.key)] = metric.unit.empty() ? Json(std::llround(*value)) : Json(*value);
  return json;
}

Json latency(const Latencies& all) {
  Json json = Json::object();
  for (const metrics::Metric& metric : metrics::latencies()) {
    const Percentiles* p = all[metric.key];
    if (!p) continue;
    Json& of = json[std::string(metric.key)];
    for (const metrics::Statistic& statistic : metrics::kStatistics) of[std::string(statistic.name)] = p->*statistic.of;
    of.update({{"count", p->count}, {"exact", p->exact}});
  }
  return json;
}

Json shares(const std::vector<std::pair<std::string, double>>& parts) {
  Json json = Json::object();
  for (const auto& [name, value] : parts) json[name] = value;
  return json;
}

Json work(const Work& w) {
  Json json = {{"flops", w.flops},
               {"bytes", w.bytes},
               {"kv_bytes_per_token", w.kv_bytes_per_token},
               {"activation_bytes", w.activation_bytes}};
  if (w.entries_per_decode) json["entries_per_decode"] = *w.entries_per_decode;
  return json;
}

Json memory(const RunResult& result) {
  const MemoryResult& m = *result.memory;
  Json json = section(result, "memory");
  json["device"] = m.group;
  json["device_bytes"] = m.device_bytes;
  json["step"] = {{"start_s", m.start_s}, {"prompt_tokens", m.prompt_tokens}, {"decodes", m.decodes}};
  return json;
}

Json energy(const RunResult& result) {
  const EnergyResult& e = *result.energy;
  Json json = {{"joules", shares(e.joules)}};
  json.update(section(result, "energy"));
  json["boundary"] = e.boundary;
  for (const auto& [group, boundary] : e.boundary_by_group) json["boundary_by_group"][group] = boundary;
  if (!e.assumed.empty()) json["assumed"] = shares(e.assumed);
  for (const auto& [group, joules] : e.by_group) json["by_group"][group] = shares(joules);
  return json;
}

// {"edge": {"busy": 0.9, "memory": 0.84, "of_busy": {"memory": 0.93}}}
Json utilisation(const std::vector<GroupUse>& groups) {
  Json json = Json::object();
  for (const GroupUse& use : groups) {
    json[use.group] = {{"busy", use.busy}};
    for (const auto& part : use.parts) json[use.group][part.name] = part.of_time;
    for (const auto& part : use.parts) json[use.group]["of_busy"][part.name] = part.of_busy;
  }
  return json;
}

Json pools(const std::vector<PoolResult>& all) {
  Json json = Json::array();
  for (const PoolResult& pool : all) {
    json.push_back({{"name", pool.name},
                    {"model", pool.model},
                    {"role", pool.role},
                    {"replicas", pool.replicas},
                    {"steps", pool.steps},
                    {"prefill_tokens", pool.prefill_tokens},
                    {"decode_tokens", pool.decode_tokens},
                    {"busy", pool.busy}});
    if (pool.ranks > 1)
      json.back().update(
          {{"ranks", pool.ranks}, {"rank_balance", pool.rank_balance}, {"dummy_steps", pool.dummy_steps}});
    if (pool.loads > 0) json.back().update({{"loads", pool.loads}, {"loading_s", pool.loading_s}});
  }
  return json;
}

Json tiers(const std::vector<TierResult>& all) {
  Json json = Json::array();
  for (const TierResult& tier : all)
    json.push_back({{"name", tier.name},
                    {"memories", tier.memories},
                    {"capacity_bytes", tier.capacity_bytes},
                    {"peak_bytes", tier.peak_bytes},
                    {"asked_tokens", tier.asked_tokens},
                    {"fetched_tokens", tier.fetched_tokens},
                    {"hit_rate", tier.hit_rate},
                    {"read_bytes", tier.read_bytes},
                    {"written_bytes", tier.written_bytes},
                    {"evicted_bytes", tier.evicted_bytes},
                    {"rejected_bytes", tier.rejected_bytes},
                    {"read_use", tier.read_use},
                    {"write_use", tier.write_use}});
  return json;
}

Json cost(const RunResult& result) {
  Json json = Json::object();
  if (!result.cost->currency.empty()) json["currency"] = result.cost->currency;
  json.update(section(result, "cost"));
  if (!result.cost->by_kind.empty()) json["by_kind"] = shares(result.cost->by_kind);
  return json;
}

Json fleet(const FleetResult& fleet) {
  Json pools = Json::array();
  for (const PoolLife& pool : fleet.pools)
    pools.push_back({{"name", pool.name},
                     {"replica_s", pool.replica_s},
                     {"available", pool.available},
                     {"starts", pool.starts},
                     {"drains", pool.drains},
                     {"conversions", pool.conversions},
                     {"losses", pool.losses}});
  return {{"pools", pools}, {"retried", fleet.retried}, {"lost_tokens", fleet.lost_tokens}};
}

Json links(const std::vector<LinkResult>& all) {
  Json json = Json::array();
  for (const LinkResult& link : all) json.push_back({{"name", link.name}, {"bytes", link.bytes}, {"use", link.use}});
  return json;
}

Json retrieval(const std::vector<RetrievalResult>& all) {
  Json json = Json::array();
  for (const RetrievalResult& r : all) {
    Json& entry = json.emplace_back(Json{{"name", r.name}, {"queries", r.queries}, {"mean_wait_s", r.mean_wait_s}});
    if (r.utilisation) entry["utilisation"] = *r.utilisation;
    if (r.joules) entry["joules"] = *r.joules;
  }
  return json;
}

Json time_parts(const TimeParts& parts) {
  Json json = {{"count", parts.count}, {"whole_s", parts.whole_s}};
  for (const auto& [name, seconds] : parts.parts) json[name + "_s"] = seconds;
  return json;
}

// {"requests": {"count": 9, "whole_s": 2, "queued_s": 0.5, ...}, "tasks": ..., "steps": {"h100-sxm": {"seconds": ...,
// "joules": ..., "families": {"gemm": {"seconds": ..., "joules": ..., "bound_by": {"memory": ...}}, ...}}}}
Json breakdown(const Breakdown& b) {
  Json json = Json::object();
  if (b.requests) json["requests"] = time_parts(*b.requests);
  if (b.tasks) json["tasks"] = time_parts(*b.tasks);
  for (const GroupSteps& group : b.steps) {
    Json& steps = json["steps"][group.group];
    steps = {{"seconds", group.seconds}, {"joules", group.joules}};
    for (const auto& family : group.families)
      steps["families"][family.name] = {
          {"seconds", family.seconds}, {"joules", family.joules}, {"bound_by", shares(family.bound_by)}};
  }
  return json;
}

Json provenance(const RunResult& result) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kTagNames.size(); ++i) {
    const bool seldom = Tag(i) == Tag::fitted_end_to_end;  // told where it occurs
    if (!seldom || result.provenance[i] > 0) json[std::string(kTagNames[i])] = result.provenance[i];
  }
  json["extrapolated"] = result.extrapolated;
  return json;
}

// The same figures of the whole run.
Json overall(const RunResult& r) {
  const RunResult whole = of_whole_run(r);
  Json json = {
      {"simulated_s", whole.window_s}, {"throughput", section(whole, "throughput")}, {"energy", energy(whole)}};
  if (whole.cost) json["cost"] = cost(whole);
  if (!whole.utilisation.empty()) json["utilisation"] = utilisation(whole.utilisation);
  return json;
}

Json of_class(const ClassResult& one, double window_s) {
  RunResult alone;
  alone.window_s = window_s;
  alone.throughput = one.throughput;
  Json json = {{"ended", one.ended}, {"completed", one.completed}, {"latency", latency(one.latency)}};
  if (window_s > 0) json["throughput"] = section(alone, "throughput");
  return json;
}

// {"level": 0.9, "runs": 19, "ttft_s": {"mean": {"low": ..., "high": ...}, ...}, "mean_w": {"low": ..., "high": ...}}
Json intervals(const Intervals& all) {
  Json json = {{"level", kIntervalLevel}, {"runs", kIntervalRuns}};
  for (const Interval& interval : all.metrics) {
    std::string pointer = '/' + interval.metric;
    std::ranges::replace(pointer, '.', '/');
    Json& ends = json[Json::json_pointer(pointer)] = {{"low", interval.low}, {"high", interval.high}};
    if (interval.server) ends["server"] = {{"low", interval.server->first}, {"high", interval.server->second}};
  }
  return json;
}

// JSON has no NaN and no infinity: one that comes this far is a mistake of ours, not a value.
void refuse_what_is_no_number(const Json& json, const std::string& path) {
  if (json.is_number_float() && !std::isfinite(json.get<double>()))
    throw std::logic_error("the result '" + path + "' is not a finite number");
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) refuse_what_is_no_number(value, path + '/' + key);
}

// What a run tells by name and nobody would ever read is a mistake of ours too.
void refuse_what_is_not_written(const Json& json, const RunResult& result) {
  const auto check = [&json](const std::string& column_name) {
    const metrics::Column* column = metrics::find_column(column_name);
    if (!column || !number_in(json, *column))
      throw std::logic_error("the result tells '" + column_name +
                             "', but no row of the table of metrics has it written");
  };
  for (const auto& [key, number] : result.numbers.all()) check(key);
  for (const auto& [key, percentiles] : result.latency.all()) check(key + ".mean");
}

Json all(const RunResult& r) {
  Json json;
  json["schema"] = "run/1";
  json["seed"] = r.seed;
  json["verdict"] = {{"state", metrics::name_of(r.verdict.state)}, {"reasons", r.verdict.reasons}};
  json["requests"] = counters(r.requests);
  for (const auto& [reason, count] : r.reasons) json["requests"]["reasons"][reason] = count;
  json["tasks"] = counters(r.tasks);
  json["tokens"] = section(r, "tokens");
  json["latency"] = latency(r.latency);
  if (r.window_s > 0) json["throughput"] = section(r, "throughput");
  for (const ClassResult& one : r.classes) json["classes"][one.name] = of_class(one, r.window_s);
  json["kv"] = section(r, "kv");
  if (!r.kv_tiers.empty()) json["kv_tiers"] = tiers(r.kv_tiers);
  for (const StoreResult& store : r.kv_stores)
    for (const StoreResult::Figure& figure : store.figures) {
      Json& value = json[store.section][figure.name];
      if (figure.whole) value = static_cast<std::int64_t>(figure.value);
      else value = figure.value;
    }
  for (const char* name : {"speculation", "adapters", "turns"})
    if (Json own = section(r, name); !own.empty()) json[name] = std::move(own);
  if (r.energy) json["energy"] = energy(r);
  const bool ranks = std::ranges::any_of(r.pools, [](const PoolResult& pool) { return pool.ranks > 1; });
  if (r.pools.size() > 1 || ranks) json["pools"] = pools(r.pools);
  if (r.fleet) json["fleet"] = fleet(*r.fleet);
  if (!r.links.empty()) json["links"] = links(r.links);
  if (!r.retrieval.empty()) json["retrieval"] = retrieval(r.retrieval);
  if (r.steps > 0) json["provenance"] = provenance(r);
  if (r.intervals) json["intervals"] = intervals(*r.intervals);
  json["warnings"] = r.warnings;
  json.update(section(r, ""));
  json["window"] = {{"rule", r.window.rule}, {"from_s", r.window.from_s}, {"to_s", r.window.to_s}};
  json["time_share"] = shares(r.time_share);
  if (Json parts = breakdown(r.breakdown); !parts.empty()) json["breakdown"] = std::move(parts);
  if (r.pte)
    json["pte"] = {{"gamma", r.pte->gamma},
                   {"gamma_gqa", r.pte->gamma_gqa},
                   {"mean", r.pte->mean},
                   {"mean_computed", r.pte->mean_computed},
                   {"mean_tokens", r.pte->mean_tokens}};
  for (const StepTableUse& use : r.step_tables)
    json["step_tables"].push_back({{"table", use.table}, {"steps", use.steps}, {"inside", use.inside}});
  if (r.steps > 0) json["work"] = work(r.work);
  if (r.memory) json["memory"] = memory(r);
  if (r.work.expert_bytes > 0) json["work"]["expert_bytes"] = r.work.expert_bytes;
  if (!r.utilisation.empty()) json["utilisation"] = utilisation(r.utilisation);
  if (r.cost) json["cost"] = cost(r);
  if (r.area) json["area"] = section(r, "area");
  if (r.overall.simulated_s > 0) json["overall"] = overall(r);
  json["model"] = r.model;
  json["hardware"] = r.hardware;
  json["engine"] = r.engine;
  if (!r.kernels.empty()) json["kernels"] = r.kernels;
  json["precision"] = Json::array();
  for (const PrecisionUsed& p : r.precision)
    json["precision"].push_back({{"model", p.model},
                                 {"devices", p.group},
                                 {"weights", p.weights},
                                 {"attention", p.attention},
                                 {"attention_output", p.attention_output},
                                 {"experts", p.experts},
                                 {"embeddings", p.embeddings},
                                 {"activations", p.activations},
                                 {"kv", p.kv}});
  if (!r.tokens_of.empty()) json["tokens_of"] = r.tokens_of;
  json["devices"] = r.devices;
  json["replicas"] = r.replicas;
  refuse_what_is_no_number(json, "");
  refuse_what_is_not_written(json, r);
  return json;
}

}  // namespace

RunResult of_whole_run(RunResult result) {
  result.window_s = result.overall.simulated_s;
  result.throughput = result.overall.throughput;
  result.energy = result.overall.energy;
  result.cost = result.overall.cost;
  result.utilisation = result.overall.utilisation;
  return result;
}

Json of_whole_run(Json run) {
  const Json whole = run.value("overall", Json::object());
  for (const std::string_view part : {"throughput", "energy", "cost", "utilisation"})
    if (whole.contains(part)) run[part] = whole[part];
  if (whole.contains("simulated_s")) run["window_s"] = whole["simulated_s"];
  return run;
}

std::string to_json(const RunResult& r) { return all(r).dump(2) + '\n'; }

std::string to_json_line(const RunResult& r) { return all(r).dump(); }

}  // namespace llmscape::result
