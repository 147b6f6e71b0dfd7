// SPDX-License-Identifier: Apache-2.0
// The result of `vllm bench serve --save-result`, with requests where it is --save-detailed. Keys:
// vllm/benchmarks/serve.py (benchmark, main), 0.9 to 0.22. start_times are there since 0.11.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "sim/observe/json_file.hpp"
#include "sim/observe/readers.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::observe {
namespace {

using Json = JsonFile::Json;

bool recognises(std::string_view beginning) {
  const auto holds = [&](std::string_view part) { return beginning.find(part) != beginning.npos; };
  return beginning.find_first_not_of(" \r\n\t") != beginning.npos &&
         beginning[beginning.find_first_not_of(" \r\n\t")] == '{' &&
         holds("\"endpoint_type\"") | holds("\"total_input_tokens\"") | holds("\"request_rate\"") |
             holds("\"backend\"");
}

void read_numbers(const JsonFile& file, Observed& observed) {
  for (const metrics::Column& column : metrics::columns()) {
    if (column.metric->vllm.empty()) continue;
    // mean_ttft_ms, median_ttft_ms, p99_ttft_ms; request_throughput.
    std::string key(column.metric->vllm);
    if (!column.statistic.empty()) key = (column.statistic == "p50" ? "median" : column.statistic) + '_' + key;
    if (!file.root().contains(key)) continue;
    if (const auto value = file.number(file.root(), key, false))
      observed.numbers[column.name] = column.statistic.empty() ? *value : *value / 1000;
  }
}

// When calls were sent, where the result has no start_times: at the rate that was asked for, and while max_concurrency
// of them are out, when the first of these has ended. The gaps that the benchmark drew at that rate are not known.
class Sending {
 public:
  Sending(const JsonFile& file, std::size_t calls, double duration, std::vector<std::string>& notes) {
    const Json& root = file.root();
    const auto rate = root.find("request_rate");
    const bool at_once = rate != root.end() && rate->is_string() && *rate == "inf";
    const bool said = rate != root.end() && rate->is_number() && rate->get<double>() > 0;
    const auto most = file.number(root, "max_concurrency", false);
    if (most && *most >= 1) most_ = *most;
    std::string how = "at once";
    if (said) {
      gap_ = 1 / rate->get<double>();
      how = fmt::format("evenly, {:g} a second", rate->get<double>());
    } else if (!at_once && calls > 0) {
      gap_ = duration / static_cast<double>(calls);
      how = "evenly over the duration";
    }
    if (most_ < static_cast<double>(calls)) how += fmt::format(", at most {:.0f} at a time", most_);
    notes.push_back(
        fmt::format("the file says no start_times (vLLM has them since 0.11): calls are taken as sent {}", how));
  }

  // Of the next call, which took so long.
  double next(double took) {
    double start = gap_ * sent_++;
    if (static_cast<double>(ends_.size()) >= most_) {
      start = std::max(start, ends_.top());
      ends_.pop();
    }
    ends_.push(start + took);
    return start;
  }

 private:
  double gap_ = 0, most_ = std::numeric_limits<double>::infinity(), sent_ = 0;
  std::priority_queue<double, std::vector<double>, std::greater<>> ends_;  // of calls that are out
};

void read_requests(const JsonFile& file, Observed& observed) {
  const Json& root = file.root();
  const Json *inputs = file.list(root, "input_lens"), *outputs = file.list(root, "output_lens"),
             *firsts = file.list(root, "ttfts"), *gaps = file.list(root, "itls");
  if (!inputs || !outputs || !firsts || !gaps) return;
  const Json* starts = root.contains("start_times") ? file.list(root, "start_times") : nullptr;
  const Json* errors = root.contains("errors") && root["errors"].is_array() ? &root["errors"] : nullptr;
  for (const auto& [name, list] : {std::pair("output_lens", outputs), std::pair("ttfts", firsts),
                                   std::pair("itls", gaps), std::pair("start_times", starts)})
    if (list && list->size() != inputs->size())
      return file.error(
          name, fmt::format("'{}' has {} entries where 'input_lens' has {}", name, list->size(), inputs->size()));
  const double duration = file.number(root, "duration").value_or(0);
  std::optional<Sending> sending;
  if (!starts && !inputs->empty()) sending.emplace(file, inputs->size(), duration, observed.notes);
  std::size_t answered = 0;
  Distribution between;
  double later_tokens = 0;
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    const bool failed =
        errors && i < errors->size() && (*errors)[i].is_string() && !(*errors)[i].get<std::string>().empty();
    if (failed && starts) continue;
    const auto number = [&](const Json* list, const char* key) -> double {
      const Json& value = (*list)[i];
      if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
      file.error(key, fmt::format("entry {} of '{}' must be a number of at least 0", i, key));
      return 0;
    };
    const auto tokens = [&](const Json* list, const char* key) -> std::int64_t {
      const double value = number(list, key);
      if (value <= static_cast<double>(JsonFile::kMostTokens) && value == std::floor(value))
        return static_cast<std::int64_t>(value);
      file.error(key, fmt::format("entry {} of '{}' must be a whole number of tokens up to {}", i, key,
                                  JsonFile::kMostTokens));
      return 0;
    };
    Request r;
    r.prompt_tokens = tokens(inputs, "input_lens");
    r.output_tokens = tokens(outputs, "output_lens");
    r.ttft = number(firsts, "ttfts");
    double e2e = *r.ttft;
    const Json& own = (*gaps)[i];
    if (!own.is_array()) return file.error("itls", fmt::format("entry {} of 'itls' must be a list", i));
    for (const Json& gap : own) {
      if (!gap.is_number() || gap.get<double>() < 0)
        return file.error("itls", fmt::format("entry {} of 'itls' must hold numbers of at least 0", i));
      e2e += gap.get<double>();
    }
    r.e2e = e2e;
    r.arrival = starts ? number(starts, "start_times") : sending->next(e2e);
    if (failed || r.prompt_tokens == 0 || r.output_tokens == 0) continue;
    observed.requests.push_back(r);
    ++answered;
    for (const Json& gap : own) between.add(gap.get<double>());
    later_tokens += static_cast<double>(r.output_tokens - 1);
  }
  // A chunk may hold two tokens where characters end between them; of drafts it holds several.
  constexpr double kNearlyEach = 0.9;
  if (static_cast<double>(between.count()) >= kNearlyEach * later_tokens) observed.gaps = between;
  else
    observed.notes.push_back(
        fmt::format("'itls' has {} gaps between {:.0f} tokens: several came at a time, and it tells no ITL",
                    between.count(), later_tokens + static_cast<double>(answered)));
  observed.note_unanswered(inputs->size());
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  const auto file = JsonFile::read(path, diagnostics);
  if (!file) return;
  if (const auto model = file->root().find("model_id"); model != file->root().end() && model->is_string())
    observed.settings.try_emplace("model", model->get<std::string>());
  for (const char* key : {"max_concurrency", "num_prompts"})
    if (const auto value = file->number(file->root(), key, false))
      observed.settings[key] = fmt::format("{:.0f}", *value);
  read_numbers(*file, observed);
  if (file->root().contains("input_lens")) read_requests(*file, observed);
}

}  // namespace

Reader vllm_bench() { return {"vllm-bench", "result of 'vllm bench serve --save-detailed'", recognises, read}; }

}  // namespace llmscape::observe
