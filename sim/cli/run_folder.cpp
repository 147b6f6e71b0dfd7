// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_folder.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "sim/result/result_json.hpp"
#include "sim/scenario/scenario_paths.hpp"
#include "sim/scenario/written.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

YamlNode resolved_for(const scenario::Scenario& scenario, const fs::path& folder) {
  return scenario::moved_paths(scenario::written(scenario), scenario.folder, folder);
}

RunFolder::RunFolder(fs::path folder, const scenario::Scenario& scenario, Extras extras)
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

std::vector<world::Watcher*> RunFolder::watchers() {
  std::vector<world::Watcher*> all;
  if (requests_) all.push_back(requests_.get());
  if (timeline_) all.push_back(timeline_.get());
  return all;
}

void RunFolder::finish(const result::RunResult& result, const std::vector<std::string>& arguments) {
  write_file_atomically(
      folder_ / "scenario.resolved.yaml",
      "# Every value of the run in run.json, presets and defaults spelled out: what 'run --from' reads.\n" +
          write_yaml(resolved_for(scenario_, folder_)));
  write_file_atomically(folder_ / "run.json", result::to_json(result));
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
