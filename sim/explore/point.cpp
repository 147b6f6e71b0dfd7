// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::explore {
namespace {

using OrderedJson = nlohmann::ordered_json;

const std::string kInputs = "\"inputs\": ";  // begins a line
const std::string kEnd = "}}\n";

// Six digits are enough for a picture.
template <class Numbers>
std::string line(const char* name, const Numbers& numbers) {
  std::string out = fmt::format("\"{}\": [", name);
  for (const char* separator = ""; const double number : numbers)
    out += fmt::format("{}{:.6g}", std::exchange(separator, ", "), number);
  return out + ']';
}

std::string curves(const result::RunResult& result) {
  std::string out = '{' + line("levels", result::kCurveLevels);
  const auto add = [&out](const char* name, const result::Percentiles* p) {
    if (p) out += ", " + line(name, p->curve);
  };
  for (const char* key : {"ttft_s", "tpot_s", "itl_s", "e2e_s"}) add(key, result.latency[key]);
  return out + '}';
}

std::string series(const TimeLines& lines) {
  return fmt::format("{{\"window_s\": {}, \"largest_batch\": {}, {}, {}, {}, {}}}", lines.window_s, lines.largest_batch,
                     line("waiting", lines.waiting), line("batch", lines.batch), line("kv_blocks", lines.kv_blocks),
                     line("power_w", lines.power_w));
}

bool ends_whole(const std::filesystem::path& point_file) {
  std::string end(kEnd.size(), ' ');
  std::ifstream file(point_file, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return file && end == kEnd;
}

}  // namespace

std::string point_json(const Point& point, const std::string& id, const std::vector<std::string>& columns,
                       const std::string& scenario, const std::map<std::string, std::string>& inputs,
                       const result::RunResult& result, const TimeLines& lines) {
  OrderedJson values = OrderedJson::object();
  for (std::size_t i = 0; i < columns.size(); ++i) values[columns[i]] = point.values[i];
  return fmt::format(
      "{{\"schema\": \"point/1\",\n{}\"id\": \"{}\",\n\"repeat\": {},\n\"seed\": {},\n\"values\": {},\n\"scenario\": "
      "{},\n\"result\": {},\n\"curves\": {},\n\"series\": {}}}\n",
      inputs.empty() ? "" : kInputs + OrderedJson(inputs).dump() + ",\n", id, point.repeat, point.seed, values.dump(),
      OrderedJson(scenario).dump(), result::to_json_line(result), curves(result), series(lines));
}

std::optional<std::map<std::string, std::string>> inputs_of(const std::filesystem::path& point_file) {
  if (!ends_whole(point_file)) return std::nullopt;
  LineReader lines(point_file);
  if (lines.next() != "{\"schema\": \"point/1\",") return std::nullopt;
  std::string_view line = lines.next().value_or("");
  if (!line.starts_with(kInputs)) return std::map<std::string, std::string>();
  line.remove_prefix(kInputs.size());
  line.remove_suffix(line.ends_with(',') ? 1 : 0);
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  std::map<std::string, std::string> inputs;
  for (const auto& [path, hash] : json.items()) inputs[path] = hash.is_string() ? hash.get<std::string>() : "";
  return inputs;
}

std::optional<SavedScenario> saved_scenario(const std::filesystem::path& point_file, Diagnostics& diagnostics) {
  const SourceRange whole{std::make_shared<const SourceText>(SourceText{point_file.string(), ""})};
  std::string error;
  const auto text = read_file(point_file, error);
  const nlohmann::json json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  const bool is_point = json.is_object() && json.contains("schema") && json["schema"] == "point/1" &&
                        json.contains("scenario") && json["scenario"].is_string();
  if (!text || !is_point) {
    diagnostics.error(whole, text ? "this is no point of a sweep: no JSON with \"schema\": \"point/1\"" : error);
    return std::nullopt;
  }
  SavedScenario saved;
  const std::string yaml = json.at("scenario").get<std::string>();
  saved.tree = read_yaml(std::make_shared<const SourceText>(SourceText{point_file.string(), yaml}), diagnostics);
  saved.folder = point_file.parent_path();
  Diagnostics unheard;  // a point without its sweep is no mistake
  const std::filesystem::path sweep = saved.folder.parent_path();
  const YamlNode plan = read_yaml_file(sweep / "plan.yaml", unheard);
  if (const YamlNode* folder = plan.find("folder")) saved.folder = sweep / folder->text;
  return diagnostics.has_errors() ? std::nullopt : std::optional(std::move(saved));
}

}  // namespace llmscape::explore
