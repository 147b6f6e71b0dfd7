// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page_points.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "base/files.hpp"

namespace llmscape::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPictureDigits = 4;

std::optional<std::string> text_of(const fs::path& file, Diagnostics& diagnostics) {
  std::string error;
  auto text = read_file(file, error);
  if (!text) diagnostics.warning({std::make_shared<const SourceText>(SourceText{file.string(), ""})}, error);
  return text;
}

std::optional<Json> object_of(const fs::path& file, const char* schema, Diagnostics& diagnostics) {
  const auto text = text_of(file, diagnostics);
  if (!text) return std::nullopt;
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_object() && json.value("schema", Json()) == schema) return json;
  diagnostics.warning({std::make_shared<const SourceText>(SourceText{file.string(), ""})},
                      fmt::format("no JSON with \"schema\": \"{}\"; the report leaves it out", schema));
  return std::nullopt;
}

// The parts of a result that no column has.
Json pictured(const Json& run) {
  Json result = Json::object();
  for (const char* pointer :
       {"/verdict/reasons", "/warnings", "/model", "/hardware", "/energy/joules", "/energy/joules_per_output_token",
        "/time_share", "/provenance", "/breakdown", "/utilisation"}) {
    const Json::json_pointer place(pointer);
    if (run.contains(place)) result[place] = run.at(place);
  }
  return rounded(result, kPictureDigits);
}

std::optional<PointFile> read_run(const fs::path& folder, Diagnostics& diagnostics) {
  const auto run = object_of(folder / "run.json", "run/1", diagnostics);
  if (!run) return std::nullopt;
  PointFile point;
  if (fs::exists(folder / "scenario.resolved.yaml"))
    point.scenario = text_of(folder / "scenario.resolved.yaml", diagnostics).value_or("");
  point.detail["result"] = pictured(*run);
  return point;
}

}  // namespace

std::vector<std::size_t> SharedLines::add(std::string_view text) {
  std::vector<std::size_t> runs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto known = places_.find(line);
    if (known == places_.end()) {
      known = places_.emplace(line, lines_.size()).first;
      lines_.emplace_back(line);
    }
    if (!runs.empty() && *(runs.end() - 2) + runs.back() == known->second) ++runs.back();
    else runs.insert(runs.end(), {known->second, 1});
  }
  return runs;
}

std::optional<PointFile> read_point(const fs::path& folder, const std::string& id, Diagnostics& diagnostics) {
  const fs::path file = folder / "points" / (id + ".json");
  if (!fs::exists(file) && fs::exists(folder / "run.json")) return read_run(folder, diagnostics);
  const auto json = object_of(file, "point/1", diagnostics);
  if (!json) return std::nullopt;
  PointFile point;
  point.scenario = json->value("scenario", "");
  if (json->contains("result")) point.detail["result"] = pictured(json->at("result"));
  if (json->contains("curves")) {
    point.detail["curves"] = rounded(json->at("curves"), kPictureDigits);
    point.levels = json->at("curves").value("levels", Json());
    point.detail["curves"].erase("levels");
  }
  if (json->contains("series")) point.detail["series"] = rounded(json->at("series"), kPictureDigits);
  return point;
}

double rounded(double value, int digits) { return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr); }

Json rounded(const Json& json, int digits) {
  if (json.is_number_float()) {
    const double value = rounded(json.get<double>(), digits);
    const auto whole = static_cast<std::int64_t>(value);
    // Whole numbers without the point and zero that JSON would give them.
    if (std::abs(value) < 1e15 && static_cast<double>(whole) == value) return whole;
    return value;
  }
  if (!json.is_structured()) return json;
  Json copy = json;
  for (auto& part : copy) part = rounded(Json(part), digits);
  return copy;
}

}  // namespace llmscape::report
