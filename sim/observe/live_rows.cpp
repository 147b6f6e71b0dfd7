// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/live_rows.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace llmscape::observe {
namespace {

// Of compressed files, which say so themselves, and of streams nothing is asked.
bool ends_midway(const std::string& path) {
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) return false;
  std::ifstream file(path, std::ios::binary);
  const int first = file.get(), second = file.get();
  constexpr int kGzip = 0x1f, kZstd = 0x28, kZstdSecond = 0xb5;
  if (first == kGzip || (first == kZstd && second == kZstdSecond)) return false;
  file.clear();
  file.seekg(-1, std::ios::end);
  return file && file.get() != '\n';
}

}  // namespace

LiveRows::LiveRows(const std::string& path) : file_(path, traces::RowFile::Cut::warning), cut_(ends_midway(path)) {}

std::optional<traces::Row> LiveRows::next(Diagnostics& diagnostics) {
  if (!cut_) return file_.next(diagnostics);
  const bool first = line_ == 0;
  while (const auto row = file_.next(diagnostics)) {
    given_.swap(held_);
    const int line = line_;
    held_ = row->text();
    line_ = row->line();
    if (line > 0) return traces::Row(given_, file_.path(), line, diagnostics);
  }
  left_out_ = !first || line_ > 0;
  return std::nullopt;
}

void LiveRows::note(Observed& observed) const {
  if (left_out_ && !observed.courses.empty())
    observed.notes.push_back(fmt::format("line {} of {} has no end, as in a file that is still written: left out",
                                         line_, std::filesystem::path(file_.path()).filename().string()));
}

}  // namespace llmscape::observe
