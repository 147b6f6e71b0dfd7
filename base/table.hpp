// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>
#include <vector>

namespace llmscape {

// Terminal text: columns padded to their widest cell, numbers right-aligned, no wider than `width` where its words
// allow that (the widest columns of text go on in further lines; nothing is cut). UTF-8 aware.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);
  [[nodiscard]] std::string text(int width = 100) const;
  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

enum class ColourMode { automatic, always, never };
// Whether to colour text on `stream`: a terminal, no NO_COLOR, or as the user said.
bool use_colour(ColourMode mode, std::FILE* stream);
// Width of the terminal behind `stream`; 100 if it is none.
int terminal_width(std::FILE* stream);
// Width of text to read on `stream`: the terminal's, but from 40 to 100 columns.
int text_width(std::FILE* stream);

// Progress on stderr: a bar with ETA on a terminal, otherwise one line per 10 %.
class Progress {
 public:
  Progress(std::string label, bool quiet);
  ~Progress();
  void update(double share);  // 0 to 1; cheap to call often
 private:
  std::string label_;
  bool quiet_, terminal_;
  double last_ = -1;
  double started_ = 0;
};

}  // namespace llmscape
