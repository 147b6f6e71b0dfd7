// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_folder.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "hardware/table/table_device.hpp"
#include "sim/run/result_json.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

std::string named_from(const fs::path& path, const fs::path& folder) {
  return fs::proximate(fs::absolute(path), fs::absolute(folder)).string();
}

// Makes the relative path at the end of `keys` start from `to` instead of `from`.
void move_path(YamlNode& root, std::initializer_list<std::string_view> keys, const fs::path& from, const fs::path& to) {
  YamlNode* node = &root;
  for (const std::string_view key : keys) {
    node = node->find(key);
    if (!node) return;
  }
  const fs::path path = node->text;
  if (path.is_relative()) node->text = named_from(from / path, to);
}

// The same for the tables of devices, whose descriptions may stand elsewhere than the scenario.
void move_tables(YamlNode& root, const fs::path& to) {
  for (YamlNode& device : root.find("hardware")->find("devices")->items)
    if (YamlNode* tables = device.find("tables"); tables && fs::path(tables->text).is_relative())
      tables->text = named_from(hardware::tables_folder(*tables), to);
}

}  // namespace

YamlNode resolved_for(const run::Scenario& scenario, const fs::path& folder) {
  YamlNode tree = scenario.resolved;
  move_path(tree, {"model", "hf_config"}, scenario.folder, folder);
  move_path(tree, {"workload", "replay", "trace"}, scenario.folder, folder);
  move_tables(tree, folder);
  return tree;
}

RunFolder::RunFolder(fs::path folder, const run::Scenario& scenario, Extras extras)
    : folder_(std::move(folder)), scenario_(scenario) {
  std::error_code problem;
  made_ = fs::create_directories(folder_, problem);
  if (problem || !fs::is_directory(folder_))
    throw std::runtime_error(fmt::format("cannot make the folder '{}': {}", folder_.string(),
                                         problem ? problem.message() : "there is a file of that name"));
  if (extras.requests) {
    requests_file_ = std::make_unique<report::OutputFile>(folder_ / "requests.jsonl");
    requests_ = std::make_unique<report::RequestRows>(*requests_file_, scenario);
  }
  if (extras.timeline) {
    timeline_file_ = std::make_unique<report::OutputFile>(folder_ / "timeline.json");
    timeline_ = std::make_unique<report::Timeline>(*timeline_file_);
  }
}

RunFolder::~RunFolder() {
  requests_file_.reset();
  timeline_file_.reset();
  std::error_code not_empty;
  if (made_ && !finished_) fs::remove(folder_, not_empty);
}

std::vector<run::Watcher*> RunFolder::watchers() {
  std::vector<run::Watcher*> all;
  if (requests_) all.push_back(requests_.get());
  if (timeline_) all.push_back(timeline_.get());
  return all;
}

void RunFolder::finish(const run::RunResult& result, const std::vector<std::string>& arguments) {
  write_file_atomically(
      folder_ / "scenario.resolved.yaml",
      "# Every value of the run in run.json, presets and defaults spelled out: what 'run --from' reads.\n" +
          write_yaml(resolved_for(scenario_, folder_)));
  write_file_atomically(folder_ / "run.json", run::to_json(result));
  if (timeline_) timeline_->finish();
  for (const auto& [file, name] :
       {std::pair(requests_file_.get(), "requests.jsonl"), std::pair(timeline_file_.get(), "timeline.json")}) {
    if (file) file->keep();
    else fs::remove(folder_ / name);  // an earlier run's, which is not this one's
  }
  manifest_.write(folder_, arguments);
  finished_ = true;
}

}  // namespace llmscape::cli
