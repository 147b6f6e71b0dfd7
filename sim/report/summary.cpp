// SPDX-License-Identifier: Apache-2.0
#include "sim/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/report/interval_summary.hpp"
#include "sim/report/summary_line.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using State = metrics::Verdict::State;

std::string painted(const std::string& text, std::string_view code, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string headline(const result::RunResult& r, bool colour) {
  const bool valid = r.verdict.state == State::valid;
  const std::string what = fmt::format("{} on {}: ", r.model, r.hardware);
  const std::string verdict = valid ? "valid" : fmt::format("NOT VALID, {}", metrics::name_of(r.verdict.state));
  const std::string counts = fmt::format("{} of {} requests completed, {} simulated", grouped(r.requests.completed),
                                         grouped(r.requests.injected), duration(r.simulated_s));
  const bool fits = what.size() + verdict.size() + 2 + counts.size() <= kPageColumns;
  std::string out = what + painted(verdict, valid ? "1;32" : "1;31", colour) + (fits ? "; " : "\n") +
                    (fits ? counts + '\n' : line("", counts));
  for (const std::string& reason : r.verdict.reasons) out += line("because", reason);
  if (!r.engine.empty()) out += line("engine", r.engine);
  if (!r.kernels.empty()) out += line("kernels", r.kernels);
  return out;
}

// The number formats that were computed in, and what prompts are made of where that decides which experts are read.
std::string precisions(const result::RunResult& r) {
  std::string out;
  for (const result::PrecisionUsed& p : r.precision) {
    const std::string text = r.precision.size() == 1 ? p.words : fmt::format("{} on {}: {}", p.model, p.group, p.words);
    out += line(out.empty() ? "precision" : "", text);
  }
  if (!r.tokens_of.empty())
    out += line("experts",
                "touched as by tokens of " +
                    (r.tokens_of == "text" ? "real text"
                                           : r.tokens_of + (r.tokens_of == "random" ? " prompts (spread evenly)"
                                                                                    : " popularity (Zipf, assumed)")));
  return out;
}

// What became of the requests that were not completed; empty if all were.
std::string losses(const result::RunResult& r) {
  const serving::Counters& requests = r.requests;
  std::string out;
  const auto add = [&out](std::int64_t count, std::string_view what) {
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(count), what);
  };
  add(requests.cancelled, "cancelled by their users");
  add(requests.timed_out, "timed out");
  add(requests.dropped, "dropped");
  add(requests.failed, "failed");
  add(requests.queued + requests.running + requests.waiting, "still open");
  if (out.empty()) return out;
  std::string why;
  for (const auto& [reason, count] : r.reasons) {
    std::string words = reason;
    std::ranges::replace(words, '_', ' ');
    why += fmt::format("{}{} {}", why.empty() ? "" : ", ", grouped(count), words);
  }
  return line("not done", why.empty() ? out : out + " (" + why + ")");
}

std::string latencies(const result::RunResult& r) {
  std::string out;
  bool exact = true;
  const auto row = [&](const std::string& name, const result::Percentiles* p) {
    if (!p) return;
    exact = exact && p->exact;
    out += fmt::format("{:<{}}{:>9}{:>11}{:>11}{:>11}\n", name, kLabel, duration(p->mean), duration(p->p50),
                       duration(p->p90), duration(p->p99));
  };
  for (const metrics::Metric& metric : metrics::latencies())
    if (!metric.label.empty()) row(fmt::format("  {}", metric.label), r.latency[metric.key]);
  if (out.empty()) return out;
  return fmt::format("{:<{}}{:>9}{:>11}{:>11}{:>11}{}\n", "latency", kLabel, "mean", "p50", "p90", "p99",
                     exact ? "" : "   (quantiles within 0.5 %)") +
         out;
}

std::string rates(const result::Throughput& t) {
  const std::string offered =
      t.offered_requests_per_s ? fmt::format(" of {} offered", amount(*t.offered_requests_per_s)) : "";
  std::string out =
      line("throughput", fmt::format("{} requests/s{}, {} output tokens/s ({} per device), {} tokens/s in all",
                                     amount(t.requests_per_s), offered, amount(t.output_tokens_per_s),
                                     amount(t.output_tokens_per_s_per_device), amount(t.total_tokens_per_s)));
  if (t.goodput_rps && t.slo_attainment)
    out += line("goodput", fmt::format("{} requests/s met their SLO, {} of those that ended", amount(*t.goodput_rps),
                                       percent(*t.slo_attainment)));
  return out;
}

