// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "sim/observe/observed.hpp"
#include "traces/row.hpp"

namespace llmscape::observe {

// The lines of a file that a program may still have been writing when it was copied: a last one that has no end was cut
// off anywhere, perhaps in a number, and is left out. So is the end of a compressed stream that was cut, with a
// warning.
class LiveRows {
 public:
  explicit LiveRows(const std::string& path);
  // As RowFile::next.
  std::optional<traces::Row> next(Diagnostics& diagnostics);
  // Says what was left out.
  void note(Observed& observed) const;

 private:
  traces::RowFile file_;
  bool cut_, left_out_ = false;
  std::string held_, given_;  // the line after the one that was given
  int line_ = 0;              // of `held_`; 0: there is none
};

}  // namespace llmscape::observe
