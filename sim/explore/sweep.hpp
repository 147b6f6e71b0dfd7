// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "sim/explore/plan.hpp"
#include "sim/explore/results.hpp"
#include "sim/explore/store.hpp"

namespace llmscape::explore {

// A part of a plan's points. Each run of `count` points that are not excluded has one for every part, by turns that a
// hash decides: sizes of parts differ by one at most, and none is all of one device.
struct Shard {
  std::uint64_t index = 0, count = 1;  // index < count
  // `turn`: how many points of the plan that are not excluded stand before this one.
  [[nodiscard]] bool has(std::uint64_t turn) const;
};

// The points of a plan that belong to the part, in the plan's order.
class ShardPoints {
 public:
  ShardPoints(const Plan& plan, const Shard& shard) : plan_(plan), shard_(shard) {}
  std::optional<Point> next();

 private:
  const Plan& plan_;
  Shard shard_;
  std::uint64_t at_ = 0, turn_ = 0;
};

struct SweepOptions {
  int jobs = 1;
  Shard shard;
  scenario::Catalogs catalogs;
  std::function<bool()> interrupted;                                     // starts no more points once it says so
  std::function<void(std::uint64_t ended, std::uint64_t all)> progress;  // counts points of the shard
};

struct SweepCounts {
  std::uint64_t points = 0;   // of the shard, excluded ones aside
  std::uint64_t known = 0;    // had run before
  std::uint64_t ran = 0;      // to their end, now
  std::uint64_t failed = 0;   // crashed, took too long, or their scenario was refused
  std::uint64_t refused = 0;  // left out, where the plan says `skip_refused`
  bool interrupted = false;
  std::vector<std::filesystem::path> damaged;  // points' files that were no whole ones, where they are now
};

// Runs what the folder lacks of the plan, in child processes that do many of the points. The files are the same
// whatever `jobs`, the shard or the order.
SweepCounts run_sweep(const Plan& plan, PointNames& names, const Store& store, const SweepOptions& options);

// The same for points that come in batches: the children stay for the next one, with the prices that they have made.
class PointRunner {
 public:
  PointRunner(const Plan& plan, PointNames& names, const SweepOptions& options);
  // Runs what the folder lacks of the points that `next` gives until it gives none, whatever the options' shard.
  // `points`: how many these are, for the progress.
  SweepCounts run(const Store& store, std::uint64_t points, const std::function<std::optional<Point>()>& next);

 private:
  // A point that is to run.
  struct Named {
    Point point;
    std::string id;
    std::string folder;  // of the results
    template <class Message>
    void cross(Message& m) {
      m(point, id, folder);
    }
  };
  // What a child says of its point: why its scenario cannot be read; nothing where it ran.
  using Refusal = std::optional<std::string>;

  // Keeps what became of a point; counts it.
  void keep(const Named& named, const TaskOutcome<Refusal>& outcome, const Store& store, SweepCounts& counts) const;

  const Plan& plan_;
  PointNames& names_;
  const SweepOptions& options_;
  ProcessPool<Named, Refusal> pool_;
};

struct MergeCounts {
  std::uint64_t points = 0, failed = 0, refused = 0, missing = 0;
  std::vector<std::filesystem::path> damaged;  // as above; they count as missing
};
// Writes results.csv from the points that are there. Throws FolderGone.
MergeCounts merge_results(const Plan& plan, PointNames& names, const Store& store);

// What results.csv says of a point that has run; nothing if it has not, or its file is damaged.
std::optional<ResultRow> row_of(const Point& point, const std::string& id, const Store& store);
// Writes results.csv from the rows that `next` gives until it gives none.
void write_results(const Plan& plan, const Store& store, const std::function<std::optional<ResultRow>()>& next);

// What results.csv and points/<id>.json say of one point, as the sweep makes them: reads its scenario, runs it, and
// returns point_json, with its inputs where `names` says which these are. Throws std::invalid_argument with the
// messages when the scenario is refused.
std::string run_point(const Plan& plan, const Point& point, const std::string& id, const scenario::Catalogs& catalogs,
                      const PointNames* names = nullptr);

// Reads one scenario for each value of each axis (of long axes the first and last ones), so that mistakes are found
// before anything runs. With `skip_refused` only a plan of which nothing can run is a mistake, and files that cannot be
// read are warnings.
void check_plan(const Plan& plan, const scenario::Catalogs& catalogs, Diagnostics& diagnostics);
// What `skip_refused` leaves out as a file that it names cannot be read (a device of another version) is not what it is
// there for, and is told. `refused`: why the points `values` cannot run.
void warn_of_files(const Plan& plan, const Diagnostics& refused, const std::string& values, Diagnostics& diagnostics);

}  // namespace llmscape::explore
