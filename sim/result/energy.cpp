// SPDX-License-Identifier: Apache-2.0
#include "sim/result/energy.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

#include "sim/metrics/energy_ledger.hpp"
#include "sim/result/retrieval.hpp"

namespace llmscape::result {
namespace {

// What the devices of a replica draw whether they work or not; those of several are counted at the first.
Watts standing_power(const Parts& parts, std::size_t replica) {
  return parts.devices[replica]->idle_power() * static_cast<double>(parts.devices_counted[replica]);
}

metrics::EnergyLedger ledger_of(const Parts& parts, const serving::Gateway& gateway, const Portion& portion) {
  metrics::EnergyLedger ledger;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    const std::string& group = parts.devices[r]->name;
    const auto& energy = portion.replicas[r].energy;
    for (std::size_t component = 0; component < energy.size(); ++component)
      ledger.spend(group, component, energy[component]);
    ledger.spend(group, metrics::kStatic, standing_power(parts, r) * portion.devices_on(parts, gateway, r));
    if (const Joules drafts = portion.replicas[r].drafting; drafts > Joules())
      ledger.spend(name_of_drafting(*parts.drafting[r]), metrics::kDrafting, drafts);
  }
  if (const auto& hosts = parts.retrieval) {
    ledger.spend(name_of_hosts(*hosts), metrics::kRetrieval, joules_of_searching(*hosts, portion.searching));
    ledger.spend(name_of_hosts(*hosts), metrics::kStatic, idle_power(*hosts) * portion.length());
  }
  return ledger;
}

// Of the joules that replicas and hosts spent, those behind which an assumed figure stands.
std::vector<std::pair<std::string, Joules>> assumed_joules(const Parts& parts, const serving::Gateway& gateway,
                                                           const Portion& portion) {
  Joules work, idle, retrieval, drafts;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    const hardware::EnergyTags tags = parts.devices[r]->energy_tags();
    if (tags.dynamic == Tag::assumed)
      for (const Joules component : portion.replicas[r].energy) work += component;
    else if (tags.link == Tag::assumed)
      work += portion.replicas[r].energy[static_cast<std::size_t>(hardware::EnergyComponent::interconnect)];
    if (const hardware::Device* drafting = parts.drafting[r];
        drafting && drafting->energy_tags().dynamic == Tag::assumed)
      drafts += portion.replicas[r].drafting;
    if (tags.idle == Tag::assumed) idle += standing_power(parts, r) * portion.devices_on(parts, gateway, r);
  }
  if (const auto& hosts = parts.retrieval) {
    const bool idle_is = hosts->host.idle.tag == Tag::assumed, peak_is = hosts->host.tdp.tag == Tag::assumed;
    if (idle_is) retrieval += idle_power(*hosts) * portion.length();
    // What a core draws beyond its share of the idle host follows from both.
    if (idle_is || peak_is) retrieval += joules_of_searching(*hosts, portion.searching);
  }
  return {{"work", work}, {"idle", idle}, {"retrieval", retrieval}, {"drafts", drafts}};
}

// What the portion would come to at the power limits of all devices and hosts.
std::optional<double> joules_at_limit(const Parts& parts, const serving::Gateway& gateway, const Portion& portion) {
  Joules most;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    const Watts headroom = parts.devices[r]->headroom() * static_cast<double>(parts.devices_counted[r]);
    if (parts.devices[r]->headroom() <= Watts() || parts.drafting[r]) return std::nullopt;
    most += (standing_power(parts, r) + headroom) * portion.devices_on(parts, gateway, r);
  }
  if (const auto& hosts = parts.retrieval)
    most += static_cast<double>(hosts->count) * *hosts->host.tdp * portion.length();
  return most.si();
}

void add_boundary(const Parts& parts, EnergyResult& result) {
  std::map<hardware::EnergyBoundary, std::string> found;
  std::map<std::string, std::string> by_group;
  const auto add = [&](const hardware::Device& device, const std::string& group) {
    const std::string own(hardware::name_of(device.boundary()));
    found.emplace(device.boundary(), own);
    by_group.emplace(group, own);
  };
  for (std::size_t r = 0; r < parts.devices.size(); ++r) {
    add(*parts.devices[r], parts.devices[r]->name);
    if (parts.replicas[r]->totals().drafting > Joules()) add(*parts.drafting[r], name_of_drafting(*parts.drafting[r]));
  }
  if (found.empty()) return;
  result.boundary.clear();
  for (const auto& [boundary, name] : found) result.boundary += (result.boundary.empty() ? "" : "+") + name;
  if (found.size() > 1) result.boundary_by_group.assign(by_group.begin(), by_group.end());
}

