// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/observe/json_file.hpp"

namespace llmscape::observe {

std::string to_json(const Observed& observed) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "observed/1"}, {"sources", observed.sources}, {"requests", observed.requests.size()}};
  if (observed.left_out > 0) json["left_out"] = observed.left_out;
  if (const auto given_up =
          std::ranges::count_if(observed.requests, [](const Request& r) { return r.gave_up.has_value(); }))
    json["given_up"] = given_up;
  const Shown shown = shown_by(observed);
  if (shown.engines > 0) {
    json["engines"] = shown.engines;
    json["working_engines"] = shown.working;
  }
  if (shown.devices > 0) json["devices"] = shown.devices;
  if (!observed.notes.empty()) json["notes"] = observed.notes;
  json["settings"] = Json::object();
  for (const auto& [name, value] : observed.settings) json["settings"][name] = value;
  json["arguments"] = Json::object();
  for (const auto& [name, value] : observed.arguments) json["arguments"][name] = value;
  json["metrics"] = Json::object();
  for (const auto& [name, value] : figures(observed)) json["metrics"][name] = value;
  for (const auto& [name, ends] : ends_of_figures(observed)) json["within"][name] = {ends.least, ends.most};
  json["courses"] = Json::object();
  for (const auto& [quantity, by_engine] : observed.courses) {
    Json& course = json["courses"][quantity] = Json::array();
    for (const auto& s : observed.total(quantity)) course.push_back({s.at, s.value});
  }
  return json.dump(1) + '\n';
}

std::optional<Figures> read_figures(const std::string& path, Diagnostics& diagnostics) {
  const auto file = JsonFile::read(path, diagnostics);
  if (!file) return std::nullopt;
  const int errors = diagnostics.errors();
  if (file->text(file->root(), "schema") != "observed/1")
    file->error("schema", "this is no observed/1 file of 'llmscape observe -o'");
  Figures all;
  const auto count = [&file](const char* key) {
    constexpr double kMost = 1e15;
    return static_cast<std::int64_t>(std::min(kMost, file->number(file->root(), key, false).value_or(0)));
  };
  all.left_out = count("left_out");
  all.requests = count("requests");
  all.given_up = count("given_up");
  all.shown = {count("engines"), count("working_engines"), count("devices")};
  const auto metrics = file->root().find("metrics");
  if (metrics == file->root().end() || !metrics->is_object()) file->error("metrics", "'metrics' must be an object");
  else
    for (const auto& [name, value] : metrics->items())
      if (const auto number = file->number(*metrics, name)) all.values[name] = *number;
  if (const auto within = file->root().find("within"); within != file->root().end() && within->is_object())
    for (const auto& [name, ends] : within->items()) {
      const bool two = ends.is_array() && ends.size() == 2 && ends[0].is_number() && ends[1].is_number();
      if (two && ends[0] <= ends[1]) all.within[name] = {ends[0].get<double>(), ends[1].get<double>()};
      else file->error("within", fmt::format("{} must have two ends, the lower one first", in_quotes(name)));
    }
  if (diagnostics.errors() > errors) return std::nullopt;
  return all;
}

std::string trace_text(const Observed& observed, std::int64_t longest_sequence) {
  // How long answers that were given up would have been nobody knows. Theirs is as long as any, or as the server takes
  // where none has a token, so that a server that is faster works at them until the end, too.
  std::int64_t longest_answer = 0;
  for (const Request& r : observed.requests) longest_answer = std::max(longest_answer, r.output_tokens);
  if (longest_answer == 0) longest_answer = longest_sequence;
  std::string text = "{\"schema\": \"trace/1\"}\n";
  for (const Request& r : observed.requests) {
    std::int64_t output = r.output_tokens;
    if (r.gave_up) output = std::max(output + 1, std::min(longest_answer, longest_sequence - r.prompt_tokens));
    text += fmt::format("{{\"arrival_s\": {:.9g}, \"prompt_tokens\": {}, \"output_tokens\": {}", r.arrival,
                        r.prompt_tokens, output);
    if (r.gave_up) text += fmt::format(", \"give_up_s\": {:.9g}", *r.gave_up);
    text += "}\n";
  }
  return text;
}

}  // namespace llmscape::observe
