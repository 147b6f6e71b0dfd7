// SPDX-License-Identifier: Apache-2.0
#include "sim/result/sums.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>

namespace llmscape::result {
namespace {

std::string in_words(std::string_view family) {
  std::string words(family);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace

Tokens count_tokens(const Parts& parts, const serving::Gateway& gateway) {
  const metrics::Observer& seen = parts.observer;
  Tokens tokens;
  tokens.prompt = seen.prompt_tokens;
  tokens.recomputed = seen.recomputed_tokens;
  tokens.invalidated = seen.invalidated_tokens;
  tokens.discarded = seen.discarded_tokens;
  tokens.emitted = seen.emitted_tokens;
  gateway.calls().for_each_open([&](const serving::Request& request) {
    tokens.discarded += request.prefilled + request.reused - request.invalidated;
    tokens.invalidated += request.invalidated;
    tokens.emitted += request.lost;
    if (request.replica >= 0)
      tokens.emitted += parts.replicas[static_cast<std::size_t>(request.replica)]->state().decoding.emitted(request);
  });
  std::int64_t emitted = 0, invalidated = 0, lost = 0;
  for (const serving::Replica* replica : parts.replicas) {
    const serving::ReplicaTotals& totals = replica->totals();
    tokens.computed +=
        replica->state().counts.prefilled_tokens - totals.cut_prefill_tokens - totals.lost_prefill_tokens;
    tokens.discarded -= totals.cut_prefill_tokens;
    lost += totals.lost_prefill_tokens;
    tokens.emitted -= totals.cut_emitted_tokens;
    tokens.reused += replica->state().counts.reused_tokens;
    tokens.fetched += replica->state().counts.fetched_tokens;
    emitted += replica->state().emitted_tokens() - totals.cut_emitted_tokens - totals.lost_emitted_tokens;
    invalidated += replica->state().counts.invalidated_tokens;
  }
  // What a fault cut short is computed by nobody. Requests count it as computed twice where they were answered by
  // another replica, and as in vain where they were not.
  const std::int64_t twice = std::min(lost, tokens.recomputed);
  tokens.recomputed -= twice;
  tokens.discarded -= lost - twice;
  if (tokens.computed + tokens.reused != tokens.prompt + tokens.recomputed + tokens.invalidated + tokens.discarded)
    throw std::logic_error("INV-5: prompt tokens do not add up: computed " + std::to_string(tokens.computed) +
                           " + reused " + std::to_string(tokens.reused) + ", prompt " + std::to_string(tokens.prompt) +
                           " + recomputed " + std::to_string(tokens.recomputed) + " + invalidated " +
                           std::to_string(tokens.invalidated) + " + discarded " + std::to_string(tokens.discarded));
  if (invalidated != tokens.invalidated || tokens.recomputed < 0)
    throw std::logic_error("INV-5: later versions of prompts invalidated " + std::to_string(invalidated) +
                           " tokens in engines and " + std::to_string(tokens.invalidated) + " of requests, and " +
                           std::to_string(tokens.recomputed) + " were computed again");
  if (emitted != tokens.emitted)
    throw std::logic_error("INV-5: engines emitted " + std::to_string(emitted) + " tokens, requests received " +
                           std::to_string(tokens.emitted));
  return tokens;
}

namespace {

// Stores of one section, as their figures are put together.
struct SectionSum {
  std::vector<serving::KvFigure> figures;
  double stores = 0, preemptions = 0;

  void add(const std::vector<serving::KvFigure>& more, std::int64_t preempted) {
    ++stores;
    preemptions += static_cast<double>(preempted);
    if (figures.empty()) figures = more;
    else
      for (std::size_t i = 0; i < more.size(); ++i) {
        double& value = figures[i].value;
        value = more[i].over == serving::KvFigure::Over::most ? std::max(value, more[i].value) : value + more[i].value;
      }
  }
  // Nothing of a share of nothing.
  [[nodiscard]] std::optional<double> value(const serving::KvFigure& figure, Seconds end) const {
    using Over = serving::KvFigure::Over;
    if (figure.over == Over::of_time) return end > Seconds() ? figure.value / (stores * end.si()) : figure.value;
    if (figure.over != Over::of_preemptions) return figure.value;
    return preemptions > 0 ? std::optional(figure.value / preemptions) : std::nullopt;
  }
};

}  // namespace

double StoreResult::at(std::string_view name) const {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  if (found == figures.end()) throw std::out_of_range(section + " has no " + std::string(name));
  return found->value;
}

const StoreResult& RunResult::kv_store(std::string_view section) const {
  const auto found = std::ranges::find(kv_stores, section, &StoreResult::section);
  if (found == kv_stores.end()) throw std::out_of_range("no replica has " + std::string(section));
  return *found;
}

std::vector<StoreResult> kv_stores(const Parts& parts, Seconds end) {
  std::vector<std::pair<std::string_view, SectionSum>> sums;
  for (const serving::Replica* replica : parts.replicas)
    for (const auto& store : replica->state().kv.stores()) {
      const std::string_view section = store->section();
      if (section.empty()) continue;
      auto sum = std::ranges::find(sums, section, &std::pair<std::string_view, SectionSum>::first);
      if (sum == sums.end()) sum = sums.insert(sums.end(), {section, {}});
      sum->second.add(store->figures(end), replica->state().counts.preemptions);
    }
  std::vector<StoreResult> results;
  for (const auto& [section, sum] : sums) {
    StoreResult& result = results.emplace_back(StoreResult{std::string(section), {}});
    for (const serving::KvFigure& figure : sum.figures)
      if (const auto value = sum.value(figure, end))
        result.figures.push_back({std::string(figure.name), *value, figure.whole});
  }
  return results;
}

namespace {

void add_step_tables(const Parts& parts, const std::vector<serving::ReplicaTotals>& totals, RunResult& result) {
  for (std::size_t r = 0; r < totals.size(); ++r) {
    std::string table = parts.devices[r]->step_table();
    if (table.empty()) continue;
    auto use = std::ranges::find(result.step_tables, table, &StepTableUse::table);
    if (use == result.step_tables.end()) use = result.step_tables.insert(use, StepTableUse{std::move(table), 0, 0});
    use->steps += totals[r].steps;
    use->inside += totals[r].tabled_steps;
  }
  for (StepTableUse& use : result.step_tables)
    if (use.steps > 0) use.inside /= static_cast<double>(use.steps);
}

}  // namespace

void add_time_shares(const Parts& parts, const std::vector<serving::ReplicaTotals>& totals, RunResult& result) {
  std::array<double, hardware::kOperatorFamilies> seconds{};
  double all = 0;
  add_step_tables(parts, totals, result);
  for (const auto& t : totals) result.extrapolated += t.extrapolated.si();
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const auto tags = parts.devices[r]->provenance();
    for (std::size_t f = 0; f < seconds.size(); ++f) {
      const double some = totals[r].time_of(f).si();
      seconds[f] += some;
      result.provenance[static_cast<std::size_t>(tags[f])] += some;
      all += some;
    }
  }
  if (all <= 0) return;
  for (double& share : result.provenance) share /= all;
  result.extrapolated /= all;
  for (std::size_t f = 0; f < seconds.size(); ++f)
    if (seconds[f] > 0) result.time_share.emplace_back(hardware::kOperatorFamilyNames[f], seconds[f] / all);
  const auto most = std::max_element(result.time_share.begin(), result.time_share.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  result.bottleneck = in_words(most->first);
}

std::vector<GroupTime> group_times(const Parts& parts, const serving::Gateway& gateway, const Portion& portion) {
  std::map<std::string, GroupTime> times;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    GroupTime& time = times[parts.devices[r]->name];
    const auto devices = static_cast<double>(parts.devices_counted[r]);
    time.group = parts.devices[r]->name;
    time.devices += parts.devices_counted[r];
    time.owned += portion.length() * devices;
    time.provisioned += portion.devices_on(parts, gateway, r) * devices;
  }
  std::vector<GroupTime> all;
  for (auto& [group, time] : times) all.push_back(std::move(time));
  if (const auto& hosts = parts.retrieval) {
    const Seconds on = static_cast<double>(hosts->count) * portion.length();
    all.push_back({hosts->host.name, hosts->count, on, on});
  }
  return all;
}

}  // namespace llmscape::result