// Components that nothing was spent on are left out, but for static power: a device without any is worth seeing. What
// users' devices draw at rest is not counted.
std::vector<std::pair<std::string, double>> by_component(const metrics::EnergyLedger::Row& row) {
  std::vector<std::pair<std::string, double>> joules;
  for (std::size_t spending = 0; spending < row.size(); ++spending)
    if (row[spending] > Joules() || (spending == metrics::kStatic && row[metrics::kDrafting] == Joules()))
      joules.emplace_back(metrics::name_of_spending(spending), row[spending].si());
  return joules;
}

// What devices draw whether they work or not, over the time in which they were switched on: replicas that were on for
// the same time with the same power are added at once.
class Standing {
 public:
  void add(const Parts& parts, const serving::Gateway& gateway, std::size_t replica, Seconds end) {
    for (const auto& span : devices_on(parts, gateway, replica, end))
      ++spans_[{span.from, span.to, standing_power(parts, replica) * (span.to - span.from)}];
  }
  void add_to(metrics::PowerSeries& power) const {
    for (const auto& [span, times] : spans_) {
      const auto& [from, to, energy] = span;
      if (times == 1) {
        power.add(from, to, energy);
        continue;
      }
      metrics::PowerSeries one;
      one.add(from, to, energy);
      power.add(one, times);
    }
  }

 private:
  std::map<std::tuple<Seconds, Seconds, Joules>, std::int64_t> spans_;
};

}  // namespace

std::map<std::string, metrics::PowerSeries> power_by_group(const Parts& parts, const serving::Gateway& gateway,
                                                           Seconds end) {
  std::map<std::string, metrics::PowerSeries> power = *parts.power;
  std::map<std::string, Standing> standing;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) standing[parts.devices[r]->name].add(parts, gateway, r, end);
  for (const auto& [group, spans] : standing) spans.add_to(power[group]);
  return power;
}

metrics::PowerSeries power_of(const Parts& parts, const serving::Gateway& gateway, const Portion& whole) {
  metrics::PowerSeries power;
  for (const auto& [group, dynamic] : *parts.power) power.add(dynamic);
  Standing standing;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) standing.add(parts, gateway, r, whole.to);
  standing.add_to(power);
  if (power.end() > whole.to * (1 + 1e-9))
    throw std::logic_error("INV-6: joules were spent until " + std::to_string(power.end().si()) + " s in a run of " +
                           std::to_string(whole.to.si()) + " s");
  if (const auto& hosts = parts.retrieval)  // their mean power: it is not known over time
    power.add(Seconds(), whole.to, retrieval_joules(*hosts, whole.searching, whole.to));
  return power;
}

void check_energy(const Parts& parts, const serving::Gateway& gateway, const Portion& whole,
                  const metrics::PowerSeries& power) {
  ledger_of(parts, gateway, whole).check(power.total());
}

EnergyResult energy_of(const Parts& parts, const serving::Gateway& gateway, const Portion& portion,
                       const metrics::PowerSeries& power, double tokens, double answered, double requests) {
  const metrics::EnergyLedger ledger = ledger_of(parts, gateway, portion);
  EnergyResult result;
  result.joules = by_component(ledger.sums());
  for (const auto& [group, row] : ledger.by_group()) result.by_group.emplace_back(group, by_component(row));
  result.total_joules = ledger.total().si();
  result.drafting_joules = ledger.sums()[metrics::kDrafting].si();
  if (tokens > 0) {
    result.joules_per_output_token = result.total_joules / tokens;
    if (result.total_joules > 0) result.output_tokens_per_joule = tokens / result.total_joules;
  }
  if (answered > 0) result.joules_per_answered_token = result.total_joules / answered;
  if (requests > 0) result.joules_per_request = result.total_joules / requests;
  if (portion.length() > Seconds()) result.mean_w = result.total_joules / portion.length().si();
  // What a slice that the end cuts short draws is in the mean alone.
  result.peak_w = std::max(power.peak(portion.from, portion.to).si(), result.mean_w);
  result.peak_window_s = power.slice().si();
  add_boundary(parts, result);
  Joules assumed;
  for (const auto& [what, joules] : assumed_joules(parts, gateway, portion)) {
    assumed += joules;
    if (joules > Joules()) result.assumed.emplace_back(what, joules.si() / result.total_joules);
  }
  if (result.total_joules > 0) result.assumed_share = std::min(1.0, assumed.si() / result.total_joules);
  result.most_joules = joules_at_limit(parts, gateway, portion);
  if (result.total_joules > 0) result.idle_share = ledger.sums()[metrics::kStatic].si() / result.total_joules;
  return result;
}

}  // namespace llmscape::result
