// SPDX-License-Identifier: Apache-2.0
// Scrapes of /metrics, Prometheus text format, one after the other in a file: a line "# time SECONDS" begins one, or a
// series that this one has already. What happened between the first and the last counts for histograms and counters;
// gauges are courses where samples have timestamps, or such lines stand before them. Names: vllm/v1/metrics/loggers.py
// (PrometheusStatLogger), sglang/srt/metrics/collector.py, dcgm-exporter's default counters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/observe/log_line.hpp"
#include "sim/observe/prometheus_names.hpp"
#include "sim/observe/prometheus_sample.hpp"
#include "sim/observe/readers.hpp"
#include "traces/cells.hpp"

namespace llmscape::observe {
namespace {

using namespace series;

// A counter, or a series of a histogram, from scrape to scrape.
struct Counter {
  double first = 0, latest = 0;        // a series that the first scrape lacks counts from 0
  std::optional<double> first_at, at;  // times of these samples, as far as they are told
  std::optional<double> stamp;         // of the latest sample, where it has one of its own
  int scrape = -1;                     // of the latest sample
  [[nodiscard]] double growth(bool from_start) const { return from_start ? latest : latest - first; }
};

// Of one engine.
struct Histogram {
  std::map<double, Counter> buckets;  // by upper end, cumulative
  Counter sum, count;
  void each(const auto& visit) {
    for (auto& [end, bucket] : buckets) visit(bucket);
    visit(sum);
    visit(count);
  }
};

class Scrapes {
 public:
  Scrapes(const std::string& path, Observed& observed, Diagnostics& diagnostics)
      : file_(path), observed_(observed), diagnostics_(diagnostics) {}

  void read() {
    while (const auto row = file_.next(diagnostics_)) line(*row);
    for (auto& [metric, engines] : histograms_)
      if (whole(metric, engines)) put(metric, engines);
    put_hits();
    put_rates();
  }

 private:
  using Engines = std::map<std::string, Histogram>;  // by their labels
  using Series = std::map<std::string, Counter>;     // of one rate, by names and labels

  void line(const traces::Row& row) {
    const std::string_view text = row.text();
    read_line(row, text);
    if (!opened_) opened_ = at_;
  }
  void read_line(const traces::Row& row, std::string_view text) {
    if (text.starts_with('#')) {
      const auto at = find_number(text, "# time ");
      if (!at || !moments_.follows(row, {}, *at)) return;
      at_ = at;
      if (!seen_.empty()) begin_scrape();
      return;
    }
    const auto sample = prometheus_sample(row);
    if (!sample) return;
    const auto value = traces::parse_number<double>(sample->number);
    if (!value && sample->number != "NaN" && sample->number != "+Inf")
      return row.error(sample->values, fmt::format("a sample of {} must have a number", in_quotes(sample->name)));
    if (!value || !std::isfinite(*value)) return;
    if (*value < 0 && (find(kGauges, sample->name) || counts(sample->name)))
      return row.error(sample->values, fmt::format("a sample of {} is below 0", in_quotes(sample->name)));
    stamp_.reset();
    if (!sample->stamp.empty()) {
      const auto stamp = traces::parse_number<double>(sample->stamp);
      if (!stamp || !std::isfinite(*stamp))
        return row.error(sample->values, fmt::format("{} is no timestamp", in_quotes(sample->stamp)));
      stamp_ = at_ = *stamp / 1000;
      if (!moments_.follows(row, sample->values, *at_)) return;
    }
    if (tells_start(row, *sample, *value)) return;
    if (seen_.empty()) began_ = stamp_;
    const std::string series = std::string(sample->name) + '\n' + sample->labels_without("");
    if (seen_.contains(series)) begin_scrape();
    seen_.insert(series);
    take(row, *sample, *value);
  }

  // Whether the sample says when a process, or a counter of it, began. Where that is another moment than before, the
  // server was started again, though its counters may be past those of the one before it.
  bool tells_start(const traces::Row& row, const PrometheusSample& sample, double value) {
    constexpr double kSame = 1;  // s
    std::string_view of = sample.name;
    const bool created = of.ends_with("_created");
    if (created) of.remove_suffix(std::string_view("_created").size());
    if (of != "process_start_time_seconds" &&
        !(created && (find(kCounters, std::string(of) + "_total") || find(kHistograms, of))))
      return false;
    const auto [known, fresh] = starts_.emplace(std::string(sample.name) + '\n' + sample.labels_without(""), value);
    if (!fresh && std::abs(known->second - value) > kSame && fallen_.emplace("start").second)
      row.error({}, fmt::format("{} changes between two scrapes: the server was started again", in_quotes(sample.name)),
                "scrapes of one run of the server, in their order");
    return true;
  }

