// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/streams/prompts.hpp"

namespace llmscape::workloads {

// A source file with a cursor: the text before it (the prefix) and after it (the suffix).
class EditedFile {
 public:
  EditedFile(Segment prefix, Segment suffix) {
    append(prefix_, prefix);
    append(suffix_, suffix);
  }
  // Text appears at the cursor, which is behind it then.
  void insert(Segment text) { append(prefix_, text); }
  // Text appears right behind the cursor, which stays where it is: the head of the suffix.
  void insert_behind(Segment text);
  // The cursor goes back (below 0) or forward, at most to an end of the file.
  void move(std::int64_t tokens);

  [[nodiscard]] const Prompt& prefix() const { return prefix_; }
  [[nodiscard]] const Prompt& suffix() const { return suffix_; }

 private:
  Prompt prefix_, suffix_;
};

}  // namespace llmscape::workloads
