// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "hardware/device.hpp"
#include "sim/report/units.hpp"
#include "sim/serving/phases.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using Section = Explanation::Section;
using Shares = std::vector<std::pair<std::string, double>>;

Json at(const Json& result, const char* pointer) { return result.value(Json::json_pointer(pointer), Json()); }

double number(const Json& result, const char* pointer) {
  const Json value = at(result, pointer);
  return value.is_number() ? value.get<double>() : 0;
}

std::string words_of(std::string_view name) {
  static const std::vector<std::pair<std::string_view, std::string_view>> kWords = {
      {"front_end", "front end: reading and tokenising"},
      {"held", "held in the gateway"},
      {"lost", "at replicas that were lost"},
      {"queued", "waiting in the queue"},
      {"fetching", "fetching KV entries from a tier below HBM"},
      {"moving", "KV entries on their way"},
      {"transfer", "waiting for KV entries from the prefill pool"},
      {"preempted", "waiting after a preemption"},
      {"recompute", "computing again after a preemption"},
      {"overhead", "launches, latencies and the host"},
      {"links", "links between devices"},
      {"static", "idle power of devices that are on"},
  };
  const auto found = std::ranges::find(kWords, name, &std::pair<std::string_view, std::string_view>::first);
  std::string words(found == kWords.end() ? name : found->second);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// "71.0 % waiting in the queue, 28.0 % prefill": the largest first, as far as they matter; `before` stands before the
// name of each.
std::string largest(Shares shares, std::size_t most = 3, std::string_view before = "") {
  std::ranges::stable_sort(shares, std::greater(), &Shares::value_type::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, shares.size()) && shares[i].second >= 0.01; ++i)
    text += fmt::format("{}{} {}{}", i > 0 ? ", " : "", percent(shares[i].second), before, words_of(shares[i].first));
  return text;
}

// The parts of a time that took any, by name without their "_s".
Shares parts_of(const Json& time) {
  Shares parts;
  for (const auto& [key, value] : time.items())
    if (key != "whole_s" && key.ends_with("_s") && value > 0) parts.emplace_back(key.substr(0, key.size() - 2), value);
  return parts;
}

Shares in_shares(Shares parts) {
  double sum = 0;
  for (const auto& [name, value] : parts) sum += value;
  for (auto& [name, value] : parts) value = sum > 0 ? value / sum : 0;
  return parts;
}

bool before_first_token(std::string_view phase) {
  const auto first = serving::kRequestPhaseNames.begin();
  return std::find(first, first + serving::kPhasesOfFirstToken, phase) != first + serving::kPhasesOfFirstToken;
}

Shares of_first_token(const Shares& parts, bool before) {
  Shares some;
  std::ranges::copy_if(parts, std::back_inserter(some),
                       [&](const auto& part) { return before_first_token(part.first) == before; });
  return in_shares(some);
}

double share_in(const Shares& shares, std::string_view name) {
  const auto found = std::ranges::find(shares, name, &Shares::value_type::first);
  return found == shares.end() ? 0 : found->second;
}

// Why requests wait in queues. In the window, as a run that begins and ends with little to do was as saturated in
// between.
std::string cause_of_queue(const Json& result) {
  std::string busiest;
  double busy = 0;
  const Json groups = at(result, "/utilisation");
  for (const auto& [group, use] : groups.items())
    if (use.value("busy", 0.0) > busy) {
      busiest = group;
      busy = use.value("busy", 0.0);
    }
  std::string cause;
  if (number(result, "/kv/peak_use") > 0.99)
    cause = fmt::format("The KV cache is full at times ({} preemptions). ",
                        grouped(static_cast<std::int64_t>(number(result, "/kv/preemptions"))));
  if (busy > 0.9)
    return cause + fmt::format("{} runs steps {} of the window: it is saturated.", busiest, percent(busy));
  if (!cause.empty()) return cause;
  if (const double loads = number(result, "/turns/model_loads"); loads > 0)
    return fmt::format(
        "No group of devices is saturated ({} is busy {} of the window), but models take turns: their weights were "
        "loaded {} times, {} in all, and requests wait for that and for the turn of their model.",
        busiest, percent(busy), grouped(static_cast<std::int64_t>(loads)),
        duration(number(result, "/turns/model_load_s")));
  return fmt::format(
      "No group of devices is saturated ({} is busy {} of the window): requests wait for a running step to end, or for "
      "the batcher's limits.",
      busiest, percent(busy));
}

