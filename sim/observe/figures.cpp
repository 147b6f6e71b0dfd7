// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace llmscape::observe {
namespace {

constexpr double kNever = 1e300;

// The mean over [from, to], as far as samples reach; nothing where none is of that time. A sample stands for the time
// from midway to the one before it to midway to the one after it: samplers slow down, skip and are joined.
std::optional<double> mean_over_time(const std::vector<Course::Sample>& samples, double from, double to) {
  double sum = 0, time = 0, plain = 0, weight = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Course::Sample& s = samples[i];
    const double since = i == 0 ? s.at : (samples[i - 1].at + s.at) / 2;
    const double until = i + 1 == samples.size() ? s.at : (s.at + samples[i + 1].at) / 2;
    const double length = std::max(0.0, std::min(until, to) - std::max(since, from));
    sum += s.value * length;
    time += length;
    if (s.at < from || s.at > to) continue;
    plain += s.value * s.weight;
    weight += s.weight;
  }
  if (weight == 0) return std::nullopt;
  return time > 0 ? sum / time : plain / weight;  // a lone sample stands for no time
}

void put_distribution(std::map<std::string, double>& to, const std::string& metric, const Distribution& d) {
  if (d.count() == 0) return;
  to[metric + ".mean"] = d.mean();
  for (const auto& [name, q] : {std::pair(".p50", 0.5), std::pair(".p90", 0.9), std::pair(".p99", 0.99)})
    to[metric + name] = d.quantile(q);
}

std::map<std::string, double> figures_of_requests(const Observed& observed) {
  std::map<std::string, double> all;
  Distribution ttft, tpot, e2e;
  double last = 0, answered = 0, prompts = 0, tokens = 0;
  for (const Request& r : observed.requests) {
    if (r.ttft) ttft.add(*r.ttft);
    if (r.tpot()) tpot.add(*r.tpot());
    if (r.e2e) e2e.add(*r.e2e);
    last = std::max(last, r.end());
    if (r.gave_up) continue;  // nobody has an answer: metrics count what was completed
    ++answered;
    prompts += static_cast<double>(r.prompt_tokens);
    tokens += static_cast<double>(r.output_tokens);
  }
  put_distribution(all, "ttft_s", ttft);
  put_distribution(all, "tpot_s", tpot);
  put_distribution(all, "itl_s", observed.gaps);
  put_distribution(all, "e2e_s", e2e);
  if (last > 0) {
    all["output_tokens_per_s"] = tokens / last;
    all["total_tokens_per_s"] = (prompts + tokens) / last;
    all["requests_per_s"] = answered / last;
  }
  return all;
}

}  // namespace

std::map<std::string, double> figures(const Observed& observed) {
  std::map<std::string, double> all = figures_of_requests(observed);
  double last = 0;
  for (const Request& r : observed.requests) last = std::max(last, r.end());
  // No devices draw no watts that anybody measured.
  if (const auto power = observed.courses.find(quantity::kPower);
      power != observed.courses.end() && !power->second.empty()) {
    std::optional<double> watts = 0;
    for (const auto& [device, course] : power->second) {
      const auto mean = mean_over_time(course.samples(), 0, last > 0 ? last : kNever);
      watts = watts && mean ? std::optional(*watts + *mean) : std::nullopt;
    }
    if (watts) all["mean_w"] = *watts;
  }
  if (observed.hits.asked > 0) all["hit_rate"] = observed.hits.found / observed.hits.asked;
  // What is told beside the requests may be of one file of several.
  for (const auto& [name, value] : observed.numbers) all.emplace(name, value);
  return all;
}

std::map<std::string, validation::Ends> ends_of_figures(const Observed& observed) {
  std::map<std::string, validation::Ends> all = observed.within;
  for (const auto& [name, value] : figures_of_requests(observed)) all.erase(name);
  return all;
}

Shown shown_by(const Observed& observed) {
  Shown shown;
  std::set<std::string> all, working;
  for (const auto& [quantity, by_name] : observed.courses)
    for (const auto& [name, course] : by_name) {
      if (course.samples().empty()) continue;
      if (quantity == quantity::kPower) ++shown.devices;
      if (is_of_devices(quantity)) continue;
      const bool works = std::ranges::any_of(course.samples(), [](const auto& s) { return s.value > 0; });
      // Formats name the engines of one server each in its own way: those of the quantity that has most of them count.
      all.insert(quantity + '\n' + name);
      if (works) working.insert(quantity + '\n' + name);
    }
  const auto most = [](const std::set<std::string>& names) {
    std::map<std::string, std::int64_t> counts;
    std::int64_t largest = 0;
    for (const std::string& name : names) {
      const std::size_t end = name.find('\n');
      // "2 Engines Aggregated" is what vLLM calls the sum of so many.
      const bool together = name.find(" Engines", end) != name.npos;
      const int engines = together ? std::atoi(name.c_str() + end + 1) : 1;
      largest = std::max(largest, counts[name.substr(0, end)] += std::max(1, engines));
    }
    return largest;
  };
  shown.engines = most(all);
  shown.working = most(working);
  return shown;
}

std::map<std::string, CourseSummary> over_time(const Observed& observed) {
  std::map<std::string, CourseSummary> all;
  for (const auto& [quantity, by_engine] : observed.courses) {
    CourseSummary summary;
    const auto samples = observed.total(quantity);
    for (const Course::Sample& s : samples) {
      // A sample of an engine tells of the time before it, and work begins at 0 (align_courses).
      if (is_of_devices(quantity) ? s.at < 0 : s.at <= 0) continue;
      summary.samples += s.weight;
      summary.mean += s.value * s.weight;
      summary.most = std::max(summary.most, s.value);
    }
    if (summary.samples == 0) continue;
    summary.mean /= summary.samples;
    // An engine's log has no lines while nothing runs: only of devices the time between two samples is known.
    if (is_of_devices(quantity)) summary.mean = mean_over_time(samples, 0, kNever).value_or(summary.mean);
    all[quantity] = summary;
  }
  return all;
}

}  // namespace llmscape::observe
