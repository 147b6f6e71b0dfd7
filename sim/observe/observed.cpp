// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/observe/json_file.hpp"

namespace llmscape::observe {
namespace {

constexpr double kNever = 1e300;

bool is_share(const std::string& quantity) { return quantity == quantity::kKvUse; }

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

double value_near(const Course& course, double at) {
  const auto& samples = course.samples();
  const auto next = std::ranges::lower_bound(samples, at, {}, &Course::Sample::at);
  if (next == samples.end()) return samples.back().value;
  if (next == samples.begin()) return next->value;
  return next->at - at < at - std::prev(next)->at ? next->value : std::prev(next)->value;
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
  double last = 0, tokens = 0;
  for (const Request& r : observed.requests) {
    if (r.ttft) ttft.add(*r.ttft);
    if (r.tpot()) tpot.add(*r.tpot());
    if (r.e2e) e2e.add(*r.e2e);
    last = std::max(last, r.end());
    tokens += static_cast<double>(r.output_tokens);
  }
  put_distribution(all, "ttft_s", ttft);
  put_distribution(all, "tpot_s", tpot);
  put_distribution(all, "itl_s", observed.gaps);
  put_distribution(all, "e2e_s", e2e);
  if (last > 0) all["output_tokens_per_s"] = tokens / last;
  return all;
}

}  // namespace

bool is_of_devices(const std::string& quantity) { return quantity == quantity::kPower || quantity == quantity::kClock; }

std::optional<double> Request::tpot() const {
  if (!ttft || !e2e || output_tokens < 2) return std::nullopt;
  return (*e2e - *ttft) / static_cast<double>(output_tokens - 1);
}

void Course::add(double at, double value) {
  open_.at += at;
  open_.value += value;
  open_.weight += 1;
  if (open_.weight < weight_) return;
  samples_.push_back({open_.at / open_.weight, open_.value / open_.weight, open_.weight});
  open_ = {0, 0, 0};
  if (samples_.size() < kMost) return;
  join_neighbours();
  weight_ *= 2;
}

void Course::join_neighbours() {
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
    const Sample &a = samples_[i], &b = samples_[i + 1];
    const double weight = a.weight + b.weight;
    samples_[i / 2] = {(a.at * a.weight + b.at * b.weight) / weight, (a.value * a.weight + b.value * b.weight) / weight,
                       weight};
  }
  if (samples_.size() % 2 == 1) samples_[samples_.size() / 2] = samples_.back();
  samples_.resize((samples_.size() + 1) / 2);
}

void Course::append(const Course& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
  std::ranges::stable_sort(samples_, {}, &Sample::at);
  while (samples_.size() >= kMost) join_neighbours();
}

bool Course::overlaps(const Course& other) const {
  constexpr double kReordered = 10;  // s, as of Moments
  if (samples_.empty() || other.samples_.empty()) return false;
  const double common =
      std::min(samples_.back().at, other.samples_.back().at) - std::max(samples_.front().at, other.samples_.front().at);
  const double shorter =
      std::min(samples_.back().at - samples_.front().at, other.samples_.back().at - other.samples_.front().at);
  return common >= 0 && (shorter == 0 || common > std::min(kReordered, shorter / 2));
}

void Course::shift(double seconds) {
  for (Sample& s : samples_) s.at += seconds;
}

double usual_spacing(const std::vector<Course::Sample>& samples, std::size_t first) {
  std::vector<double> apart;
  for (std::size_t i = first; i + 1 < samples.size(); ++i) apart.push_back(samples[i + 1].at - samples[i].at);
  if (apart.empty()) return 0;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::ranges::nth_element(apart, middle);
  return *middle;
}

