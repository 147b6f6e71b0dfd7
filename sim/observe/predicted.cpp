// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/predicted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/result/metric_table.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/run.hpp"
#include "sim/world/world.hpp"

namespace llmscape::observe {
namespace {

using validation::Comparison;
using validation::Pair;

constexpr const char* kDecodeRate = "decoded_tokens_per_s";  // as output_tokens_per_s, without first tokens

class Recorder : public world::Watcher {
 public:
  explicit Recorder(Prediction& prediction) : prediction_(prediction) {}
  void on_request(const serving::Request& r, serving::Outcome outcome, Seconds at) override {
    if (r.answered()) firsts_.push_back(r.seen.first.si());
    const bool given_up = outcome == serving::Outcome::cancelled;
    if (outcome != serving::Outcome::completed && !given_up) return;
    const Seconds end = given_up ? at : r.last_token;
    prediction_.requests.push_back({r.id, r.prompt_tokens, r.output_tokens, r.arrival.si(),
                                    std::min(r.schedule, end).si(), r.seen.first.si(), end.si(), r.replica, given_up});
  }
  void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens, std::int64_t,
               std::int64_t kv_blocks_used) override {
    prediction_.steps.push_back({end.si(), static_cast<double>(prefill_tokens), static_cast<double>(decodes)});
    prediction_.kv[replica].push_back({start.si(), end.si(), static_cast<double>(kv_blocks_used)});
  }
  void on_power(const std::string&, const metrics::PowerSeries& power) override { power_.add(power); }
  void finish() {
    std::ranges::sort(prediction_.requests, {}, &PredictedRequest::id);
    count_output_tokens();
    for (auto& [replica, steps] : prediction_.kv) std::ranges::stable_sort(steps, {}, &PredictedBlocks::end);
    prediction_.window = power_.window().si();
    prediction_.spending_ends = power_.end().si();
    for (const Joules& joules : power_.windows()) prediction_.joules.push_back(joules.si());
  }

 private:
  // Steps tell how many sequences decoded. Engines count all tokens: the first ones, which prefills answer, and, where
  // drafts are accepted, several of one pass.
  void count_output_tokens() {
    auto& steps = prediction_.steps;
    double decodes = 0, prompts = 0, outputs = 0, later = 0;
    for (const PredictedStep& step : steps) decodes += step.output_tokens;
    const double decoded = static_cast<double>(prediction_.result.tokens.emitted) - static_cast<double>(firsts_.size());
    for (PredictedStep& step : steps)
      step.decoded_tokens = step.output_tokens *= std::max(0.0, decoded) / std::max(1.0, decodes);
    for (const double first : firsts_) steps.push_back({first, 0, 1});
    std::ranges::stable_sort(steps, {}, &PredictedStep::end);
    for (PredictedStep& step : steps) {
      step.prompt_tokens = prompts += step.prompt_tokens;
      step.output_tokens = outputs += step.output_tokens;
      step.decoded_tokens = later += step.decoded_tokens;
    }
  }

