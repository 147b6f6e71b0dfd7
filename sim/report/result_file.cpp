// SPDX-License-Identifier: Apache-2.0
#include "sim/report/result_file.hpp"

#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace llmscape::report {

using Json = nlohmann::ordered_json;

Json read_result(std::filesystem::path path, Diagnostics& diagnostics) {
  const bool of_sweep = std::filesystem::is_directory(path / "points") && !std::filesystem::exists(path / "run.json");
  if (std::filesystem::is_directory(path) && !of_sweep) path /= "run.json";
  const SourceRange file{std::make_shared<const SourceText>(SourceText{path.string(), ""})};
  if (of_sweep) {
    diagnostics.error(file, "this folder is of a sweep, and has a result for each point",
                      "name one: " + (path / "points" / "ID.json").string());
    return nullptr;
  }
  std::string error;
  const auto text = read_file(path, error);
  if (!text) {
    diagnostics.error(file, error);
    return nullptr;
  }
  Json json = Json::parse(*text, nullptr, false);
  const auto schema_of = [](const Json& value) { return value.is_object() ? value.value("schema", Json()) : Json(); };
  if (schema_of(json) == "point/1" && json.contains("result")) json = Json(json["result"]);
  if (schema_of(json) != "run/1") {
    diagnostics.error(file, "this is not a result of 'llmscape run': no JSON with \"schema\": \"run/1\"",
                      "'llmscape run SCENARIO -o FOLDER' makes one");
    return nullptr;
  }
  return json;
}

}  // namespace llmscape::report
