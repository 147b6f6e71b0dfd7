// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

// A text that messages can point into. `name` is what the user typed (a path, or "--set workload.rate=3"). Streamed
// files give `text` the offending line alone, with its number as `first_line`, or leave it empty: then no line is
// shown.
struct SourceText {
  std::string name;
  std::string text;
  int first_line = 1;
  std::string note{};  // printed below every message that points here: "included from scenario.yaml:11"
};

// A place in a source: line and column (in bytes, as compilers count) from 1; `length` bytes are underlined. Line 0 is
// the source as a whole. Without a source no place is printed.
struct SourceRange {
  std::shared_ptr<const SourceText> source;
  int line = 0;
  int column = 0;
  int length = 1;
};

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  SourceRange where;
  std::string message;             // one sentence without a final stop: "unknown key 'hbm_bandwith' in device 'gpu0'"
  std::string suggestion;          // "did you mean 'hbm_bandwidth'?", or empty
  std::vector<std::string> notes;  // "included from scenario.yaml:11"
};

// Collects every mistake of a run, so that a user sees all of them at once.
class Diagnostics {
 public:
  Diagnostic& error(SourceRange where, std::string message, std::string suggestion = {});
  Diagnostic& warning(SourceRange where, std::string message, std::string suggestion = {});
  // Passes on what sorted() of another gives; the note of its source comes by itself again.
  Diagnostic& add(const Diagnostic& one);
  // All of what was found by itself, as where one mistake would end the look at others.
  void add(const Diagnostics& found);
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] int errors() const { return errors_; }
  // Errors and warnings so far.
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  // Counts a failure that follows from something already reported, so that nothing is said twice.
  void already_reported() { ++errors_; }
  // In file order (by first appearance of the file, then line, then column); the same message at the same place once.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

  // "file:line:col: error: message", the line, a caret line with the suggestion, notes; then "2 errors. Nothing was
  // run." plus `closing` (for example "See 'llmscape show fields device'.") when there is an error; `ran` is what is
  // said where something was. The first 100 in full.
  [[nodiscard]] std::string text(bool colour, std::string_view closing = {},
                                 std::string_view ran = "Nothing was run.") const;
  // An array of {file, line, column, severity, message, suggestion, notes}.
  [[nodiscard]] std::string json() const;

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

// The candidate that `word` most likely means: the same but for case and hyphens, one that it begins, or the nearest by
// edit distance (transpositions count one) if that is near enough; else empty.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
// "did you mean 'x'?", "... 'xa', 'xb' or 'xc'?" of what 'x' begins, or an empty text when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
// A user's text for a message: cut to 60 characters, control characters as ' ', invalid UTF-8 as '?'.
std::string shortened(std::string_view text);
std::string in_quotes(std::string_view text);
// "scenario.yaml:11", or the name alone when there is no line; empty without a source.
std::string place_of(const SourceRange& where);

}  // namespace llmscape
