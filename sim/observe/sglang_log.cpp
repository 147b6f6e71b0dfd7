// SPDX-License-Identifier: Apache-2.0
// The log of SGLang's server. Format strings: python/sglang/srt/managers/scheduler_metrics_mixin.py
// (log_prefill_stats, log_decode_stats) and python/sglang/srt/entrypoints/engine.py ("server_args=..."); of 0.4 to 0.5.
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

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  observed.settings["engine"] = "sglang";
  traces::RowFile file(path);
  std::map<std::string, Moments> moments;  // by rank
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
    const std::string rank = rank_of(line);
    if (!moments[rank].follows(*row, {}, *at)) continue;
    const auto add = [&](const char* quantity, std::string_view key, double most = 1e15) {
      if (const auto value = number_behind(*row, key, most)) observed.courses[quantity][rank].add(*at, *value);
    };
    // On a line of a prefill those that were decoding: the batch itself stands beside them.
    const double prefilled = prefill ? find_number(line, "#new-seq:").value_or(0) : 0;
    if (const auto decoding = number_behind(*row, "#running-req:"))
      observed.courses[quantity::kRunning][rank].add(*at, *decoding + prefilled);
    add(quantity::kWaiting, "#queue-req:");
    add(quantity::kKvUse, "token usage:", 1);
    if (decode) add(quantity::kOutputRate, "gen throughput (token/s):");
    else number_behind(*row, "#new-token:");
  }
}

}  // namespace

Reader sglang_log() { return {"sglang-log", "log of SGLang's server", recognises, read}; }

}  // namespace llmscape::observe