// What each class of requests saw of it; empty where all are of one.
std::string classes(const std::vector<result::ClassResult>& all) {
  if (all.empty()) return "";
  std::size_t width = kLabel;
  const auto label = [](const result::ClassResult& one) { return "  " + (one.name.empty() ? "others" : one.name); };
  for (const result::ClassResult& one : all) width = std::max(width, label(one).size() + 1);
  const auto time = [](const result::ClassResult& one, std::string_view key, double result::Percentiles::* of) {
    const result::Percentiles* found = one.latency[key];
    return found ? duration(found->*of) : std::string("-");
  };
  constexpr std::string_view kRow = "{:<{}}{:>9}{:>11}{:>11}{:>11}{:>11}{:>12}{:>11}\n";
  std::string out =
      fmt::format(kRow, "by class", width, "TTFT p50", "p99", "TPOT p50", "p99", "E2E p99", "requests/s", "met SLO");
  using result::Percentiles;
  for (const result::ClassResult& one : all)
    out += fmt::format(kRow, label(one), width, time(one, "ttft_s", &Percentiles::p50),
                       time(one, "ttft_s", &Percentiles::p99), time(one, "tpot_s", &Percentiles::p50),
                       time(one, "tpot_s", &Percentiles::p99), time(one, "e2e_s", &Percentiles::p99),
                       amount(one.throughput.requests_per_s),
                       one.throughput.slo_attainment ? percent(*one.throughput.slo_attainment) : "-");
  return out;
}

// What rates, joules, costs and busy shares below are of.
std::string window(const result::RunResult& r) {
  const bool whole = r.window.from_s == 0 && r.window.to_s == r.simulated_s;
  return line("window", whole ? "the whole run"
                              : fmt::format("{} to {} ({}); the whole run stands in 'overall'",
                                            duration(r.window.from_s), duration(r.window.to_s), r.window.rule));
}

// The largest shares first, as far as they matter.
std::string largest_shares(std::vector<std::pair<std::string, double>> shares) {
  constexpr std::size_t kShown = 3;
  std::ranges::stable_sort(shares, std::greater(), &std::pair<std::string, double>::second);
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, shares.size()) && shares[i].second >= 0.001; ++i) {
    std::string name = shares[i].first;
    std::ranges::replace(name, '_', ' ');
    out += fmt::format("{}{} {}", i > 0 ? ", " : "", name, percent(shares[i].second));
  }
  return out;
}

// Which of the joules no measurement of the device stands behind: what the description of its figures calls assumed.
std::string assumed_joules(const result::EnergyResult& e) {
  std::string out;
  for (const auto& [what, share] : e.assumed) {
    if (share < 0.005) continue;
    const std::string words = what == "work" ? "energy of operations" : what == "idle" ? "idle power" : "retrieval";
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", percent(share), words);
  }
  if (out.empty()) return "";
  return line("  assumed", out + " of these joules: no measurement of this hardware stands behind the figures");
}

// Beside a figure of all tokens that were emitted, where more than one in a hundred of them was for nobody: that of the
// others.
std::string of_answered(const std::optional<double>& emitted, const std::optional<double>& answered) {
  constexpr double kAlike = 1.01;
  const bool apart = emitted && answered && *answered > kAlike * *emitted;
  return apart ? fmt::format(" ({} by those of answered calls)", amount(*answered)) : "";
}

