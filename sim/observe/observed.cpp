// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

namespace llmscape::observe {
namespace {

// Arguments that servers of one fleet do not share.
constexpr std::array<std::string_view, 6> kOwnArguments = {
    "host", "port", "api_key", "node_rank", "data_parallel_rank", "nccl_port"};

// What all is known of a call by which it can be told from others.
auto marks_of(const Request& r) { return std::tuple(r.arrival, r.prompt_tokens, r.output_tokens, r.ttft, r.e2e); }

}  // namespace

std::optional<double> Request::tpot() const {
  if (!ttft || !e2e || output_tokens < 2) return std::nullopt;
  return (*e2e - *ttft) / static_cast<double>(output_tokens - 1);
}

void Observed::note_unanswered(std::size_t sent) {
  left_out = sent - requests.size();
  if (left_out > 0)
    notes.push_back(fmt::format(
        "{} of {} requests failed or had no answer and are not replayed: the server had them too", left_out, sent));
  if (const auto given_up = std::ranges::count_if(requests, [](const Request& r) { return r.gave_up.has_value(); }))
    notes.push_back(
        fmt::format("{} of {} requests were given up by their clients, and are so in the replay", given_up, sent));
}

// All figures of a metric are of one file: the mean of one and the median of another are of no run.
void Observed::add_numbers(const Observed& more, const std::string& file) {
  const auto metric_of = [](const std::string& name) { return name.substr(0, name.find('.')); };
  std::set<std::string> known, passed_over;
  for (const auto& [name, value] : numbers) known.insert(metric_of(name));
  for (const auto& [name, value] : more.numbers)
    if (known.contains(metric_of(name))) passed_over.insert(metric_of(name));
    else numbers.emplace(name, value);
  for (const auto& [name, ends] : more.within)
    if (!known.contains(metric_of(name))) within.emplace(name, ends);
  if (!passed_over.empty())
    notes.push_back(fmt::format("{} as {} tells them are left out: a file before it tells them too",
                                fmt::join(passed_over, ", "), file));
}

// Logs of servers that were started otherwise: one scenario is made of all.
void Observed::note_unlike(const Observed& more, const std::string& file) {
  if (!settings.contains("engine")) return;
  std::vector<std::string> unlike;
  for (const char* name : {"engine", "version", "model"})
    if (const auto known = std::as_const(settings).find(name), other = more.settings.find(name);
        known != settings.end() && other != more.settings.end() && known->second != other->second)
      unlike.push_back(fmt::format("{} {} for {}", name, other->second, known->second));
  if (!arguments.empty() && !more.arguments.empty()) {
    std::set<std::string> names;
    for (const auto* each : {&std::as_const(arguments), &more.arguments})
      for (const auto& [name, value] : *each) names.insert(name);
    for (const std::string& name : names) {
      if (std::ranges::find(kOwnArguments, name) != kOwnArguments.end()) continue;
      const auto known = std::as_const(arguments).find(name), other = more.arguments.find(name);
      if (known == arguments.end() || other == more.arguments.end() || known->second != other->second)
        unlike.push_back(name);
    }
  }
  if (!unlike.empty())
    notes.push_back(
        fmt::format("the server of {} was started otherwise than those before it ({}): the replay has one "
                    "kind, with what was read last",
                    file, fmt::join(unlike, ", ")));
}

// Records that a file before tells too, as where a part was joined to the whole. What has no id is counted, and told.
void Observed::leave_out_repeated(Observed& more, const std::string& file) {
  std::size_t repeated = 0;
  for (const std::uint64_t record : more.records) repeated += records.contains(record) ? 1 : 0;
  if (repeated > 0) {
    const std::size_t before = more.requests.size();
    std::erase_if(more.requests, [this](const Request& r) { return r.id != 0 && records.contains(r.id); });
    const std::size_t failed = repeated - std::min(repeated, before - more.requests.size());
    more.left_out -= std::min(more.left_out, failed);
    notes.push_back(
        fmt::format("{} of {} records of {} are in a file before it (x_request_id and start) and are not "
                    "counted",
                    repeated, more.records.size(), file));
  }
  std::set<decltype(marks_of(Request{}))> known;
  for (const Request& r : requests)
    if (r.id == 0 && r.ttft) known.insert(marks_of(r));
  const auto equal = std::ranges::count_if(
      more.requests, [&known](const Request& r) { return r.id == 0 && r.ttft && known.contains(marks_of(r)); });
  if (equal > 0)
    notes.push_back(
        fmt::format("{} calls of {} are equal in all times to calls of a file before it, and count twice: "
                    "is it a copy?",
                    equal, file));
}

void Observed::add(Observed more, const std::string& format) {
  const std::string file =
      more.sources.empty() ? format : std::filesystem::path(more.sources.back()).filename().string();
  const bool of_engine = more.settings.contains("engine");
  if (of_engine) note_unlike(more, file);
  for (auto& [name, value] : more.settings)
    if (of_engine) settings.insert_or_assign(name, std::move(value));
    else settings.try_emplace(name, std::move(value));
  if (more.log_period) log_period = more.log_period;
  if (more.quiet_after) quiet_after = more.quiet_after;
  if (more.hits.asked > 0 && (hits_by.empty() || hits_by == format)) {
    hits_by = format;
    hits.found += more.hits.found;
    hits.asked += more.hits.asked;
  }
  for (auto& [name, value] : more.arguments) arguments.insert_or_assign(name, std::move(value));
  std::set<std::string> others;  // names that are known at the same time
  for (auto quantity = more.courses.begin(); quantity != more.courses.end();) {
    const std::string& told = told_by.try_emplace(quantity->first, format).first->second;
    if (told != format) {
      notes.push_back(fmt::format("{} of {} is left out: a file of the kind {} tells it", quantity->first, file, told));
      quantity = more.courses.erase(quantity);
      continue;
    }
    for (const auto& [engine, course] : quantity->second)
      if (const auto known = courses[quantity->first].find(engine);
          known != courses[quantity->first].end() && known->second.overlaps(course))
        others.insert(engine);
    ++quantity;
  }
  for (auto& [quantity, by_engine] : more.courses)
    for (auto& [engine, course] : by_engine) {
      std::string name = engine;
      if (others.contains(engine))
        for (name += '@' + file; courses[quantity].contains(name) && courses[quantity][name].overlaps(course);)
          name += '\'';
      courses[quantity][name].append(course);
    }
  if (const auto told = told_by.find(quantity::kOutputRate); told != told_by.end() && told->second == format)
    first_tokens_uncounted |= more.first_tokens_uncounted;
  leave_out_repeated(more, file);
  if (!more.requests.empty()) {
    const auto [first, last] = std::ranges::minmax_element(more.requests, {}, &Request::arrival);
    double end = last->arrival;
    for (const Request& r : more.requests) end = std::max(end, r.end());
    calls.push_back({file, first->arrival, end});
  }
  if (more.first_call) first_call = std::min(*more.first_call, first_call.value_or(*more.first_call));
  records.insert(more.records.begin(), more.records.end());
  requests.insert(requests.end(), more.requests.begin(), more.requests.end());
  left_out += more.left_out;
  gaps.merge(more.gaps);
  add_numbers(more, file);
  sources.insert(sources.end(), more.sources.begin(), more.sources.end());
  notes.insert(notes.end(), more.notes.begin(), more.notes.end());
}

}  // namespace llmscape::observe
