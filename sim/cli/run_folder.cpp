// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_folder.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/result/result_json.hpp"
#include "sim/scenario/scenario_paths.hpp"
#include "sim/scenario/written.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

constexpr OwnFile kResolved{"scenario.resolved.yaml", "# Every value of the run in run.json"};
constexpr OwnFile kRequests{"requests.jsonl", R"({"metadata":{"session_num":)"};
constexpr OwnFile kTimeline{"timeline.json", R"({"displayTimeUnit":"ms","traceEvents":[)"};

}  // namespace

void RunFolder::report_foreign(const fs::path& folder, Extras extras, bool overwrite, Diagnostics& diagnostics) {
  std::vector<OwnFile> files = {kResolved, kResultFile, Manifest::kFile};
  if (extras.requests) files.push_back(kRequests);
  if (extras.timeline) files.push_back(kTimeline);
  cli::report_foreign(folder, files, overwrite, diagnostics);
  report_other(folder, kPlanFile, "a sweep", diagnostics);
}

YamlNode resolved_for(const scenario::Scenario& scenario, const fs::path& folder) {
  return scenario::moved_paths(scenario::written(scenario), scenario.folder, folder);
}

RunFolder::RunFolder(fs::path folder, const scenario::Scenario& scenario, Extras extras)
    : folder_(std::move(folder)), scenario_(scenario) {
  made_ = make_folder(folder_);
  if (extras.requests) {
    requests_file_ = std::make_unique<AtomicFile>(folder_ / kRequests.name);
    requests_ = std::make_unique<report::RequestRows>(*requests_file_, scenario);
  }
  if (extras.timeline) {
    timeline_file_ = std::make_unique<AtomicFile>(folder_ / kTimeline.name);
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
      folder_ / kResolved.name,
      "# Every value of the run in run.json, presets and defaults spelled out: what 'run --from' reads.\n" +
          write_yaml(resolved_for(scenario_, folder_)));
  write_file_atomically(folder_ / kResultFile.name, result::to_json(result));
  if (timeline_) timeline_->finish();
  for (const auto& [file, own] :
       {std::pair(requests_file_.get(), kRequests), std::pair(timeline_file_.get(), kTimeline)}) {
    if (file) file->commit();
    else if (is_own(folder_, own)) fs::remove(folder_ / own.name);  // an earlier run's, which is not this one's
  }
  manifest_.write(folder_, arguments);
  finished_ = true;
}

}  // namespace llmscape::cli