std::string joules(const result::EnergyResult& e) {
  std::string out;
  if (e.joules_per_output_token)
    out = fmt::format("{} J/token{}, ", amount(*e.joules_per_output_token),
                      of_answered(e.joules_per_output_token, e.joules_per_answered_token));
  out += fmt::format("{} W (peak {} W)", amount(e.mean_w), amount(e.peak_w));
  std::vector<std::pair<std::string, double>> shares;
  for (const auto& [component, value] : e.joules)
    if (e.total_joules > 0) shares.emplace_back(component, value / e.total_joules);
  if (!e.boundary_by_group.empty()) {
    std::string groups;
    for (const auto& [group, boundary] : e.boundary_by_group)
      groups += fmt::format("{}{} of {}", groups.empty() ? "" : ", ", boundary, group);
    out += fmt::format(", power of unlike boundaries ({})", groups);
  } else if (e.boundary != "unstated") {
    out += fmt::format(", {} power", e.boundary);
  }
  return line("energy", shares.empty() ? out : fmt::format("{}: {}", out, largest_shares(shares))) + assumed_joules(e);
}

// What each pool did: the computing share of its time, and its tokens.
std::string pool_loads(const std::vector<result::PoolResult>& pools) {
  std::string out;
  for (const result::PoolResult& pool : pools)
    out += line(out.empty() ? "pools" : "",
                fmt::format("{}: {} of {} computing, {} prompt and {} decoded tokens", pool.name, percent(pool.busy),
                            pool.replicas == 1 ? "its time" : fmt::format("{} replicas' time", pool.replicas),
                            grouped(pool.prefill_tokens), grouped(pool.decode_tokens)));
  return out;
}

// How alike the ranks were that step together.
std::string rank_loads(const std::vector<result::PoolResult>& pools) {
  std::string out;
  for (const result::PoolResult& pool : pools)
    if (pool.ranks > 1)
      out += line(
          out.empty() ? "ranks" : "",
          fmt::format(
              "{}: {} step together, the busiest computed {} x the mean, {} of passes had nothing to do", pool.name,
              pool.ranks, amount(pool.rank_balance),
              percent(pool.steps > 0 ? static_cast<double>(pool.dummy_steps) / static_cast<double>(pool.steps) : 0)));
  return out;
}

// What each tier below HBM gave back.
std::string tier_loads(const std::vector<result::TierResult>& tiers) {
  std::string out;
  for (const result::TierResult& tier : tiers)
    out +=
        line(out.empty() ? "KV tiers" : "",
             fmt::format("{}: {} of {} GB used at most, {} tokens fetched ({} of those looked for), reads {} in use, "
                         "writes {}",
                         tier.name, amount(tier.peak_bytes / 1e9), amount(tier.capacity_bytes / 1e9),
                         grouped(tier.fetched_tokens), percent(tier.hit_rate), percent(tier.read_use),
                         percent(tier.write_use)));
  return out;
}

// The largest step of the device that held most.
std::string memory(const result::MemoryResult& m) {
  std::string kinds;
  for (std::size_t kind = 0; kind < models::kMemoryKinds; ++kind)
    if (const double bytes = m.by_kind.bytes[kind].si(); bytes >= 0.005 * m.by_kind.total().si())
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", models::kMemoryKindNames[kind], amount(bytes / 1e9));
  return line("memory", fmt::format("{} of {} GB on {} at most: {}; in a step of {} prompt tokens and {} decodes",
                                    amount(m.by_kind.total().si() / 1e9), amount(m.device_bytes / 1e9), m.group, kinds,
                                    grouped(m.prompt_tokens), grouped(m.decodes)));
}

// What of its time in steps each part of the devices worked at its peak, the busiest first.
std::string parts_in_use(const result::GroupUse& use) {
  std::vector<std::pair<std::string, double>> shares;
  for (const auto& part : use.parts) shares.emplace_back(part.name, part.of_busy);
  const std::string parts = largest_shares(shares);
  return line("in use", fmt::format("{}: {} of the time{}", use.group, percent(use.busy),
                                    parts.empty() ? "" : fmt::format("; of that {}", parts)));
}

std::string money_and_carbon(const result::CostResult& c) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  const auto per_million = [](const std::optional<double>& value, std::string_view unit) {
    return value ? fmt::format(", {} {} per million output tokens", amount(*value), unit) : "";
  };
  if (c.total)
    add(fmt::format("{} {}{}{}", amount(*c.total), c.currency, per_million(c.per_million_output_tokens, c.currency),
                    of_answered(c.per_million_output_tokens, c.per_million_answered_tokens)));
  if (c.capital) add(fmt::format("capital {} {}", amount(*c.capital), c.currency));
  if (c.co2_g)
    add(fmt::format("{} g CO2{}{}", amount(*c.co2_g), per_million(c.co2_g_per_million_output_tokens, "g"),
                    of_answered(c.co2_g_per_million_output_tokens, c.co2_g_per_million_answered_tokens)));
  return out.empty() ? out : line("cost", out);
}

