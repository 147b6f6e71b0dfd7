// SPDX-License-Identifier: Apache-2.0
// The JSON export of GuideLLM: benchmarks[].requests.successful[] (src/guidellm/benchmark/benchmark.py and
// schemas/generative, 0.2 to 0.4). Names of the times of a request changed once: request_start_time was start_time.
#include <fmt/format.h>

#include "sim/observe/json_file.hpp"
#include "sim/observe/readers.hpp"

namespace llmscape::observe {
namespace {

using Json = JsonFile::Json;

bool recognises(std::string_view beginning) {
  return beginning.find("\"benchmarks\"") != beginning.npos || beginning.find("\"guidellm") != beginning.npos;
}

std::string known(const Json& object, const char* now, const char* before) {
  return object.contains(now) ? now : before;
}

void read_request(const JsonFile& file, const Json& object, Observed& observed) {
  if (!object.is_object()) return file.error("successful", "entries of 'successful' must be objects");
  const auto start = file.number(object, known(object, "request_start_time", "start_time"));
  const auto prompt = file.tokens(object, "prompt_tokens"), output = file.tokens(object, "output_tokens");
  const auto ttft = file.number(object, "time_to_first_token_ms", false);
  const auto latency = file.number(object, "request_latency", false);
  if (!start || !prompt || !output) return;
  Request r;
  r.arrival = *start;
  r.prompt_tokens = *prompt;
  r.output_tokens = *output;
  if (ttft) r.ttft = *ttft / 1000;
  r.e2e = latency;
  if (r.prompt_tokens > 0 && r.output_tokens > 0) observed.requests.push_back(r);
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  const auto file = JsonFile::read(path, diagnostics);
  if (!file) return;
  const Json* benchmarks = file->list(file->root(), "benchmarks");
  if (!benchmarks) return;
  if (benchmarks->size() != 1)
    return file->error("benchmarks",
                       fmt::format("the file has {} benchmarks, each a load of its own; one is read: write "
                                   "one a file",
                                   benchmarks->size()));
  const Json& only = benchmarks->front();
  if (!only.is_object() || !only.contains("requests") || !only["requests"].is_object())
    return file->error("requests", "a benchmark must have 'requests': export with all of them");
  const Json* successful = file->list(only["requests"], "successful");
  if (!successful) return;
  for (const Json& request : *successful) read_request(*file, request, observed);
  std::size_t sent = successful->size();
  for (const char* others : {"errored", "incomplete"})
    if (const auto found = only["requests"].find(others); found != only["requests"].end() && found->is_array())
      sent += found->size();
  observed.note_unanswered(sent);
}

}  // namespace

Reader guidellm() { return {"guidellm", "JSON export of GuideLLM, one benchmark", recognises, read}; }

}  // namespace llmscape::observe