  // What has the timestamp of the series that begins it anew, but not that of the scrape before, stood before it and is
  // of this scrape.
  void begin_scrape() {
    seen_.clear();
    ++scrape_;
    if (!stamp_ || stamp_ == began_) return;
    began_ = stamp_;
    for (auto& [metric, engines] : histograms_)
      for (auto& [labels, histogram] : engines) histogram.each([this](Counter& counter) { move_on(counter); });
    for (auto& [rate, series] : counters_)
      for (auto& [labels, counter] : series) move_on(counter);
  }
  void move_on(Counter& counter) const {
    if (counter.stamp != stamp_) return;
    counter.scrape = scrape_;
    if (scrape_ != 1) return;
    counter.first = 0;
    counter.first_at.reset();
  }

  // A sample of a counter or a histogram that is known.
  static bool counts(std::string_view name) {
    if (find(kCounters, name)) return true;
    for (const std::string_view part : {"_bucket", "_sum", "_count"})
      if (name.ends_with(part) && find(kHistograms, name.substr(0, name.size() - part.size()))) return true;
    return false;
  }

  // Of an engine, a rank that attends alone (of ranks that share a batch each tells all of it), or a device.
  static std::string teller(const PrometheusSample& sample) {
    std::string of = sample.label("engine");
    if (of.empty()) of = sample.label("gpu");
    if (const std::string rank = sample.label("dp_rank"); !rank.empty()) of += "DP" + rank;
    for (const char* node : {"Hostname", "instance"})
      if (const std::string host = sample.label(node); !host.empty()) return of + '@' + host;
    return of;
  }

  void take(const traces::Row& row, const PrometheusSample& sample, double value) {
    const std::string_view name = sample.name;
    if (const Name* gauge = find(kGauges, name)) {
      observed_.first_tokens_uncounted |= name == "sglang:gen_throughput";
      if (at_) observed_.courses[std::string(gauge->ours)][teller(sample)].add(*at_, value * gauge->scale);
      return;
    }
    if (const Name* counter = find(kCounters, name)) {
      // A call that its client gave up, or that the server did not answer.
      if (const std::string how = sample.label("finished_reason"); how == "abort" || how == "error") return;
      Series& series = counters_[std::string(counter->ours)];
      return count(row, counter->theirs, series[std::string(name) + '\n' + sample.labels_without("")], value);
    }
    for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(part)) continue;
      const Name* known = find(kHistograms, name.substr(0, name.size() - part.size()));
      if (!known) return;
      // Of two histograms that say the same in other words both count.
      Histogram& histogram =
          histograms_[std::string(known->ours)][std::string(known->theirs) + '\n' + sample.labels_without("le")];
      if (part == "_sum") count(row, known->ours, histogram.sum, value);
      else if (part == "_count") count(row, known->ours, histogram.count, value);
      else {
        const std::string end = sample.label("le");
        const auto upper = end == "+Inf" ? std::numeric_limits<double>::infinity() : traces::parse_number<double>(end);
        if (!upper || std::isnan(*upper))
          return row.error({}, fmt::format("the bucket has no upper end 'le', but {}", in_quotes(end)));
        count(row, known->ours, histogram.buckets[*upper], value);
      }
    }
  }

  // Counters of a server that was started again begin at 0.
  void count(const traces::Row& row, std::string_view metric, Counter& counter, double value) {
    if (counter.scrape >= 0 && value < counter.latest) {
      if (fallen_.emplace(metric).second)
        row.error({}, fmt::format("the counters of '{}' fall between two scrapes", metric),
                  "scrapes of one run of the server, in their order");
      return;
    }
    if (counter.scrape < 0 && scrape_ == 0) {
      counter.first = value;
      counter.first_at = at_;
    }
    counter.latest = value;
    counter.at = at_;
    counter.stamp = stamp_;
    counter.scrape = scrape_;
  }

  // Whether the last scrape has all of what it has a part of; a file that was copied while it was written has not.
  bool whole(const std::string& metric, Engines& engines) {
    for (auto& [labels, histogram] : engines) {
      int least = scrape_, most = 0;
      histogram.each([&](const Counter& counter) {
        if (counter.scrape < 0) return;
        least = std::min(least, counter.scrape);
        most = std::max(most, counter.scrape);
      });
      if (least == most || most < scrape_) continue;
      diagnostics_.error({std::make_shared<const SourceText>(SourceText{file_.path(), ""})},
                         fmt::format("the last scrape has but a part of '{}'", metric),
                         "the file was cut off: leave that scrape out");
      return false;
    }
    return true;
  }

