// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/request_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/files.hpp"
#include "traces/cells.hpp"

namespace llmscape::validation {
namespace {

using PlainJson = nlohmann::json;

RequestTimes of_vllm(const PlainJson& row) {
  RequestTimes r;
  r.id = row.at("request_id");
  r.prompt_tokens = row.at("input_toks");
  r.output_tokens = row.at("output_toks");
  r.queued = row.at("queued_ts");
  r.scheduled = row.at("scheduled_ts");
  r.first_token = row.at("first_token_ts");
  r.last_token = row.at("last_token_ts");
  return r;
}

// A line of run --requests: times after its arrival, in ms. Nothing when it was not completed.
std::optional<RequestTimes> of_run(const PlainJson& row) {
  if (!row.at("error").is_null()) return std::nullopt;
  const PlainJson &metadata = row.at("metadata"), &metrics = row.at("metrics");
  const double arrival = metadata.at("request_start_ns").get<double>() * 1e-9;
  const auto after = [&](const char* name) { return arrival + metrics.at(name).at("value").get<double>() * 1e-3; };
  RequestTimes r;
  r.id = fmt::format("{}", metadata.at("session_num").get<std::uint64_t>());
  r.prompt_tokens = metrics.at("input_sequence_length").at("value").get<std::int64_t>();
  r.output_tokens = metrics.at("output_sequence_length").at("value").get<std::int64_t>();
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
    try {
      const PlainJson row = PlainJson::parse(*line);
      const auto times = row.contains("metadata") ? of_run(row) : of_vllm(row);
      if (!times) continue;
      check(*times);
      requests.push_back(*times);
    } catch (const PlainJson::exception&) {
      diagnostics.error({source, lines.line(), 1}, "this is no request with its times");
    } catch (const std::exception& mistake) {
      diagnostics.error({source, lines.line(), 1},
                        fmt::format("this is no request with its times: {}", shortened(mistake.what())));
    }
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
