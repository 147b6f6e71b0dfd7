// SPDX-License-Identifier: Apache-2.0
#include "traces/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/table.hpp"
#include "traces/arrival_counter.hpp"
#include "traces/prefix_reuse.hpp"

namespace llmscape::traces {
namespace {

// How often each length occurs.
class LengthCounter {
 public:
  void add(std::int64_t tokens) {
    ++counts_[tokens];
    ++total_;
    sum_ += tokens;
  }

  [[nodiscard]] LengthStatistics statistics() const {
    if (total_ == 0) return {};
    return {static_cast<double>(sum_) / static_cast<double>(total_),
            quantile(0.1),
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            counts_.rbegin()->first};
  }

 private:
  [[nodiscard]] double quantile(double q) const {
    const double rank = q * static_cast<double>(total_ - 1);
    const auto below = static_cast<std::int64_t>(rank);
    const double low = at_rank(below), high = at_rank(std::min(below + 1, total_ - 1));
    return low + (rank - static_cast<double>(below)) * (high - low);
  }
  [[nodiscard]] double at_rank(std::int64_t rank) const {
    for (const auto& [tokens, count] : counts_) {
      if (rank < count) return static_cast<double>(tokens);
      rank -= count;
    }
    return 0;
  }

  std::map<std::int64_t, std::int64_t> counts_;
  std::int64_t total_ = 0, sum_ = 0;
};

class ReuseCounter {
 public:
  explicit ReuseCounter(int block_tokens) : block_tokens_(block_tokens) {}

  void add(const TraceRecord& record) {
    const std::int64_t shared = tree_.add(record.prompt);
    ++requests_;
    tokens_ += record.prompt_tokens;
    shared_tokens_ += shared;
    prefix_shares_ += static_cast<double>(shared) / static_cast<double>(record.prompt_tokens);
    blocks_ += record.prompt_tokens / block_tokens_;
    shared_blocks_ += shared / block_tokens_;
    std::int64_t end = 0;
    for (const Segment& segment : record.prompt) {
      contents_.insert(segment.id);
      end += segment.tokens;
      shared_segments_ += end <= shared;
    }
    segments_ += static_cast<std::int64_t>(record.prompt.size());
  }

  [[nodiscard]] std::optional<ReuseStatistics> statistics() const {
    if (requests_ == 0) return std::nullopt;
    ReuseStatistics out;
    out.requests = requests_;
    out.distinct_contents = static_cast<std::int64_t>(contents_.size());
    out.tokens = share(shared_tokens_, tokens_);
    out.mean_prefix = prefix_shares_ / static_cast<double>(requests_);
    out.segments = share(shared_segments_, segments_);
    out.block_tokens = block_tokens_;
    if (blocks_ > 0) out.blocks = share(shared_blocks_, blocks_);
    return out;
  }

 private:
  static double share(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  }

  int block_tokens_;
  PrefixTree tree_;
  std::unordered_set<ContentId> contents_;
  std::int64_t requests_ = 0, tokens_ = 0, shared_tokens_ = 0, segments_ = 0, shared_segments_ = 0, blocks_ = 0,
               shared_blocks_ = 0;
  double prefix_shares_ = 0;
};

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "-"; }
std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", *share * 100) : "-"; }
std::string rate(const std::optional<PerSecond>& r) { return r ? fmt::format("{:.4g} /s", r->si()) : "-"; }

void add_lengths(Table& table, const char* name, const LengthStatistics& lengths) {
  std::vector<std::string> cells = {name};
  for (const double value : {lengths.mean, lengths.p10, lengths.p50, lengths.p90, lengths.p99})
    cells.push_back(fmt::format("{:.0f}", value));
  cells.push_back(fmt::format("{}", lengths.maximum));
  table.row(std::move(cells));
}

}  // namespace

TraceStatistics describe(TraceReader& trace, int block_tokens, Diagnostics& diagnostics) {
  LengthCounter prompt, output;
  ArrivalCounter arrivals;
  ReuseCounter reuse(block_tokens);
  TraceStatistics out;
  while (const auto record = trace.next(diagnostics)) {
    ++out.requests;
    prompt.add(record->prompt_tokens);
    output.add(record->output_tokens);
    arrivals.add(record->arrival);
    if (record->known_content) reuse.add(*record);
  }
  out.format = trace.format();
  out.prompt = prompt.statistics();
  out.output = output.statistics();
  out.arrivals = arrivals.statistics();
  out.reuse = reuse.statistics();
  return out;
}

std::string text_of(const TraceStatistics& statistics) {
  Table lengths({"tokens", "mean", "p10", "p50", "p90", "p99", "max"});
  add_lengths(lengths, "prompt", statistics.prompt);
  add_lengths(lengths, "output", statistics.output);

  const ArrivalStatistics& a = statistics.arrivals;
  Table figures({"figure", "value", "meaning"});
  figures.row({"duration", fmt::format("{:.1f} s", a.duration.si()), "first to last arrival"});
  figures.row({"rate", rate(a.rate), "requests over duration"});
  figures.row({"peak minute", rate(a.peak_minute), "the fullest minute"});
  figures.row({"inter-arrival CV", number(a.interarrival_cv), "1: Poisson; above: bursts"});
  figures.row({"CV inside busy minutes", number(a.busy_cv),
               fmt::format("median of {} minutes with 60 arrivals or more", a.busy_minutes)});
  figures.row({"Fano 1 s", number(a.fano_1_s), "variance over mean of the arrivals in whole seconds"});
  figures.row({"Fano 60 s", number(a.fano_60_s), "the same in whole minutes"});
  figures.row({"empty minutes", percent(a.empty_minutes), "of the whole minutes"});
  if (const auto& r = statistics.reuse) {
    figures.row({"distinct contents", fmt::format("{}", r->distinct_contents), "ids in the prompts"});
    figures.row({"prefix reuse, tokens", percent(r->tokens), "of all prompt tokens, by an unlimited cache"});
    figures.row({"prefix reuse, segments", percent(r->segments), "of the trace's own pieces of content"});
    figures.row({"prefix reuse, blocks", percent(r->blocks), fmt::format("of the full blocks of {}", r->block_tokens)});
    figures.row({"mean reused prefix", percent(r->mean_prefix), "of a request's prompt"});
  }
  return fmt::format("{} requests, {}\n\n{}\n{}", statistics.requests, statistics.format, lengths.text(),
                     figures.text());
}

}  // namespace llmscape::traces
