// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "traces/compression.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::traces {

// A folder for the traces that a test makes; gone with the test.
class TraceFolder {
 public:
  TraceFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "llmscape-traces-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TraceFolder() { std::filesystem::remove_all(path_); }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  // Writes `content`, compressed as the name says, and returns the path.
  std::string write(const std::string& name, std::string_view content) const {
    const std::string path = path_of(name);
    write_file_atomically(path, compressed_for(path, content));
    return path;
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// All records of a trace, up to the first broken row.
inline std::vector<TraceRecord> read_all(const std::string& path, std::string_view format, Diagnostics& diagnostics) {
  std::vector<TraceRecord> records;
  const auto trace = open_trace(path, format, {}, diagnostics);
  while (trace) {
    auto record = trace->next(diagnostics);
    if (!record) break;
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace llmscape::traces