void Observed::note_unanswered(std::size_t sent) {
  left_out = sent - requests.size();
  if (left_out > 0)
    notes.push_back(fmt::format(
        "{} of {} requests failed or had no answer and are not replayed: the server had them too", left_out, sent));
  if (const auto given_up = std::ranges::count_if(requests, [](const Request& r) { return r.gave_up.has_value(); }))
    notes.push_back(
        fmt::format("{} of {} requests were given up by their clients, and are so in the replay, with the tokens that "
                    "came until then",
                    given_up, sent));
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

void Observed::add(Observed more, const std::string& format) {
  const std::string file =
      more.sources.empty() ? format : std::filesystem::path(more.sources.back()).filename().string();
  const bool of_engine = more.settings.contains("engine");
  for (auto& [name, value] : more.settings)
    if (of_engine) settings.insert_or_assign(name, std::move(value));
    else settings.try_emplace(name, std::move(value));
  if (more.log_period) log_period = more.log_period;
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
  requests.insert(requests.end(), more.requests.begin(), more.requests.end());
  left_out += more.left_out;
  gaps.merge(more.gaps);
  add_numbers(more, file);
  sources.insert(sources.end(), more.sources.begin(), more.sources.end());
  notes.insert(notes.end(), more.notes.begin(), more.notes.end());
}

std::vector<Course::Sample> Observed::total(const std::string& quantity) const {
  const auto found = courses.find(quantity);
  if (found == courses.end() || found->second.empty()) return {};
  std::vector<Course::Sample> sum = found->second.begin()->second.samples();
  for (auto other = std::next(found->second.begin()); other != found->second.end(); ++other)
    for (Course::Sample& s : sum)
      if (!other->second.samples().empty()) s.value += value_near(other->second, s.at);
  if (is_share(quantity) || quantity == quantity::kClock)
    for (Course::Sample& s : sum) s.value /= static_cast<double>(found->second.size());
  return sum;
}

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
  // What is told beside the requests may be of one file of several.
  for (const auto& [name, value] : observed.numbers) all.emplace(name, value);
  return all;
}

std::map<std::string, validation::Ends> ends_of_figures(const Observed& observed) {
  std::map<std::string, validation::Ends> all = observed.within;
  for (const auto& [name, value] : figures_of_requests(observed)) all.erase(name);
  return all;
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

std::string to_json(const Observed& observed) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "observed/1"}, {"sources", observed.sources}, {"requests", observed.requests.size()}};
  if (observed.left_out > 0) json["left_out"] = observed.left_out;
  if (!observed.notes.empty()) json["notes"] = observed.notes;
  json["settings"] = Json::object();
  for (const auto& [name, value] : observed.settings) json["settings"][name] = value;
  json["arguments"] = Json::object();
  for (const auto& [name, value] : observed.arguments) json["arguments"][name] = value;
  json["metrics"] = Json::object();
  for (const auto& [name, value] : figures(observed)) json["metrics"][name] = value;
  for (const auto& [name, ends] : ends_of_figures(observed)) json["within"][name] = {ends.least, ends.most};
  json["courses"] = Json::object();
  for (const auto& [quantity, by_engine] : observed.courses) {
    Json& course = json["courses"][quantity] = Json::array();
    for (const auto& s : observed.total(quantity)) course.push_back({s.at, s.value});
  }
  return json.dump(1) + '\n';
}

std::optional<Figures> read_figures(const std::string& path, Diagnostics& diagnostics) {
  const auto file = JsonFile::read(path, diagnostics);
  if (!file) return std::nullopt;
  const int errors = diagnostics.errors();
  if (file->text(file->root(), "schema") != "observed/1")
    file->error("schema", "this is no observed/1 file of 'llmscape observe -o'");
  Figures all;
  all.left_out = static_cast<std::int64_t>(file->number(file->root(), "left_out", false).value_or(0));
  const auto metrics = file->root().find("metrics");
  if (metrics == file->root().end() || !metrics->is_object()) file->error("metrics", "'metrics' must be an object");
  else
    for (const auto& [name, value] : metrics->items())
      if (const auto number = file->number(*metrics, name)) all.values[name] = *number;
  if (const auto within = file->root().find("within"); within != file->root().end() && within->is_object())
    for (const auto& [name, ends] : within->items()) {
      const bool two = ends.is_array() && ends.size() == 2 && ends[0].is_number() && ends[1].is_number();
      if (two && ends[0] <= ends[1]) all.within[name] = {ends[0].get<double>(), ends[1].get<double>()};
      else file->error("within", fmt::format("{} must have two ends, the lower one first", in_quotes(name)));
    }
  if (diagnostics.errors() > errors) return std::nullopt;
  return all;
}

std::string trace_text(const Observed& observed) {
  std::string text = "{\"schema\": \"trace/1\"}\n";
  for (const Request& r : observed.requests) {
    // A trace has no answer without tokens.
    text += fmt::format("{{\"arrival_s\": {:.9g}, \"prompt_tokens\": {}, \"output_tokens\": {}", r.arrival,
                        r.prompt_tokens, std::max<std::int64_t>(1, r.output_tokens));
    if (r.gave_up) text += fmt::format(", \"give_up_s\": {:.9g}", *r.gave_up);
    text += "}\n";
  }
  return text;
}

}  // namespace llmscape::observe
