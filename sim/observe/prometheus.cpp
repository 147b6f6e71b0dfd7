// SPDX-License-Identifier: Apache-2.0
// Scrapes of /metrics, Prometheus text format, one after the other in a file. What happened between the first and the
// last counts for histograms and counters; gauges are courses where samples have timestamps (or a line "# time SECONDS"
// stands before a scrape). Names: vllm/v1/metrics/loggers.py (PrometheusStatLogger), sglang/srt/metrics/collector.py,
// dcgm-exporter's default counters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "sim/observe/log_line.hpp"
#include "sim/observe/readers.hpp"
#include "traces/cells.hpp"

namespace llmscape::observe {
namespace {

struct Name {
  std::string_view theirs, ours;
  double scale = 1;
};
constexpr std::array kGauges = {
    Name{"vllm:num_requests_running", quantity::kRunning}, Name{"vllm:num_requests_waiting", quantity::kWaiting},
    Name{"vllm:kv_cache_usage_perc", quantity::kKvUse},    Name{"vllm:gpu_cache_usage_perc", quantity::kKvUse},
    Name{"sglang:num_running_reqs", quantity::kRunning},   Name{"sglang:num_queue_reqs", quantity::kWaiting},
    Name{"sglang:token_usage", quantity::kKvUse},          Name{"sglang:gen_throughput", quantity::kOutputRate},
    Name{"DCGM_FI_DEV_POWER_USAGE", quantity::kPower},     Name{"DCGM_FI_DEV_SM_CLOCK", quantity::kClock}};
constexpr std::array kHistograms = {
    Name{"vllm:time_to_first_token_seconds", "ttft_s"},  Name{"vllm:inter_token_latency_seconds", "itl_s"},
    Name{"vllm:time_per_output_token_seconds", "itl_s"}, Name{"vllm:request_time_per_output_token_seconds", "tpot_s"},
    Name{"vllm:e2e_request_latency_seconds", "e2e_s"},   Name{"sglang:time_to_first_token_seconds", "ttft_s"},
    Name{"sglang:inter_token_latency_seconds", "itl_s"}, Name{"sglang:e2e_request_latency_seconds", "e2e_s"}};

const Name* find(auto& names, std::string_view name) {
  for (const Name& each : names)
    if (each.theirs == name) return &each;
  return nullptr;
}

struct Histogram {
  std::map<double, double> buckets;  // by upper end, cumulative
  double sum = 0, count = 0;
};

class Scrapes {
 public:
  Scrapes(const std::string& path, Observed& observed, Diagnostics& diagnostics)
      : file_(path), observed_(observed), diagnostics_(diagnostics) {}

  void read() {
    while (const auto row = file_.next(diagnostics_)) line(*row);
    for (const auto& [name, last] : last_) put(name, first_.contains(name) ? first_[name] : Histogram(), last);
  }

 private:
  void line(const traces::Row& row) {
    const std::string_view text = row.text();
    if (text.starts_with('#')) {
      if (const auto at = find_number(text, "# time "); at && moments_.follows(row, {}, *at)) at_ = *at;
      return;
    }
    const std::size_t name_end = text.find_first_of("{ ");
    const std::string_view name = text.substr(0, name_end);
    std::string_view labels, rest = name_end == text.npos ? std::string_view() : text.substr(name_end);
    if (rest.starts_with('{')) {
      const std::size_t close = rest.find('}');
      if (close == rest.npos) return row.error({name_end}, "the labels have no '}'");
      labels = rest.substr(0, close + 1);
      rest = rest.substr(close + 1);
    }
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const std::size_t blank = rest.find(' ');
    const auto value = traces::parse_number<double>(rest.substr(0, blank));
    if (!value && rest.substr(0, blank) != "NaN" && rest.substr(0, blank) != "+Inf")
      return row.error({text.size() - rest.size(), std::max<std::size_t>(1, rest.size())},
                       fmt::format("a sample of {} must have a number", in_quotes(name)));
    if (!value || !std::isfinite(*value)) return;
    const traces::Span place{text.size() - rest.size(), std::max<std::size_t>(1, rest.size())};
    if (*value < 0 && (find(kGauges, name) || part_of(name)))
      return row.error(place, fmt::format("a sample of {} is below 0", in_quotes(name)));
    if (blank != rest.npos) {
      const auto stamp = traces::parse_number<double>(rest.substr(blank + 1));
      if (!stamp || !std::isfinite(*stamp))
        return row.error(place, fmt::format("{} is no timestamp", in_quotes(rest.substr(blank + 1))));
      at_ = *stamp / 1000;
      if (!moments_.follows(row, place, *at_)) return;
    }
    const std::string series = std::string(name) + std::string(labels);
    if (!seen_.insert(series).second) {  // it begins anew
      seen_.clear();
      seen_.insert(series);
      if (scrape_ == 0) first_ = last_;
      ++scrape_;
      last_.clear();
    }
    sample(row, name, labels, *value);
  }

