// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/temporary_file.hpp"
#include "traces/row_reader.hpp"

namespace llmscape::traces {

// Puts any number of records in order of their times, those of one instant in the order in which they were added,
// within bounded memory: as bytes without gaps, and beyond `most_bytes` of them as sorted runs in a temporary file,
// which are merged. Where in their rows times stood is forgotten. All throw std::runtime_error when that file fails.
class RecordSpool {
 public:
  explicit RecordSpool(std::size_t most_bytes = std::size_t{16} << 20) : most_bytes_(most_bytes) {}

  void add(const TimedRecord& record);
  // Called once, behind the last add() and before the first next().
  void sort();
  std::optional<TimedRecord> next();

 private:
  struct Held {
    std::int64_t nanoseconds;
    std::size_t at, size;  // in bytes_
  };
  // A sorted part of the file, of which a piece at a time is in memory.
  struct Run {
    std::uint64_t at, end;  // in the file: what is not in `piece` yet
    std::string piece;
    std::size_t read = 0;  // of the piece
  };
  struct First {  // of a run
    std::int64_t nanoseconds;
    std::size_t run;
    bool operator>(const First& other) const {
      return nanoseconds != other.nanoseconds ? nanoseconds > other.nanoseconds : run > other.run;
    }
  };

  void sort_held();
  void write_run();
  // Makes the next `bytes` bytes of the run stand in its piece.
  void need(Run& run, std::size_t bytes);
  void offer(std::size_t run);

  std::size_t most_bytes_;
  std::string bytes_;
  std::vector<Held> held_;  // of bytes_
  std::size_t handed_out_ = 0;
  std::unique_ptr<TemporaryFile> file_;
  std::vector<Run> runs_;
  std::priority_queue<First, std::vector<First>, std::greater<>> firsts_;
};

}  // namespace llmscape::traces
