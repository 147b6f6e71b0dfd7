// SPDX-License-Identifier: Apache-2.0
#include "sim/result/cost.hpp"

#include <algorithm>

#include "sim/result/result.hpp"

namespace llmscape::result {
namespace {

const Fields<DevicePrice>& device_price_fields() {
  static const Fields<DevicePrice> fields = [] {
    using P = DevicePrice;
    Fields<P> f("device_price",
                "what one device of a group costs; a device made of others (pipeline, attention_offload) is one, with "
                "all of them");
    f.add("capital", &P::capital, "its price").at_least(0);
    f.add("lifetime", &P::lifetime, "the time over which the price is written off, used or not").above(0);
    f.add("hourly", &P::hourly, "its rent: 4 /h, for the time that it is switched on").at_least(0);
    f.check([](const P& p, const YamlNode& node, Diagnostics& d) {
      if (p.lifetime && !p.capital) d.error(node.where, "'lifetime' has no effect without 'capital'");
      if (!p.capital && !p.hourly) d.error(node.where, "a price is 'capital', 'hourly' or both");
    });
    return f;
  }();
  return fields;
}

bool has_price(const CostConfig& cost) { return cost.electricity || !cost.devices.empty(); }

}  // namespace

const Fields<CostConfig>& cost_fields() {
  static const Fields<CostConfig> fields = [] {
    using C = CostConfig;
    Fields<C> f("cost", "your own prices and the carbon of your electricity; results have no money without them");
    f.add("currency", &C::currency, "what amounts of money are in: USD, EUR; a name only, nothing is converted");
    f.add_group("devices", &C::devices, device_price_fields(),
                "prices by the name of the group of devices, or of the kind of host that searches");
    f.add("electricity", &C::electricity, "the price of energy: 0.25 /kWh").at_least(0);
    f.add("pue", &C::pue, "power usage effectiveness: energy of the site / energy of its devices").at_least(1);
    f.add("carbon", &C::carbon, "CO2 of energy: 380 g/kWh").at_least(0);
    f.check([](const C& c, const YamlNode& node, Diagnostics& d) {
      if (has_price(c) && !c.currency) d.error(node.where, "prices need a 'currency'", "currency: USD");
    });
    return f;
  }();
  return fields;
}

void check_cost(const CostConfig& cost, const std::vector<std::string>& groups, const YamlNode& root,
                Diagnostics& diagnostics) {
  const YamlNode* section = root.find("cost");
  const YamlNode* devices = section ? section->find("devices") : nullptr;
  if (!devices) return;
  for (const YamlNode::Entry& entry : devices->entries)
    if (entry.value.origin.starts_with("preset "))
      continue;  // a list of prices may know more devices than the scenario
    else if (cost.devices.contains(entry.key) && std::ranges::find(groups, entry.key) == groups.end())
      diagnostics.error(entry.key_where, "there is no group of devices '" + entry.key + "'",
                        did_you_mean(entry.key, groups));
}

CostResult cost_of(const CostConfig& cost, const std::vector<GroupTime>& groups, const EnergyResult& energy,
                   double emitted, double answered) {
  CostResult result;
  const auto per_million = [](double amount, double tokens) {
    return tokens > 0 ? std::optional(amount / tokens * 1e6) : std::nullopt;
  };
  const Joules site = Joules(energy.total_joules - energy.drafting_joules) * cost.pue;  // users pay for theirs
  double rent = 0, written_off = 0, capital = 0;
  bool rents = false, writes_off = false, owns = false;
  for (const GroupTime& group : groups) {
    const auto found = cost.devices.find(group.group);
    if (found == cost.devices.end()) {
      if (!cost.devices.empty()) result.unpriced.push_back(group.group);
      continue;
    }
    const DevicePrice& price = found->second;
    if (price.hourly) rent += *price.hourly * group.provisioned;
    if (price.capital) capital += *price.capital * static_cast<double>(group.devices);
    if (price.capital && price.lifetime) written_off += *price.capital * (group.owned / *price.lifetime);
    rents = rents || price.hourly;
    owns = owns || price.capital;
    writes_off = writes_off || price.lifetime;
    if (price.capital && !price.lifetime) result.not_written_off.push_back(group.group);
  }
  if (rents) result.by_kind.emplace_back("rent", rent);
  if (writes_off) result.by_kind.emplace_back("write_off", written_off);
  if (cost.electricity) result.by_kind.emplace_back("electricity", *cost.electricity * site);
  // A sum without the price of a group would make it the cheapest of all.
  const bool complete = result.unpriced.empty();
  if (owns && complete) result.capital = capital;
  if (result.by_kind.empty()) result.not_written_off.clear();  // a capital alone is one that somebody wants to see
  if (!result.by_kind.empty()) result.currency = cost.currency.value_or("");
  if (!result.by_kind.empty() && complete) {
    result.total = 0;
    for (const auto& [kind, amount] : result.by_kind) *result.total += amount;
    result.per_million_output_tokens = per_million(*result.total, emitted);
    result.per_million_answered_tokens = per_million(*result.total, answered);
  }
  if (cost.carbon) {
    result.co2_g = (*cost.carbon * site).si();
    result.co2_g_per_million_output_tokens = per_million(*result.co2_g, emitted);
    result.co2_g_per_million_answered_tokens = per_million(*result.co2_g, answered);
  }
  return result;
}

}  // namespace llmscape::result
