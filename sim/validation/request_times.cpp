// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/request_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/files.hpp"
#include "traces/cells.hpp"
#include "traces/row.hpp"

namespace llmscape::validation {
namespace {

using PlainJson = nlohmann::json;

// Each reads one key, or throws std::invalid_argument with what is wrong with it.
const PlainJson& value_of(const PlainJson& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw std::invalid_argument(fmt::format("'{}' is missing", key));
  return *found;
}
const PlainJson& object_of(const PlainJson& object, const char* key) {
  const PlainJson& value = value_of(object, key);
  if (!value.is_object()) throw std::invalid_argument(fmt::format("'{}' must be an object", key));
  return value;
}
double number_of(const PlainJson& object, const char* key) {
  const PlainJson& value = value_of(object, key);
  if (!value.is_number())
    throw std::invalid_argument(fmt::format("'{}' must be a number; got {}", key, shortened(value.dump())));
  return value.get<double>();
}
std::int64_t tokens_of(const PlainJson& object, const char* key) {
  const double tokens = number_of(object, key);
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (tokens != std::floor(tokens) || tokens < 0 || tokens > kMost)
    throw std::invalid_argument(
        fmt::format("'{}' must be a whole number of tokens; got {}", key, shortened(value_of(object, key).dump())));
  return static_cast<std::int64_t>(tokens);
}
// A text, or a whole number.
std::string id_of(const PlainJson& object, const char* key) {
  const PlainJson& value = value_of(object, key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  throw std::invalid_argument(
      fmt::format("'{}' must be a text or a whole number; got {}", key, shortened(value.dump())));
}

RequestTimes of_vllm(const PlainJson& row) {
  RequestTimes r;
  r.id = id_of(row, "request_id");
  r.prompt_tokens = tokens_of(row, "input_toks");
  r.output_tokens = tokens_of(row, "output_toks");
  r.queued = number_of(row, "queued_ts");
  r.scheduled = number_of(row, "scheduled_ts");
  r.first_token = number_of(row, "first_token_ts");
  r.last_token = number_of(row, "last_token_ts");
  return r;
}

// A line of run --requests: times after its arrival, in ms. Nothing when it was not completed.
std::optional<RequestTimes> of_run(const PlainJson& row) {
  if (!value_of(row, "error").is_null()) return std::nullopt;
  const PlainJson &metadata = object_of(row, "metadata"), &metrics = object_of(row, "metrics");
  const double arrival = number_of(metadata, "request_start_ns") * 1e-9;
  const auto after = [&](const char* name) { return arrival + number_of(object_of(metrics, name), "value") * 1e-3; };
  RequestTimes r;
  r.id = id_of(metadata, "session_num");
  r.prompt_tokens = tokens_of(object_of(metrics, "input_sequence_length"), "value");
  r.output_tokens = tokens_of(object_of(metrics, "output_sequence_length"), "value");
  r.queued = after("time_to_queue");
  r.scheduled = after("queue_time");
  r.first_token = after("time_to_first_token");
  r.last_token = after("request_latency");
  return r;
}

void check(const RequestTimes& r) {
  if (r.output_tokens < 1) throw std::invalid_argument("there is no output token");
  if (!(r.queued <= r.scheduled && r.scheduled <= r.first_token && r.first_token <= r.last_token))
    throw std::invalid_argument("its times are not in the order queued, scheduled, first token, last token");
}

std::size_t number_begins(const std::string& id) {
  return id.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
}
std::string_view before_number(const std::string& id) { return std::string_view(id).substr(0, number_begins(id)); }
std::optional<std::int64_t> number_at_end(const std::string& id) {
  return traces::parse_number<std::int64_t>(std::string_view(id).substr(number_begins(id)));
}

}  // namespace

std::optional<std::vector<RequestTimes>> read_request_times(const std::string& path, Diagnostics& diagnostics) {
  const auto source = std::make_shared<const SourceText>(SourceText{path, ""});
  const int errors = diagnostics.errors();
  std::vector<RequestTimes> requests;
  LineReader lines(path);
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t\r") == line->npos) continue;
    const auto report = [&](std::size_t column, const std::string& message) {
      diagnostics.error({source, lines.line(), static_cast<int>(std::max<std::size_t>(1, column))}, message);
    };
    try {
      const PlainJson row = PlainJson::parse(*line);
      if (!row.is_object()) throw std::invalid_argument("it is no object");
      const auto times = row.contains("metadata") ? of_run(row) : of_vllm(row);
      if (!times) continue;
      check(*times);
      requests.push_back(*times);
    } catch (const PlainJson::parse_error& mistake) {
      report(mistake.byte, "this is no JSON from here on");
    } catch (const PlainJson::exception&) {
      report(1, "this is no request with its times: a number is too large, or a text is no UTF-8");
    } catch (const std::exception& mistake) {
      report(1, fmt::format("this is no request with its times: {}", mistake.what()));
    }
    if (diagnostics.errors() - errors >= traces::RowFile::kMostErrors) break;
  }
  if (!lines.error().empty()) diagnostics.error({source}, lines.error());
  else if (requests.empty() && diagnostics.errors() == errors) diagnostics.error({source}, "no request was completed");
  if (diagnostics.errors() > errors) return std::nullopt;
  return requests;
}

std::vector<RequestTimes> request_times(const traces::EngineRecord& record) {
  std::vector<RequestTimes> requests;
  for (const traces::EngineRequest& r : record.requests)
    requests.push_back(
        {r.id, r.prompt_tokens, r.output_tokens, r.arrival_s, r.scheduled_s, r.first_token_s, r.last_token_s});
  return requests;
}

void put_in_order(std::vector<RequestTimes>& requests) {
  std::set<std::int64_t> numbers;
  for (const RequestTimes& r : requests)
    if (const auto number = number_at_end(r.id); number && before_number(r.id) == before_number(requests.front().id))
      numbers.insert(*number);
  if (numbers.size() == requests.size()) {
    std::ranges::sort(requests, {}, [](const RequestTimes& r) { return *number_at_end(r.id); });
  } else {
    std::ranges::stable_sort(requests, {}, &RequestTimes::queued);
  }
}

}  // namespace llmscape::validation
