// SPDX-License-Identifier: Apache-2.0
// The log of `vllm serve`. Format strings: vllm/v1/metrics/loggers.py (LoggingStatLogger.log), vllm/v1/engine/core.py
// ("Initializing a V1 LLM engine (v%s) with config: %s"), vllm/v1/core/kv_cache_utils.py ("GPU KV cache size: %s
// tokens"), vllm/entrypoints/utils.py ("non-default args: %s"); of 0.8 to 0.22.
#include "sim/observe/live_rows.hpp"
#include "sim/observe/log_line.hpp"
#include "sim/observe/readers.hpp"

namespace llmscape::observe {
namespace {

constexpr std::string_view kStats = "Avg prompt throughput:";

std::string engine_of(std::string_view line) {
  const std::size_t place = line.find("Engine ");
  if (const std::size_t all = line.find(" Engines Aggregated:"); all != line.npos) {
    const std::size_t count = line.find_last_not_of("0123456789", all - 1);
    return std::string(line.substr(count + 1, all - count)) + "Engines Aggregated";
  }
  if (place == line.npos) return "0";
  const std::size_t end = line.find(':', place);
  return std::string(line.substr(place + 7, end == line.npos ? 0 : end - place - 7));
}

// Of one engine: its hits are of the last thousand calls, and are known best by the last line.
struct PrefixHits {
  double share = 0, prompts = 0;
};

void read_stats(const traces::Row& row, Observed& observed, std::map<std::string, PrefixHits>& hits, double at) {
  const std::string engine = engine_of(row.text());
  const auto add = [&](const char* quantity, std::string_view key, double scale, double most = 1e15) {
    if (const auto value = number_behind(row, key, most)) observed.courses[quantity][engine].add(at, *value * scale);
  };
  add(quantity::kPromptRate, kStats, 1);
  add(quantity::kOutputRate, "Avg generation throughput:", 1);
  add(quantity::kRunning, "Running:", 1);
  add(quantity::kWaiting, row.text().find("Pending:") != std::string_view::npos ? "Pending:" : "Waiting:", 1);
  add(quantity::kKvUse, "GPU KV cache usage:", 0.01, 100);
  PrefixHits& own = hits[engine];
  if (const auto share = find_number(row.text(), "Prefix cache hit rate:")) own.share = *share / 100;
  own.prompts += find_number(row.text(), kStats).value_or(0);
}

void read_settings(std::string_view line, Observed& observed) {
  const auto behind = [&line](std::string_view key) {
    const std::size_t place = line.find(key);
    return place == line.npos ? std::string_view() : line.substr(place + key.size());
  };
  const auto word = [](std::string_view text) { return std::string(text.substr(0, text.find_first_of(" ),'\t"))); };
  if (const auto rest = behind("vLLM API server version "); !rest.empty()) observed.settings["version"] = word(rest);
  if (const auto rest = behind("LLM engine (v"); !rest.empty()) {
    observed.settings["version"] = word(rest);
    if (const auto model = line.find("model='"); model != line.npos) {
      const std::string_view name = line.substr(model + 7);  // a path may have blanks
      observed.settings["model"] = name.substr(0, name.find('\''));
    }
  }
  if (const auto rest = behind("non-default args: "); !rest.empty()) {
    for (auto& [name, value] : python_arguments(rest)) observed.arguments[name] = value;
    for (const char* name : {"model_tag", "model"})
      if (const auto model = observed.arguments.find(name); model != observed.arguments.end())
        observed.settings["model"] = model->second;
  }
  if (const auto tokens = find_number(line, "GPU KV cache size:"))
    observed.settings["kv_tokens"] = std::to_string(static_cast<std::int64_t>(*tokens));
  if (const auto blocks = find_number(line, "# GPU blocks:"))
    observed.settings["kv_blocks"] = std::to_string(static_cast<std::int64_t>(*blocks));
}

bool recognises(std::string_view beginning) {
  return beginning.find(kStats) != beginning.npos || beginning.find("vLLM API server version") != beginning.npos ||
         beginning.find("LLM engine (v") != beginning.npos;
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  observed.settings["engine"] = "vllm";
  observed.log_period = 10;  // VLLM_LOG_STATS_INTERVAL; lines of idle engines are of the level DEBUG
  observed.quiet_after = kSilent * *observed.log_period;
  LiveRows file(path);
  std::map<std::string, PrefixHits> hits;
  YearlessClock clock;
  Moments moments;
  while (const auto row = file.next(diagnostics)) {
    const std::string_view line = row->text();
    if (line.find(kStats) == line.npos) {
      read_settings(line, observed);
      continue;
    }
    const auto told = time_in(line);
    if (!told) {
      row->error({}, "the line has no time: MM-DD HH:MM:SS");
      continue;
    }
    const double at = clock.at(*told);
    if (moments.follows(*row, {}, at)) read_stats(*row, observed, hits, at);
  }
  file.note(observed);
  for (const auto& [engine, own] : hits) {
    observed.hits.found += own.share * own.prompts;
    observed.hits.asked += own.prompts;
  }
}

}  // namespace

Reader vllm_log() { return {"vllm-log", "log of 'vllm serve'", recognises, read}; }

}  // namespace llmscape::observe
