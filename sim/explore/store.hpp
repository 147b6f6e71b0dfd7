// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/plan.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {

// The folder of a sweep was removed, or renamed, while its points ran.
struct FolderGone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The folder of a sweep. Every file appears under its name only when it is whole.
class Store {
 public:
  explicit Store(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path point(const std::string& id) const { return folder_ / "points" / (id + ".json"); }
  [[nodiscard]] std::filesystem::path failed(const std::string& id) const { return folder_ / "failed" / (id + ".log"); }
  [[nodiscard]] std::filesystem::path refused(const std::string& id) const {
    return folder_ / "refused" / (id + ".log");
  }
  [[nodiscard]] std::filesystem::path plan() const { return folder_ / "plan.yaml"; }
  [[nodiscard]] std::filesystem::path results() const { return folder_ / "results.csv"; }
  [[nodiscard]] bool has_points() const;
  // Throws FolderGone where the folder is not there any more: it is not made again, since what ran before is lost.
  void require() const;
  // A point's file stands there and is no whole one: empty, cut, or overwritten.
  [[nodiscard]] bool is_damaged(const std::string& id) const;
  // Moves it out of the way, so that the point runs again, and tells where to: damaged/<id>.json.
  std::filesystem::path set_aside(const std::string& id) const;
  // Each of a point's three files excludes the others. All throw FolderGone.
  void keep_point(const std::string& id, std::string_view json) const;
  void keep_failed(const std::string& id, std::string_view log) const;
  void keep_refused(const std::string& id, std::string_view log) const;

 private:
  void keep(const std::filesystem::path& file, std::string_view text, const std::string& id) const;

  std::filesystem::path folder_;
};

// The names of points: a hash of what their results come from, as far as it is known before they run. These are the
// scenario with its values, the seed, the program (`tool`: its version), all entries of the catalogues, and the files
// that the scenario names. What these lead to (tables of a device, lengths beside a trace) is known by what a run has
// opened: a point keeps the hashes of these files beside its result, and is good while they hold. The same point has
// the same name in every folder, so that a finished one need never run again.
class PointNames {
 public:
  PointNames(const Plan& plan, const std::string& tool, const scenario::Catalogs& catalogs);
  std::string of(const Point& point);
  // Of the files that the point's run opened or asked for, those that its name does not cover, as it keeps them: path
  // -> hash of the content, empty where there is no such file.
  [[nodiscard]] std::map<std::string, std::string> inputs_of(const Point& point,
                                                             const std::set<std::filesystem::path>& opened) const;
  // The point of that name has run, and all that it has opened is as it was.
  [[nodiscard]] bool has_run(const Store& store, const std::string& id);

 private:
  // The content of the files that the text names, relative to the plan's folder.
  const std::string& files_in(const std::string& text);

  std::filesystem::path folder_;
  std::string common_;
  std::vector<std::filesystem::path> catalogs_;            // absolute
  std::set<std::filesystem::path> in_base_;                // files that the base names
  std::map<std::string, std::string, std::less<>> files_;  // what is known of texts
  std::map<std::string, std::string> now_;                 // the hashes of inputs, as they are now
};

// The plan as one file that needs no other, but for files that its scenario names: what plan.yaml in the folder of a
// sweep holds.
std::string plan_text(const Plan& plan, const std::filesystem::path& folder);
// That text but for where its scenario's paths start, seen from the folder: a plan stays the same where one of the two
// is moved.
std::string without_folder(std::string text);

}  // namespace llmscape::explore
