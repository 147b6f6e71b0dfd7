// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/statistics.hpp"
#include "sim/validation/comparison.hpp"

// What a server, its client and its devices left behind, whatever wrote it down (docs/observe.md).
namespace llmscape::observe {

// A quantity over time, of one engine or device. Keeps at most kMost samples: neighbours are joined beyond, so that
// logs of any length fit the memory.
class Course {
 public:
  static constexpr std::size_t kMost = 1 << 14;
  struct Sample {
    double at = 0;  // s, on the clock of the file
    double value = 0;
    double weight = 1;  // samples that were joined
  };
  void add(double at, double value);
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  void shift(double seconds);
  // What another file says of the same engine or device at other times.
  void append(const Course& other);
  // Whether both tell of the same time, by more than what lines of one file may change places.
  [[nodiscard]] bool overlaps(const Course& other) const;

 private:
  void join_neighbours();
  std::vector<Sample> samples_;
  double weight_ = 1;  // of a whole sample
  Sample open_{0, 0, 0};
};

// The usual time between two samples, of those from `first` on: their median. 0 where fewer than two are left.
double usual_spacing(const std::vector<Course::Sample>& samples, std::size_t first = 0);

// Quantities over time that are known, in these units.
namespace quantity {
inline constexpr const char* kRunning = "running";                 // requests
inline constexpr const char* kWaiting = "waiting";                 // requests
inline constexpr const char* kKvUse = "kv_use";                    // share of the pool
inline constexpr const char* kPromptRate = "prompt_tokens_per_s";  // mean since the sample before
inline constexpr const char* kOutputRate = "output_tokens_per_s";  // the same
inline constexpr const char* kPower = "power_w";                   // of a device
inline constexpr const char* kClock = "sm_clock_mhz";              // of a device
}  // namespace quantity

// One call as its client saw it. Times in seconds; what is not known is absent.
struct Request {
  double arrival = 0;  // on the clock of the file
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  std::optional<double> ttft, e2e;  // to the first token, to the last
  // When its client gave it up, after its arrival: `output_tokens`, perhaps none, came until then, and no time is
  // known.
  std::optional<double> gave_up{};
  std::uint64_t id{};  // by which the same record is known in another file; 0: none

  [[nodiscard]] std::optional<double> tpot() const;
  // When it was over, as far as that is known.
  [[nodiscard]] double end() const { return arrival + (gave_up ? *gave_up : e2e.value_or(0)); }
};

// Usual spacings of an engine's samples after which nothing is known of it, or it rests.
inline constexpr double kSilent = 1.5;

struct Observed {
  // What the log says of the engine: "engine", "version", "model", "kv_tokens", "kv_blocks", and its arguments by their
  // names with underscores ("tensor_parallel_size").
  std::map<std::string, std::string> settings, arguments;
  // By quantity, then by engine or device; those of another file that are of the same time have "@FILE" behind theirs.
  std::map<std::string, std::map<std::string, Course>> courses;
  std::map<std::string, std::string> told_by;  // of each quantity, the format of the files that tell it
  std::vector<Request> requests;               // by arrival
  // What was only told as a figure: columns of 'llmscape list metrics' ("ttft_s.p50").
  std::map<std::string, double> numbers;
  std::map<std::string, validation::Ends> within;  // of those that were made of buckets of a histogram
  Distribution gaps;                               // between tokens of the requests, where the file tells each
  std::vector<std::string> sources;                // files, in their order
  // The engine's log has a line of each period (usual_spacing, else this many seconds), but none while it is idle: what
  // a line tells as a mean is of one period, however long ago the line before is.
  std::optional<double> log_period;
  // Engines of these logs write nothing while they rest: one that was silent for so many seconds, and for kSilent of
  // its periods, had nothing to do. Absent: what is not sampled is not known.
  std::optional<double> quiet_after;
  bool first_tokens_uncounted = false;  // in the rates of answers: the engine counts what it decodes
  // Of prompt tokens that were asked of the prefix cache, those that were there.
  struct Hits {
    double found = 0, asked = 0;
  };
  Hits hits;
  std::string hits_by;             // the format of the files that tell it
  std::vector<std::string> notes;  // what was left out or taken for granted, in words

  // When the first call came that the server had, on the clock of the file: also one of a warm-up, which is in no list.
  std::optional<double> first_call;
  std::set<std::uint64_t> records;  // ids of all calls, also of those that failed
  // Of each file of calls, from the first one to the end of the last.
  struct Calls {
    std::string file;
    double first = 0, last = 0;
  };
  std::vector<Calls> calls;

  std::size_t left_out = 0;  // requests that the server had and `requests` has not: they failed
  // Notes what became of `sent` requests, of which `requests` holds those that were answered, and those that were given
  // up at a time that is known; nothing where all were answered.
  void note_unanswered(std::size_t sent);

  // What another file of that format says, beside this. Of settings a log of the engine knows best, then what was read
  // first. Devices and engines of the same names at the same time are others than those known, unless another format
  // tells of the same ones: that is left out, with a note.
  void add(Observed more, const std::string& format);
  // Figures that a file tells, of metrics that no file before it told; a note names the others.
  void add_numbers(const Observed& more, const std::string& file);
  // The sum over engines or devices, at the samples of all of them (of such as are half a period apart, one); shares
  // and clocks are their mean. An engine of a log that is silent counts as 0, another that has no sample near is not
  // there; devices are summed where all of them were sampled.
  [[nodiscard]] std::vector<Course::Sample> total(const std::string& quantity) const;

 private:
  void note_unlike(const Observed& more, const std::string& file);
  void leave_out_repeated(Observed& more, const std::string& file);
};

// Whether the quantity is told of devices, and not of engines.
bool is_of_devices(const std::string& quantity);

// Figures of the requests, and the means of the courses while requests were served, and those that were told of what
// these do not say: "ttft_s.mean", "tpot_s.p99", "mean_w".
std::map<std::string, double> figures(const Observed& observed);
// Those of them that are known to lie between two ends only.
std::map<std::string, validation::Ends> ends_of_figures(const Observed& observed);

// What a quantity was over time, all engines or devices together (Observed::total).
struct CourseSummary {
  double samples = 0, mean = 0, most = 0;
};
// Of each quantity that was read: of engines since they began to work, of devices from 0 on.
std::map<std::string, CourseSummary> over_time(const Observed& observed);

// What the files show of the machine: engines that tell of themselves (an index of a log, an instance of a scrape),
// those of them that worked, and devices whose power was sampled.
struct Shown {
  std::int64_t engines = 0, working = 0, devices = 0;
};
Shown shown_by(const Observed& observed);

// Schema observed/1: settings, arguments, numbers and courses; requests are written as a trace beside it.
std::string to_json(const Observed& observed);
// The metrics of such a file, and the ends of those that have them; nothing after reporting.
struct Figures {
  std::int64_t left_out = 0;  // requests of which nothing but that is known
  std::int64_t requests = 0, given_up = 0;
  Shown shown;
  std::map<std::string, double> values;
  std::map<std::string, validation::Ends> within;
};
std::optional<Figures> read_figures(const std::string& path, Diagnostics& diagnostics);
// The trace (trace/1) of the requests, for a server that takes a prompt and an answer of so many tokens together.
std::string trace_text(const Observed& observed, std::int64_t longest_sequence);

}  // namespace llmscape::observe