  // Figures of what came between, or of a lone scrape since the start of the server; quantiles are linear in a bucket,
  // as PromQL's histogram_quantile has them.
  void put(const std::string& metric, const Engines& engines) {
    const bool from_start = scrape_ == 0;
    std::map<double, double> buckets;
    double sum = 0, count = 0;
    for (const auto& [labels, histogram] : engines) {
      for (const auto& [end, bucket] : histogram.buckets) buckets[end] += bucket.growth(from_start);
      sum += histogram.sum.growth(from_start);
      count += histogram.count.growth(from_start);
    }
    if (count == 0) return;
    observed_.numbers[metric + ".mean"] = sum / count;
    for (const auto& [name, share] : {std::pair(".p50", 0.5), std::pair(".p90", 0.9), std::pair(".p99", 0.99)}) {
      double below = 0, from = 0;
      for (const auto& [end, now] : buckets) {
        if (now >= share * count) {
          if (std::isfinite(end) && now > below)
            put_quantile(metric + name, {from, end}, (share * count - below) / (now - below));
          break;
        }
        below = now;
        from = end;
      }
    }
  }

  // That lies in a bucket, so far on from its lower end as PromQL takes it.
  void put_quantile(const std::string& name, validation::Ends bucket, double on) {
    observed_.numbers[name] = bucket.least + (bucket.most - bucket.least) * on;
    observed_.within[name] = bucket;
  }

  // What was found in the prefix cache, between the first scrape and the last, or since the start of the server.
  void put_hits() {
    const auto take = [this](const char* of, bool sglang) {
      double sum = 0;
      if (const auto found = counters_.find(of); found != counters_.end())
        for (const auto& [name, counter] : found->second)
          if (name.starts_with("sglang:") == sglang) sum += counter.growth(scrape_ == 0);
      return sum;
    };
    observed_.hits = {take(kHits, false), take(kQueries, false)};
    if (const double cached = take(kHits, true); cached > 0) observed_.hits = {cached, take(kPromptTokens, true)};
    observed_.hits.found = std::min(observed_.hits.found, observed_.hits.asked);
    counters_.erase(kHits);
    counters_.erase(kQueries);
  }

  // What counters say: rates between the first scrape and the last.
  void put_rates() {
    if (counters_.empty()) return;
    if (scrape_ == 0 || !opened_ || *at_ <= *opened_) {
      std::vector<std::string> rates;
      for (const auto& [rate, series] : counters_) rates.push_back(rate == kPromptTokens ? kAllTokens : rate);
      observed_.notes.push_back(fmt::format("counters tell no {}: {}", fmt::join(rates, ", "),
                                            scrape_ == 0 ? "they need two scrapes, and there is one"
                                                         : "they need the times of two scrapes ('# time SECONDS' "
                                                           "before each)"));
      return;
    }
    std::map<std::string, double> sums;
    for (const auto& [rate, series] : counters_)
      for (const auto& [labels, counter] : series) {
        const double time = counter.at.value_or(*at_) - counter.first_at.value_or(*opened_);
        if (time > 0) sums[rate] += counter.growth(false) / time;
      }
    if (sums.contains(kPromptTokens) && sums.contains(kOutputTokens))
      sums[kAllTokens] = sums[kPromptTokens] + sums[kOutputTokens];
    sums.erase(kPromptTokens);
    for (const auto& [rate, sum] : sums)
      if (sum > 0) observed_.numbers[rate] = sum;
  }

  traces::RowFile file_;
  Observed& observed_;
  Diagnostics& diagnostics_;
  std::set<std::string> seen_;            // series of this scrape
  std::set<std::string> fallen_;          // metrics
  std::map<std::string, double> starts_;  // of series that say when something began
  std::map<std::string, Engines> histograms_;
  std::map<std::string, Series> counters_;
  std::optional<double> at_, stamp_, began_;  // the time; of this sample; of the first sample of this scrape
  std::optional<double> opened_;              // the first time of the file
  Moments moments_;
  int scrape_ = 0;
};

bool recognises(std::string_view beginning) {
  return beginning.starts_with("# HELP ") || beginning.starts_with("# TYPE ") || beginning.starts_with("# time ");
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  Scrapes(path, observed, diagnostics).read();
}

}  // namespace

Reader prometheus() {
  return {"prometheus", "scrapes of /metrics of vLLM, SGLang or dcgm-exporter, one after the other", recognises, read};
}

}  // namespace llmscape::observe
