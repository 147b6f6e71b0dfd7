// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "sim/cli/manifest.hpp"
#include "sim/report/request_rows.hpp"
#include "sim/report/timeline.hpp"
#include "sim/result/result.hpp"

namespace llmscape::cli {

// What `run -o DIR` leaves behind: scenario.resolved.yaml, run.json, on request requests.jsonl and timeline.json, and
// manifest.json, which alone holds wall time, dates and host. All of it or nothing: until finish() the folder is as it
// was.
class RunFolder {
 public:
  struct Extras {
    bool requests = false, timeline = false;
  };

  // Reports files in the folder that are somebody else's and that the run would replace.
  static void report_foreign(const std::filesystem::path& folder, Extras extras, bool overwrite,
                             Diagnostics& diagnostics);
  // Makes the folder if it is not there. Throws std::runtime_error where that cannot be.
  RunFolder(std::filesystem::path folder, const scenario::Scenario& scenario, Extras extras);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Who writes while the scenario runs.
  [[nodiscard]] std::vector<world::Watcher*> watchers();
  void finish(const result::RunResult& result, const std::vector<std::string>& arguments);

 private:
  std::filesystem::path folder_;
  bool made_ = false, finished_ = false;
  const scenario::Scenario& scenario_;
  Manifest manifest_;
  std::unique_ptr<AtomicFile> requests_file_, timeline_file_;
  std::unique_ptr<report::RequestRows> requests_;
  std::unique_ptr<report::Timeline> timeline_;
};

// The resolved scenario as a file in `folder` would have to say it: what it names by a relative path is named from
// there.
YamlNode resolved_for(const scenario::Scenario& scenario, const std::filesystem::path& folder);

}  // namespace llmscape::cli