// What became of replicas, pool by pool; empty if nothing happened.
std::string lives(const result::FleetResult& fleet) {
  std::string out;
  for (const result::PoolLife& pool : fleet.pools) {
    std::string what;
    for (const auto& [count, name] : {std::pair{pool.starts, "starts"},
                                      {pool.drains, "drains"},
                                      {pool.conversions, "conversions"},
                                      {pool.losses, "losses"}})
      if (count > 0) what += fmt::format(", {} {}", grouped(count), name);
    if (what.empty()) continue;
    out += line(out.empty() ? "fleet" : "", fmt::format("{}: {} replica-hours{}, available {}", pool.name,
                                                        amount(pool.replica_s / 3600), what, percent(pool.available)));
  }
  if (fleet.retried > 0)
    out += line("",
                fmt::format("{} retries, {} answered tokens lost", grouped(fleet.retried), grouped(fleet.lost_tokens)));
  return out;
}

std::string busiest_links(std::vector<result::LinkResult> links) {
  std::ranges::stable_sort(links, std::greater(), &result::LinkResult::use);
  return line("links", fmt::format("busiest: {}, {} in use, {} GB", links.front().name, percent(links.front().use),
                                   amount(links.front().bytes / 1e9)));
}

std::string searches(const result::RetrievalResult& r) {
  const std::string use = r.utilisation ? fmt::format(", {} in use", percent(*r.utilisation)) : "";
  return line("retrieval", fmt::format("{}: {} queries{}, each waited {}", r.name, grouped(r.queries), use,
                                       duration(r.mean_wait_s)));
}

std::string where_the_time_went(const result::RunResult& r) {
  std::vector<std::pair<std::string, double>> worth;
  for (std::size_t i = 0; i < kTagNames.size(); ++i) worth.emplace_back(kTagNames[i], r.provenance[i]);
  return line("bottleneck",
              fmt::format("{} of step time; batch {}", largest_shares(r.time_share), amount(r.mean_batch))) +
         line("provenance",
              fmt::format("{} of step time{}", largest_shares(worth),
                          r.extrapolated >= 0.001 ? fmt::format("; {} extrapolated", percent(r.extrapolated)) : ""));
}

}  // namespace

std::string summary(const result::RunResult& r, bool colour) {
  std::string figures = latencies(r);
  if (r.window_s > 0) figures += window(r) + rates(r.throughput) + classes(r.classes);
  figures += line("KV cache", fmt::format("{} blocks, {} in use at most, {} of prompt tokens reused, {} preemptions",
                                          grouped(r.kv.blocks), percent(r.kv.peak_use), percent(r.kv.hit_rate),
                                          grouped(r.kv.preemptions)));
  if (r.memory) figures += memory(*r.memory);
  if (!r.kv_tiers.empty()) figures += tier_loads(r.kv_tiers);
  if (r.energy) figures += joules(*r.energy);
  if (r.pools.size() > 1) figures += pool_loads(r.pools);
  figures += rank_loads(r.pools);
  for (const result::GroupUse& use : r.utilisation) figures += parts_in_use(use);
  if (r.cost) figures += money_and_carbon(*r.cost);
  if (r.fleet) figures += lives(*r.fleet);
  if (!r.links.empty()) figures += busiest_links(r.links);
  for (const result::RetrievalResult& retrieval : r.retrieval) figures += searches(retrieval);
  if (r.steps > 0) figures += where_the_time_went(r);
  for (const result::StepTableUse& use : r.step_tables)
    figures += line("steps", fmt::format("{} within the range of {}", percent(use.inside), use.table));
  if (r.intervals) figures += interval_summary(*r.intervals);
  const bool valid = r.verdict.state == State::valid;
  std::string out = headline(r, colour) + precisions(r) + losses(r) + (valid ? figures : painted(figures, "2", colour));
  for (const std::string& warning : r.warnings) out += line("warning", warning);
  return out;
}

}  // namespace llmscape::report
