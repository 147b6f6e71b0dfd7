// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/csv_table.hpp"

namespace llmscape::validation {
namespace {

double first_queued(const std::vector<RequestTimes>& requests) {
  return std::ranges::min(requests, {}, &RequestTimes::queued).queued;
}

double last_token(const std::vector<RequestTimes>& requests) {
  return std::ranges::max(requests, {}, &RequestTimes::last_token).last_token;
}

bool same_requests(const std::vector<RequestTimes>& predicted, const std::vector<RequestTimes>& measured,
                   const SourceRange& where, Diagnostics& diagnostics) {
  if (predicted.size() != measured.size()) {
    diagnostics.error(
        where, fmt::format("it has {} completed requests where {} were simulated", measured.size(), predicted.size()));
    return false;
  }
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const RequestTimes &p = predicted[i], &m = measured[i];
    if (p.prompt_tokens == m.prompt_tokens && p.output_tokens == m.output_tokens) continue;
    diagnostics.error(where,
                      fmt::format("request '{}' has {} prompt and {} output tokens where '{}', simulated, has {} "
                                  "and {}: these are not the same requests",
                                  m.id, m.prompt_tokens, m.output_tokens, p.id, p.prompt_tokens, p.output_tokens));
    return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<Comparison>> compare_requests(std::vector<RequestTimes> predicted,
                                                        std::vector<RequestTimes> measured, const SourceRange& where,
                                                        Diagnostics& diagnostics) {
  put_in_order(predicted);
  put_in_order(measured);
  if (!same_requests(predicted, measured, where, diagnostics)) return std::nullopt;
  const auto pairs = [&](auto&& value, std::int64_t least_output = 1) {
    std::vector<Pair> all;
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (measured[i].output_tokens >= least_output)
        all.push_back({measured[i].id, value(predicted[i]), value(measured[i])});
    return all;
  };
  using R = RequestTimes;
  std::vector<Comparison> all;
  all.push_back(compare("queueing", "s", pairs([](const R& r) { return r.scheduled - r.queued; })));
  all.push_back(compare("ttft", "s", pairs([](const R& r) { return r.first_token - r.queued; })));
  const auto tpot = [](const R& r) {
    return (r.last_token - r.first_token) / static_cast<double>(r.output_tokens - 1);
  };
  all.push_back(compare("tpot", "s", pairs(tpot, 2)));
  all.push_back(compare("e2e", "s", pairs([](const R& r) { return r.last_token - r.queued; })));
  all.push_back(compare(
      "makespan", "s",
      {{"run", last_token(predicted) - first_queued(predicted), last_token(measured) - first_queued(measured)}}));
  return all;
}

Load load_at(const std::vector<RequestTimes>& requests, double at) {
  const double moment = first_queued(requests) + at;
  Load load{at, 0, 0};
  for (const RequestTimes& r : requests) {
    load.waiting += r.queued <= moment && moment < r.scheduled ? 1 : 0;
    load.running += r.scheduled <= moment && moment < r.last_token ? 1 : 0;
  }
  return load;
}

std::vector<Load> loads(const std::vector<RequestTimes>& requests) {
  std::vector<Load> all;
  const auto seconds = static_cast<int>(last_token(requests) - first_queued(requests));
  for (int at = 1; at <= seconds; ++at) all.push_back(load_at(requests, at));
  return all;
}

std::optional<std::vector<Load>> read_loads(const std::string& path, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  enum Column { kTime, kRunning, kWaiting };
  traces::CsvTable table(path,
                         {{"t"},
                          {"running"},
                          {"waiting"},
                          {"prompt_throughput", false},
                          {"gen_throughput", false},
                          {"kv_cache_pct", false}},
                         diagnostics);
  std::vector<Load> all;
  while (table.next()) {
    const auto at = table.not_negative(kTime), running = table.not_negative(kRunning),
               waiting = table.not_negative(kWaiting);
    if (at && running && waiting) all.push_back({*at, *running, *waiting});
  }
  if (diagnostics.errors() > errors) return std::nullopt;
  return all;
}

std::vector<Course> compare_loads(const std::vector<RequestTimes>& predicted, const std::vector<Load>& measured) {
  std::vector<Course> courses(2);
  courses[0].name = "running";
  courses[1].name = "waiting";
  for (const Load& m : measured) {
    const Load p = load_at(predicted, m.at);
    const auto add = [&m](Course& course, double here, double there) {
      const double difference = here - there;
      ++course.count;
      course.rmse += difference * difference;
      course.mean_predicted += here;
      course.mean_measured += there;
      if (std::abs(difference) > std::abs(course.largest)) {
        course.largest = difference;
        course.largest_at = m.at;
      }
    };
    add(courses[0], p.running, m.running);
    add(courses[1], p.waiting, m.waiting);
  }
  for (Course& course : courses) {
    const auto n = static_cast<double>(std::max<std::int64_t>(1, course.count));
    course.rmse = std::sqrt(course.rmse / n);
    course.mean_predicted /= n;
    course.mean_measured /= n;
  }
  return courses;
}

}  // namespace llmscape::validation