std::vector<std::string> about_requests(const Json& result) {
  const Json time = at(result, "/breakdown/requests");
  if (!time.is_object()) return {};
  const Shares parts = parts_of(time);
  const Shares first = of_first_token(parts, true);
  const double ttft = number(result, "/latency/ttft_s/mean");
  std::vector<std::string> answer;
  answer.push_back(fmt::format("TTFT is {} in the mean: {}.", duration(ttft), largest(first)));
  if (share_in(first, "queued") > 0.3) answer.back() += ' ' + cause_of_queue(result);
  const double later = number(result, "/breakdown/requests/whole_s") - ttft;
  if (later > 0)
    answer.push_back(fmt::format("From there to the last token it is {}: {}.", duration(later),
                                 largest(of_first_token(parts, false))));
  return answer;
}

// Where each task is one call, its time is that of the call.
bool more_than_calls(const Json& tasks) {
  return tasks.is_object() && share_in(in_shares(parts_of(tasks)), "model_calls") < 1;
}

std::vector<std::string> about_tasks(const Json& result) {
  const Json time = at(result, "/breakdown/tasks");
  if (!more_than_calls(time)) return {};
  return {fmt::format("A task takes {} in the mean: {}.", duration(time.value("whole_s", 0.0)),
                      largest(in_shares(parts_of(time))))};
}

// Seconds of a group's steps by what they wait for.
Shares bounds_of(const Json& group) {
  Shares bounds;
  for (const std::string_view name : hardware::kBoundNames) {
    double seconds = 0;
    for (const auto& [family, cost] : group.at("families").items())
      seconds += cost.at("bound_by").value(std::string(name), 0.0);
    if (seconds > 0) bounds.emplace_back(name, seconds);
  }
  return bounds;
}

std::vector<std::string> about_steps(const Json& result) {
  std::vector<std::string> answer;
  const Json groups = at(result, "/breakdown/steps");
  for (const auto& [name, group] : groups.items()) {
    const Shares bounds = in_shares(bounds_of(group));
    Shares families;
    for (const auto& [family, cost] : group.at("families").items()) families.emplace_back(family, cost.at("seconds"));
    const auto most = std::ranges::max_element(bounds, {}, &Shares::value_type::second);
    if (most == bounds.end()) continue;
    answer.push_back(fmt::format("Step time of {} is bound {}; it is {}.", name, largest(bounds, 3, "by "),
                                 largest(in_shares(families), 2)));
    if (most->second < 0.999)
      answer.back() += fmt::format(" With {} infinitely fast, steps would be at most {:.2f} times as fast.",
                                   words_of(most->first), 1 / (1 - most->second));
  }
  return answer;
}

std::vector<std::string> about_joules(const Json& result) {
  const Json joules = at(result, "/overall/energy/joules");
  if (!joules.is_object()) return {};
  Shares shares;
  for (const auto& [component, value] : joules.items()) shares.emplace_back(component, value);
  return {fmt::format("{} J over the whole run: {}.", amount(number(result, "/overall/energy/total_joules")),
                      largest(in_shares(shares)))};
}

// Calls that were not answered: the times are those of the others.
std::vector<std::string> about_calls(const Json& result) {
  const Json requests = at(result, "/requests");
  if (!requests.is_object()) return {};
  std::string lost;
  for (const char* how : {"dropped", "timed_out", "failed"})
    if (const auto count = requests.value(how, std::int64_t{0}); count > 0)
      lost += fmt::format("{}{} {}", lost.empty() ? "" : ", ", grouped(count), words_of(how));
  if (lost.empty()) return {};
  return {fmt::format("Of {} calls, {}: all times are those of calls that were answered.",
                      grouped(requests.value("injected", std::int64_t{0})), lost)};
}

std::vector<std::string> about_verdict(const Json& result) {
  if (at(result, "/verdict/state") == "valid") return {};
  std::string text = "The run is NOT VALID, so that its means depend on its length";
  for (const Json& reason : at(result, "/verdict/reasons")) text += "; " + reason.get<std::string>();
  return {text + '.'};
}

Section time_section(const Json& time, std::string key, const std::string& whose) {
  const Shares parts = parts_of(time);
  const bool requests = key == "requests";
  Section section{std::move(key),
                  fmt::format("Where a {}'s time went: mean of {}", whose, grouped(time.value("count", 0))),
                  {{"part", whose, ""}, {"seconds", "mean", "s"}, {"share", "of it", "share"}},
                  {}};
  if (requests) section.columns.push_back({"ttft_share", "of TTFT", "share"});
  const double whole = time.value("whole_s", 0.0);
  const Shares first = of_first_token(parts, true);
  for (const auto& [name, seconds] : parts) {
    auto& row = section.rows.emplace_back();
    row = {words_of(name), seconds, whole > 0 ? seconds / whole : 0};
    if (!requests) continue;
    if (before_first_token(name)) row.emplace_back(share_in(first, name));
    else row.emplace_back();
  }
  return section;
}