  // A sample of a histogram that is known.
  static bool part_of(std::string_view name) {
    for (const std::string_view part : {"_bucket", "_sum", "_count"})
      if (name.ends_with(part) && find(kHistograms, name.substr(0, name.size() - part.size()))) return true;
    return false;
  }

  static std::string label(std::string_view labels, std::string_view key) {
    const std::string start = std::string(key) + "=\"";
    const std::size_t place = labels.find(start);
    if (place == labels.npos) return "";
    const std::string_view rest = labels.substr(place + start.size());
    return std::string(rest.substr(0, rest.find('"')));
  }

  void sample(const traces::Row& row, std::string_view name, std::string_view labels, double value) {
    if (const Name* gauge = find(kGauges, name)) {
      std::string of = label(labels, "engine");
      if (of.empty()) of = label(labels, "gpu");
      for (const std::string_view node : {"Hostname", "instance"})
        if (const std::string host = label(labels, node); !host.empty()) {
          of += '@' + host;
          break;
        }
      if (at_) observed_.courses[std::string(gauge->ours)][of].add(*at_, value * gauge->scale);
      return;
    }
    for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(part)) continue;
      const Name* known = find(kHistograms, name.substr(0, name.size() - part.size()));
      if (!known) return;
      Histogram& histogram = last_[std::string(known->ours)];
      if (part == "_sum") histogram.sum += value;
      else if (part == "_count") histogram.count += value;
      else {
        const std::string end = label(labels, "le");
        const auto upper = end == "+Inf" ? std::numeric_limits<double>::infinity() : traces::parse_number<double>(end);
        if (!upper || std::isnan(*upper))
          return row.error({}, fmt::format("the bucket has no upper end 'le', but {}", in_quotes(end)));
        histogram.buckets[*upper] += value;
      }
    }
  }

  // Figures of what came between; quantiles are linear in a bucket, as PromQL's histogram_quantile has them.
  void put(const std::string& metric, const Histogram& first, const Histogram& last) {
    const double count = last.count - first.count;
    if (count < 0 || last.sum < first.sum) {
      diagnostics_.error({std::make_shared<const SourceText>(SourceText{file_.path(), ""})},
                         fmt::format("the counters of '{}' fall between the first scrape and the last", metric),
                         "scrapes of one run of the server, in their order");
      return;
    }
    if (count == 0) return;
    observed_.numbers[metric + ".mean"] = (last.sum - first.sum) / count;
    for (const auto& [name, share] : {std::pair(".p50", 0.5), std::pair(".p90", 0.9), std::pair(".p99", 0.99)}) {
      double below = 0, from = 0;
      for (const auto& [end, total] : last.buckets) {
        const auto before = first.buckets.find(end);
        const double now = total - (before == first.buckets.end() ? 0 : before->second);
        if (now >= share * count) {
          if (std::isfinite(end) && now > below)
            observed_.numbers[metric + name] = from + (end - from) * (share * count - below) / (now - below);
          break;
        }
        below = now;
        from = end;
      }
    }
  }

  traces::RowFile file_;
  Observed& observed_;
  Diagnostics& diagnostics_;
  std::set<std::string> seen_;  // series of this scrape
  std::map<std::string, Histogram> first_, last_;
  std::optional<double> at_;
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