  Prediction& prediction_;
  metrics::PowerSeries power_;
  std::vector<double> firsts_;  // when first tokens were answered, of requests that were given up too
};

// The last step that has ended.
const PredictedStep* step_before(const Prediction& prediction, double at) {
  const auto next = std::ranges::upper_bound(prediction.steps, at, {}, &PredictedStep::end);
  return next == prediction.steps.begin() ? nullptr : &*std::prev(next);
}

double tokens_until(const Prediction& prediction, double PredictedStep::* tokens, double at) {
  const PredictedStep* step = step_before(prediction, at);
  return step ? step->*tokens : 0;
}

double joules_between(const Prediction& prediction, double from, double to) {
  double sum = 0;
  for (std::size_t i = 0; i < prediction.joules.size(); ++i) {
    const double start = static_cast<double>(i) * prediction.window;
    const double end = std::min(prediction.spending_ends, start + prediction.window);
    const double inside = std::min(to, end) - std::max(from, start);
    if (inside > 0) sum += prediction.joules[i] * inside / (end - start);
  }
  return sum;
}

double requests_at(const Prediction& prediction, double at, bool running) {
  double count = 0;
  for (const PredictedRequest& r : prediction.requests)
    if (running ? r.schedule <= at && at < r.last_token : r.arrival <= at && at < r.schedule) ++count;
  return count;
}

// Of all replicas: what each holds in its step, or held in the last one if it still has requests between two.
double blocks_held(const Prediction& prediction, double at) {
  double sum = 0;
  for (const auto& [replica, steps] : prediction.kv) {
    const auto next = std::ranges::upper_bound(steps, at, {}, &PredictedBlocks::end);
    const auto runs_here = [&, of = replica](const PredictedRequest& r) {
      return r.replica == of && r.schedule <= at && at < r.last_token;
    };
    if (next != steps.end() && next->start <= at) sum += next->held;
    else if (next != steps.begin() && std::ranges::any_of(prediction.requests, runs_here)) sum += std::prev(next)->held;
  }
  return sum;
}

// Shares are compared in points of a hundred, so that their RMSE reads like the others.
double scale_of(const std::string& quantity) { return quantity == quantity::kKvUse ? 100 : 1; }

// Told as means since the sample before.
bool is_mean(const std::string& quantity) {
  return quantity == quantity::kPromptRate || quantity == quantity::kOutputRate || quantity == quantity::kPower;
}

// How long a sample's mean reaches back at most, beside the sample before it.
double reach_of(const Observed& observed, const std::string& quantity, const std::vector<Course::Sample>& samples) {
  const bool in_log = quantity == quantity::kPromptRate || quantity == quantity::kOutputRate;
  if (!in_log || !observed.log_period) return std::numeric_limits<double>::infinity();
  const double period = usual_spacing(samples);
  return period > 0 ? period : *observed.log_period;
}

// `asked` of the prediction, which is the quantity as this engine counts it.
validation::Course compare_course(const std::string& quantity, const std::string& asked,
                                  const std::vector<Course::Sample>& samples, double reach,
                                  const Prediction& prediction, double end) {
  constexpr double kSameMoment = 1e-3;  // logs are written to milliseconds at best
  validation::Course course;
  course.name = quantity == quantity::kKvUse ? "kv_use_pct" : quantity;
  course.samples = static_cast<std::int64_t>(samples.size());
  double before = 0;
  for (const Course::Sample& s : samples) {
    if (s.at > end) continue;
    // What a mean covers of the time before the first call (a warm-up, another benchmark) is not predicted.
    const double from = std::max(before, s.at - reach);
    if (s.at <= 0 || (from < -kSameMoment && is_mean(quantity))) {
      before = s.at;
      continue;
    }
    const double predicted = value_at(prediction, asked, from, s.at) * scale_of(quantity);
    const double measured = s.value * scale_of(quantity), difference = predicted - measured;
    before = s.at;
    ++course.count;
    course.rmse += difference * difference;
    course.mean_predicted += predicted;
    course.mean_measured += measured;
    if (std::abs(difference) <= std::abs(course.largest)) continue;
    course.largest = difference;
    course.largest_at = s.at;
  }
  const auto n = static_cast<double>(std::max<std::int64_t>(1, course.count));
  course.rmse = std::sqrt(course.rmse / n);
  course.mean_predicted /= n;
  course.mean_measured /= n;
  return course;
}

// What figures_of_requests makes of the prediction: calls that were answered on both sides, over the time until the
// last was over. A call that its client gave up is none, whether or not a faster server would have answered it by then.
std::map<std::string, double> rates_of_answered(const Observed& observed, const Prediction& prediction) {
  double last = 0, answered = 0, prompts = 0, tokens = 0;
  for (const PredictedRequest& r : prediction.requests) {
    last = std::max(last, r.last_token);
    if (r.given_up || r.id >= observed.requests.size() || observed.requests[r.id].gave_up) continue;
    ++answered;
    prompts += static_cast<double>(r.prompt_tokens);
    tokens += static_cast<double>(r.output_tokens);
  }
  if (last <= 0) return {};
  return {{"output_tokens_per_s", tokens / last},
          {"total_tokens_per_s", (prompts + tokens) / last},
          {"requests_per_s", answered / last}};
}

std::optional<validation::Ends> ends_in(const std::map<std::string, validation::Ends>& within,
                                        const std::string& name) {
  const auto found = within.find(name);
  return found == within.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::int64_t longest_sequence(const scenario::Scenario& scenario) {
  std::int64_t longest = 0;
  for (const scenario::PoolConfig& pool : scenario.pools) {
    const std::int64_t taken = pool.max_model_len.value_or(scenario.model_of(pool).max_position);
    longest = std::max(longest, std::min(taken, pool.batcher->longest().value_or(taken)));
  }
  return longest;
}

std::optional<Prediction> predict(const scenario::Scenario& scenario, Diagnostics& diagnostics,
                                  workloads::Generator* generator) {
  Prediction prediction;
  Recorder recorder(prediction);
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.watcher = &recorder;
  prediction.result = generator ? world::World(scenario, options, *generator, diagnostics).run()
                                : run::run_scenario(scenario, options, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  recorder.finish();
  const result::RunResult& r = prediction.result;
  prediction.served = {r.replicas, r.devices, 1, r.fleet.has_value()};
  for (const result::PoolResult& pool : r.pools)
    prediction.served.ranks = std::max(prediction.served.ranks, static_cast<std::int64_t>(pool.ranks));
  prediction.kv_blocks = std::max<double>(1, static_cast<double>(prediction.result.kv.blocks));
  return prediction;
}

double value_at(const Prediction& prediction, const std::string& quantity, double from, double at) {
  const double length = std::max(1e-9, at - from);
  const auto rate = [&](double PredictedStep::* tokens) {
    return (tokens_until(prediction, tokens, at) - tokens_until(prediction, tokens, from)) / length;
  };
  if (quantity == quantity::kRunning) return requests_at(prediction, at, true);
  if (quantity == quantity::kWaiting) return requests_at(prediction, at, false);
  if (quantity == quantity::kPromptRate) return rate(&PredictedStep::prompt_tokens);
  if (quantity == quantity::kOutputRate) return rate(&PredictedStep::output_tokens);
  if (quantity == kDecodeRate) return rate(&PredictedStep::decoded_tokens);
  if (quantity == quantity::kPower) return joules_between(prediction, from, at) / length;
  return blocks_held(prediction, at) / prediction.kv_blocks;
}

std::vector<std::string> apart(const Shown& shown, const Served& served, std::optional<double> measured_hits,
                               std::optional<double> predicted_hits) {
  constexpr double kSharedAlike = 0.05;  // of all prompt tokens
  std::vector<std::string> why;
  const bool more = shown.working > served.replicas * served.ranks;
  const bool fewer = shown.engines > 0 && shown.engines < served.replicas && !served.controlled;
  if (more || fewer)
    why.push_back(fmt::format("{} engines are in the files, and {} replicas in the scenario",
                              more ? shown.working : shown.engines, served.replicas));
  if (shown.devices > 0 && shown.devices != served.devices)
    why.push_back(
        fmt::format("the power of {} devices was read (--gpus takes some of them), and {} are in the scenario",
                    shown.devices, served.devices));
  if (measured_hits && *measured_hits > predicted_hits.value_or(0) + kSharedAlike)
    why.push_back(
        fmt::format("{:.0f} % of the prompt tokens were in the server's prefix cache, and {:.0f} % in that of "
                    "the simulation: its requests cannot share what those shared",
                    100 * *measured_hits, 100 * predicted_hits.value_or(0)));
  return why;
}

std::vector<Comparison> compare_requests(const Observed& observed, const Prediction& prediction, std::size_t from,
                                         std::size_t to) {
  std::vector<Pair> ttft, tpot, e2e;
  for (const PredictedRequest& p : prediction.requests) {
    if (p.given_up || p.id < from || p.id >= to || p.id >= observed.requests.size()) continue;
    const Request& r = observed.requests[p.id];
    const std::string name = "request " + std::to_string(p.id);
    if (r.ttft) ttft.push_back({name, p.first_token - p.arrival, *r.ttft});
    if (const auto measured = r.tpot())
      tpot.push_back({name, (p.last_token - p.first_token) / static_cast<double>(p.output_tokens - 1), *measured});
    if (r.e2e) e2e.push_back({name, p.last_token - p.arrival, *r.e2e});
  }
  std::vector<Comparison> all;
  for (const auto& [metric, pairs] : {std::pair("ttft", &ttft), std::pair("tpot", &tpot), std::pair("e2e", &e2e)})
    if (!pairs->empty()) all.push_back(validation::compare(metric, "s", *pairs));
  return all;
}

std::vector<Comparison> compare_figures(const Figures& observed, const std::map<std::string, double>& predicted) {
  std::vector<Comparison> all;
  for (const auto& [name, measured] : observed.values) {
    const metrics::Column* column = metrics::find_column(name);
    const auto found = predicted.find(name);
    if (!column || found == predicted.end()) continue;
    std::string metric = metrics::short_name(*column);
    if (metric.ends_with(".mean")) metric.resize(metric.size() - 5);
    all.push_back(validation::compare_figure(metric, std::string(column->metric->unit), found->second, measured,
                                             ends_in(observed.within, name)));
  }
  return all;
}

void compare(const Observed& observed, const Prediction& prediction, bool replayed, validation::Report& report) {
  const serving::Counters& all = prediction.result.requests;
  report.run = {std::string(metrics::name_of(prediction.result.verdict.state)), prediction.result.verdict.reasons,
                all.injected, all.completed + all.cancelled + all.timed_out};
  const auto measured_figures = figures(observed);
  const auto hits = measured_figures.find("hit_rate");
  report.run->apart =
      apart(shown_by(observed), prediction.served,
            hits == measured_figures.end() ? std::nullopt : std::optional(hits->second), prediction.result.kv.hit_rate);
  if (replayed) {  // all of them were served, or given up by their clients
    report.run->requests = static_cast<std::int64_t>(observed.requests.size());
    report.run->left_out = static_cast<std::int64_t>(observed.left_out);
  }
  std::set<std::string> done;
  if (replayed)
    for (Comparison& c : compare_requests(observed, prediction, 0, observed.requests.size())) {
      done.insert(c.metric);
      report.comparisons.push_back(std::move(c));
    }
  const result::RunResult whole = result::of_whole_run(prediction.result);  // benchmarks know no window
  double end = 0;
  for (const PredictedRequest& r : prediction.requests) end = std::max(end, r.last_token);
  const auto within = ends_of_figures(observed);
  const auto rates = replayed && !observed.requests.empty() ? rates_of_answered(observed, prediction)
                                                            : std::map<std::string, double>();
  for (const auto& [name, measured] : measured_figures) {
    const metrics::Column* column = metrics::find_column(name);
    if (!column) continue;
    std::string metric = metrics::short_name(*column);
    if (metric.ends_with(".mean")) metric.resize(metric.size() - 5);
    if (done.contains(metric.substr(0, metric.find('.')))) continue;
    std::optional<double> predicted = column->value(whole);
    if (const auto same = rates.find(name); same != rates.end()) predicted = same->second;
    // Of the time in which requests were served, as it was measured.
    if (name == "mean_w" && end > 0) predicted = joules_between(prediction, 0, end) / end;
    if (predicted)
      report.comparisons.push_back(validation::compare_figure(metric, std::string(column->metric->unit), *predicted,
                                                              measured, ends_in(within, name)));
  }
  for (const auto& [quantity, by_engine] : observed.courses) {
    if (quantity == quantity::kClock) continue;  // no device is modelled to change its clock by itself
    const std::vector<Course::Sample> samples = observed.total(quantity);
    const bool decoded = quantity == quantity::kOutputRate && observed.first_tokens_uncounted;
    auto course = compare_course(quantity, decoded ? kDecodeRate : quantity, samples,
                                 reach_of(observed, quantity, samples), prediction, end);
    if (course.count > 0) report.courses.push_back(std::move(course));
    else if (!samples.empty())
      report.left_out.push_back(
          {course.name, fmt::format("none of its {} moments is of the simulated run", samples.size())});
  }
}

}  // namespace llmscape::observe
