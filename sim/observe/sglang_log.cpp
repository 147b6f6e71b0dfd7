// SPDX-License-Identifier: Apache-2.0
// The log of SGLang's server. Format strings: python/sglang/srt/managers/scheduler_metrics_mixin.py
// (log_prefill_stats, log_decode_stats) and python/sglang/srt/entrypoints/engine.py ("server_args=..."); of 0.4 to 0.5.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "sim/observe/live_rows.hpp"
#include "sim/observe/log_line.hpp"
#include "sim/observe/readers.hpp"

namespace llmscape::observe {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string rank_of(std::string_view line) {
  const std::size_t place = line.find(" DP");
  return place == line.npos ? "0"
                            : std::string(line.substr(place + 1, line.find_first_of(" ]", place + 1) - place - 1));
}

bool recognises(std::string_view beginning) {
  return holds(beginning, "server_args=ServerArgs(") || holds(beginning, "Prefill batch") ||
         holds(beginning, "Decode batch");
}

// Lines of one rank. Their times are whole seconds, in which there may be several: they are one sample, a rate the mean
// of those that its lines tell.
class Rank {
 public:
  Rank(Observed& observed, std::string name) : observed_(&observed), name_(std::move(name)) {}

  void begin(double at) {
    if (at_ && at == *at_) return;
    finish();
    at_ = at;
  }
  void add(const char* quantity, double value) {
    Sum& sum = sums_[quantity];
    sum.value += value;
    ++sum.count;
  }
  void add_prompt(double tokens) { prompt_ += tokens; }

  void finish() {
    if (!at_) return;
    // A line of a whole second was written somewhere in it.
    const bool whole = *at_ == std::floor(*at_);
    const double at = *at_ + (whole ? kSecond / 2 : 0), before = last_.value_or(at - kSecond);
    // A rate is of the time until then: until the end of that second.
    const double late = whole ? kSecond / 2 : 0;
    for (const auto& [quantity, sum] : sums_)
      put(quantity, at + (quantity == std::string_view(quantity::kOutputRate) ? late : 0), sum.value / sum.count);
    // Nothing is written while nothing runs.
    const double since = at - before > kQuiet ? at - kSecond : before;
    if (since > before) put(quantity::kPromptRate, since + late, 0);
    put(quantity::kPromptRate, at + late, prompt_ / (at - since));
    sums_.clear();
    prompt_ = 0;
    last_ = at;
    at_.reset();
  }

  static constexpr double kQuiet = 10;  // s; a batch writes a line every 40 steps

 private:
  struct Sum {
    double value = 0, count = 0;
  };
  void put(const char* quantity, double at, double value) { observed_->courses[quantity][name_].add(at, value); }
  static constexpr double kSecond = 1;
  Observed* observed_;
  std::string name_;
  std::optional<double> at_, last_;  // the time of the lines that are open, and of the sample before them
  std::map<const char*, Sum> sums_;
  double prompt_ = 0;  // tokens
};

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  observed.settings["engine"] = "sglang";
  observed.quiet_after = Rank::kQuiet;
  observed.first_tokens_uncounted = true;  // scheduler_metrics_mixin.py: num_generated_tokens counts decoded ones
  LiveRows file(path);
  std::map<std::string, Moments> moments;  // by rank
  std::map<std::string, Rank> ranks;
  while (const auto row = file.next(diagnostics)) {
    const std::string_view line = row->text();
    if (const std::size_t place = line.find("server_args=ServerArgs("); place != line.npos) {
      observed.arguments = python_arguments(line.substr(place));
      if (const auto model = observed.arguments.find("model_path"); model != observed.arguments.end())
        observed.settings["model"] = model->second;
    }
    if (const auto tokens = find_number(line, "max_total_num_tokens="))
      observed.settings["kv_tokens"] = std::to_string(static_cast<std::int64_t>(*tokens));
    const bool prefill = holds(line, "Prefill batch"), decode = holds(line, "Decode batch");
    if (!prefill && !decode) continue;
    const auto at = time_in(line);
    if (!at) {
      row->error({}, "the line has no time: [YYYY-MM-DD HH:MM:SS");
      continue;
    }
    const std::string name = rank_of(line);
    if (!moments[name].follows(*row, {}, *at)) continue;
    Rank& rank = ranks.try_emplace(name, observed, name).first->second;
    rank.begin(*at);
    const auto add = [&](const char* quantity, std::string_view key, double most = 1e15) {
      if (const auto value = number_behind(*row, key, most)) rank.add(quantity, *value);
    };
    // On a line of a prefill those that were decoding: the batch itself stands beside them.
    const double prefilled = prefill ? find_number(line, "#new-seq:").value_or(0) : 0;
    if (const auto decoding = number_behind(*row, "#running-req:")) rank.add(quantity::kRunning, *decoding + prefilled);
    add(quantity::kWaiting, "#queue-req:");
    add(quantity::kKvUse, "token usage:", 1);
    if (decode) {
      add(quantity::kOutputRate, "gen throughput (token/s):");
    } else if (const auto computed = number_behind(*row, "#new-token:")) {
      const double cached = std::max(0.0, find_number(line, "#cached-token:").value_or(0));
      rank.add_prompt(*computed);
      observed.hits.found += cached;
      observed.hits.asked += cached + *computed;
    }
  }
  for (auto& [name, rank] : ranks) rank.finish();
  file.note(observed);
}

}  // namespace

Reader sglang_log() { return {"sglang-log", "log of SGLang's server", recognises, read}; }

}  // namespace llmscape::observe