Section steps_section(const Json& groups) {
  Section section{
      "steps",
      "Where the time of all steps of the run went, and what it waited for",
      {{"group", "group", ""}, {"family", "operators", ""}, {"seconds", "time", "s"}, {"share", "of it", "share"}},
      {}};
  std::vector<std::string> bounds;  // those that something waited for
  for (const std::string_view bound : hardware::kBoundNames)
    if (std::ranges::any_of(groups, [&](const Json& group) { return share_in(bounds_of(group), bound) > 0; }))
      bounds.emplace_back(bound);
  for (const std::string& bound : bounds) section.columns.push_back({bound, bound, "share"});
  section.columns.push_back({"joules", "dynamic joules", "J"});
  for (const auto& [name, group] : groups.items()) {
    const double seconds = group.at("seconds");
    const auto add = [&, &name = name](const std::string& family, double some, double joules, const Shares& waits) {
      auto& row = section.rows.emplace_back();
      row = {name, words_of(family), some, seconds > 0 ? some / seconds : 0};
      for (const std::string& bound : bounds) {
        const double share = share_in(waits, bound);
        if (share > 0) row.emplace_back(some > 0 ? share / some : 0);
        else row.emplace_back();
      }
      row.emplace_back(joules);
    };
    for (const auto& [family, cost] : group.at("families").items()) {
      Shares waits;
      for (const auto& [bound, time] : cost.at("bound_by").items()) waits.emplace_back(bound, time);
      add(family, cost.at("seconds"), cost.at("joules"), waits);
    }
    add("all", seconds, group.at("joules"), bounds_of(group));
  }
  return section;
}

Section joules_section(const Json& energy) {
  Section section{
      "joules",
      "Where the joules of the whole run went",
      {{"group", "group", ""}, {"component", "component", ""}, {"joules", "joules", "J"}, {"share", "of all", "share"}},
      {}};
  const double total = energy.value("total_joules", 0.0);
  const Json groups = at(energy, "/by_group");
  for (const auto& [group, components] : groups.items())
    for (const auto& [component, joules] : components.items())
      section.rows.push_back(
          {group, words_of(component), joules.get<double>(), total > 0 ? joules.get<double>() / total : 0});
  return section;
}

Section utilisation_section(const Json& groups) {
  Section section{"utilisation",
                  "How busy devices were over the whole run, and their parts while they ran steps",
                  {{"group", "group", ""}, {"busy", "busy", "share"}},
                  {}};
  std::vector<std::string> parts;
  for (const std::string_view part : hardware::kResourceNames)
    if (std::ranges::any_of(groups, [&](const Json& use) { return use.contains(std::string(part)); }))
      parts.emplace_back(part);
  for (const std::string& part : parts) section.columns.push_back({part, part, "share"});
  for (const auto& [group, use] : groups.items()) {
    auto& row = section.rows.emplace_back();
    row = {group, use.value("busy", 0.0)};
    for (const std::string& part : parts) {
      const Json share = use.value(Json::json_pointer("/of_busy/" + part), Json());
      if (share.is_number()) row.emplace_back(share.get<double>());
      else row.emplace_back();
    }
  }
  return section;
}

Section provenance_section(const Json& provenance) {
  Section section{"provenance",
                  "What the times of steps rest on",
                  {{"tag", "figures", ""}, {"share", "of step time", "share"}},
                  {}};
  for (const auto& [tag, share] : provenance.items()) section.rows.push_back({tag, share.get<double>()});
  return section;
}

}  // namespace

Explanation explain(const Json& result) {
  Explanation out;
  const std::string state = result.at("verdict").value("state", "");
  out.about = fmt::format("{} on {}, seed {}: {}", result.value("model", ""), result.value("hardware", ""),
                          result.value("seed", 0), state == "valid" ? state : "NOT VALID, " + state);
  for (const auto& about : {about_verdict, about_calls, about_requests, about_tasks, about_steps, about_joules})
    for (std::string& sentence : about(result)) out.answer.push_back(std::move(sentence));

  const auto add = [&out, &result](const char* pointer, const auto& make) {
    if (const Json part = at(result, pointer); part.is_object() && !part.empty())
      if (Section section = make(part); !section.rows.empty()) out.sections.push_back(std::move(section));
  };
  add("/breakdown/requests", [](const Json& time) { return time_section(time, "requests", "request"); });
  if (more_than_calls(at(result, "/breakdown/tasks")))
    add("/breakdown/tasks", [](const Json& time) { return time_section(time, "tasks", "task"); });
  add("/breakdown/steps", steps_section);
  add("/overall/energy", joules_section);
  add("/overall/utilisation", utilisation_section);
  add("/provenance", provenance_section);
  for (const Json& warning : at(result, "/warnings")) out.warnings.push_back(warning);
  return out;
}

}  // namespace llmscape::report
