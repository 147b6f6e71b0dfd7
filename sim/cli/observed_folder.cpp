// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/observed_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/files.hpp"
#include "sim/cli/own_files.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kObserved = "observed.json", *kScenario = "scenario.yaml", *kTrace = "trace.jsonl",
                     *kHost = "host.yaml";
// A folder that has the first one is of 'observe'; the others look like what users write.
constexpr std::array<OwnFile, 4> kOwn = {
    {{kObserved, R"("schema": "observed/1")"}, {kScenario, ""}, {kTrace, ""}, {kHost, ""}}};

// What stood in the place of the trace.
fs::path aside(const fs::path& folder) { return folder / fmt::format("{}.before", kTrace); }

}  // namespace

ObservedFolder::ObservedFolder(const std::string& users)
    : path_(users.empty() ? fs::temp_directory_path() / fmt::format("llmscape-observe-{}", getpid()) : fs::path(users)),
      users_(!users.empty()) {}

ObservedFolder::~ObservedFolder() {
  std::error_code gone;
  if (!users_) fs::remove_all(path_, gone);
  else if (!kept_) put_back();
}

void ObservedFolder::put_back() {
  std::error_code gone;
  if (traced_) {
    fs::remove(path_ / kTrace, gone);
    fs::rename(aside(path_), path_ / kTrace, gone);
  }
  for (const fs::path& folder : made_) fs::remove(folder, gone);  // not what somebody has filled since
}

void ObservedFolder::report_foreign(bool overwrite, Diagnostics& diagnostics) const {
  if (users_ && !is_own(path_, kOwn.front())) cli::report_foreign(path_, kOwn, overwrite, diagnostics);
}

void ObservedFolder::make() {
  for (fs::path folder = fs::absolute(path_); !fs::exists(folder); folder = folder.parent_path())
    made_.push_back(folder);
  make_folder(path_);
}

void ObservedFolder::write_trace(const std::string& text) {
  std::error_code none;
  fs::rename(path_ / kTrace, aside(path_), none);
  traced_ = true;
  write_file_atomically(path_ / kTrace, text);
}

void ObservedFolder::keep(const std::string& observed, const std::optional<std::string>& scenario,
                          const std::optional<std::string>& host, const std::vector<fs::path>& reads) {
  kept_ = true;
  std::error_code gone;
  fs::remove(aside(path_), gone);
  for (const OwnFile& file : kOwn) {
    const fs::path stands = path_ / file.name;
    const auto is_it = [&](const fs::path& read) {
      std::error_code missing;
      return fs::equivalent(read, stands, missing);
    };
    if (!(traced_ && file.name == kTrace) && std::ranges::none_of(reads, is_it)) fs::remove(stands);
  }
  write_file_atomically(path_ / kObserved, observed);
  if (scenario) write_file_atomically(path_ / kScenario, *scenario);
  if (host) write_file_atomically(path_ / kHost, *host);
}

}  // namespace llmscape::cli
