// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostics.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace llmscape {
namespace {

constexpr int kShownColumns = 100;  // longer source lines are cut around the place
constexpr int kColumnsBefore = 60;
constexpr int kShownMessages = 100;

const std::string& name_of(const SourceRange& where) {
  static const std::string nowhere;
  return where.source ? where.source->name : nowhere;
}

struct Palette {
  std::string_view bold, error, warning, caret, off;
};
constexpr Palette kPlain = {};
constexpr Palette kColours = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m", "\033[0m"};

// The line that `where` names, or nothing if the source does not hold it.
std::string_view line_of(const SourceRange& where) {
  if (!where.source || where.line < where.source->first_line) return {};
  std::string_view rest = where.source->text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (int line = where.source->first_line; line < where.line; ++line) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

// The source line and the carets below it; empty if the source does not hold the line.
std::string excerpt(const Diagnostic& d, const Palette& palette) {
  const std::string_view line = line_of(d.where);
  if (line.empty()) return {};
  const auto offset = std::min<std::size_t>(line.size(), static_cast<std::size_t>(std::max(d.where.column, 1) - 1));
  int before = static_cast<int>(printable(line.substr(0, offset)).size());
  const int under =
      static_cast<int>(printable(line.substr(offset, static_cast<std::size_t>(std::max(d.where.length, 1)))).size());
  std::vector<std::string> cells = printable(line);
  if (static_cast<int>(cells.size()) > kShownColumns && before > kColumnsBefore) {
    const int cut = before - kColumnsBefore;
    cells.erase(cells.begin(), cells.begin() + cut);
    cells.front() = "…";
    before -= cut;
  }
  if (static_cast<int>(cells.size()) > kShownColumns) {
    cells.resize(kShownColumns);
    cells.back() = "…";
  }
  const int underlined = std::max(1, std::min(under, static_cast<int>(cells.size()) - before));
  const std::string number = fmt::format("{:5}", d.where.line);
  std::string out = fmt::format("{} | {}\n{:{}} | {:{}}{}^{:~<{}}{}", number, fmt::join(cells, ""), "", number.size(),
                                "", before, palette.caret, "", underlined - 1, palette.off);
  if (!d.suggestion.empty()) out += ' ' + d.suggestion;
  return out + '\n';
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Without case and without what stands between words: "Llama3-70B" is "llama370b".
std::string bare(std::string_view text) {
  std::string kept;
  for (const char c : lower(text))
    if (c != '-' && c != '_' && c != '.' && c != ' ' && c != '/') kept += c;
  return kept;
}

// Whether the word is the end of a name, from one of its parts on: "tokens_per_s" of "output_tokens_per_s".
bool ends(std::string_view name, std::string_view word) {
  return name.size() > word.size() && name.ends_with(word) &&
         std::string_view("_.-/").find(name[name.size() - word.size() - 1]) != std::string_view::npos;
}

// The candidates that the word most likely means, best first: the same but for case and what stands between words;
// those that it begins, else those that it ends (up to three, the shortest); else the one that most resembles it, of
// equal ones the one whose beginning does.
std::vector<std::string> alike(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLeast = 3, kMost = 3;  // letters that begin a word; words to choose from
  const std::string wanted = bare(word);
  if (wanted.empty()) return {};
  std::vector<std::string> begun, ended;
  std::string best;
  int best_distance =
      static_cast<int>(std::min<std::size_t>(word.size(), 1 + std::max<std::size_t>(word.size() / 3, 1)));
  std::size_t best_start = 0;
  for (const std::string& candidate : candidates) {
    const std::string known = bare(candidate);
    if (known == wanted) return {candidate};
    if (wanted.size() >= kLeast && known.starts_with(wanted)) begun.push_back(candidate);
    if (word.size() >= kLeast && ends(candidate, word)) ended.push_back(candidate);
    if (std::abs(static_cast<int>(known.size()) - static_cast<int>(wanted.size())) > best_distance) continue;
    const int distance = edit_distance(wanted, known);
    const auto start = static_cast<std::size_t>(std::ranges::mismatch(wanted, known).in1 - wanted.begin());
    if (distance > best_distance || (distance == best_distance && (best.empty() || start <= best_start))) continue;
    best_distance = distance;
    best_start = start;
    best = candidate;
  }
  for (std::vector<std::string>* some : {&begun, &ended}) {
    if (some->empty()) continue;
    std::ranges::stable_sort(*some, {}, &std::string::size);
    some->resize(std::min(some->size(), kMost));
    return *some;
  }
  return best.empty() ? std::vector<std::string>() : std::vector{best};
}

}  // namespace

Diagnostic& Diagnostics::error(SourceRange where, std::string message, std::string suggestion) {
  ++errors_;
  return all_.emplace_back(
      Diagnostic{Severity::error, std::move(where), std::move(message), std::move(suggestion), {}});
}

Diagnostic& Diagnostics::warning(SourceRange where, std::string message, std::string suggestion) {
  return all_.emplace_back(
      Diagnostic{Severity::warning, std::move(where), std::move(message), std::move(suggestion), {}});
}

Diagnostic& Diagnostics::add(const Diagnostic& one) {
  Diagnostic& added = one.severity == Severity::error ? error(one.where, one.message, one.suggestion)
                                                      : warning(one.where, one.message, one.suggestion);
  for (const std::string& note : one.notes)
    if (!one.where.source || note != one.where.source->note) added.notes.push_back(note);
  return added;
}

void Diagnostics::add(const Diagnostics& found) {
  for (const Diagnostic& one : found.sorted()) add(one);
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::map<std::string, std::size_t> appearance;
  for (const Diagnostic& d : all_) appearance.emplace(name_of(d.where), appearance.size());
  std::set<std::tuple<std::size_t, int, int, std::string>> seen;
  std::vector<Diagnostic> out;
  for (const Diagnostic& d : all_) {
    if (!seen.emplace(appearance.at(name_of(d.where)), d.where.line, d.where.column, d.message).second) continue;
    out.push_back(d);
    if (d.where.source && !d.where.source->note.empty()) out.back().notes.push_back(d.where.source->note);
  }
  const auto place = [&](const Diagnostic& d) {
    return std::tuple(appearance.at(name_of(d.where)), d.where.line, d.where.column);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return out;
}

std::string Diagnostics::text(bool colour, std::string_view closing, std::string_view ran) const {
  const Palette& palette = colour ? kColours : kPlain;
  std::string out;
  int errors = 0;
  int shown = 0;
  for (const Diagnostic& d : sorted()) {
    const bool is_error = d.severity == Severity::error;
    errors += is_error;
    if (++shown > kShownMessages) continue;
    std::string place = place_of(d.where);
    if (!place.empty() && d.where.line > 0) place += fmt::format(":{}", d.where.column);
    if (!place.empty()) out += fmt::format("{}{}:{} ", palette.bold, printable_text(place), palette.off);
    out += fmt::format("{}{}:{} {}", is_error ? palette.error : palette.warning, is_error ? "error" : "warning",
                       palette.off, printable_text(d.message));
    const std::string lines = excerpt(d, palette);
    if (lines.empty() && !d.suggestion.empty()) out += "; " + d.suggestion;
    out += '\n' + lines;
    for (const std::string& note : d.notes) out += "note: " + printable_text(note) + '\n';
  }
  if (shown > kShownMessages) out += fmt::format("{} more messages are not shown.\n", shown - kShownMessages);
  if (errors > 0) {
    out += fmt::format("{} error{}. {}", errors, errors == 1 ? "" : "s", ran);
    if (!closing.empty()) out += fmt::format(" {}", closing);
    out += '\n';
  }
  return out;
}

std::string Diagnostics::json() const {
  auto out = nlohmann::ordered_json::array();
  for (const Diagnostic& d : sorted())
    out.push_back({{"file", name_of(d.where)},
                   {"line", d.where.line},
                   {"column", d.where.column},
                   {"severity", d.severity == Severity::error ? "error" : "warning"},
                   {"message", d.message},
                   {"suggestion", d.suggestion},
                   {"notes", d.notes}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string> all = alike(word, candidates);
  return all.empty() ? std::string() : all.front();
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  std::string said;
  const std::vector<std::string> all = alike(word, candidates);
  for (std::size_t i = 0; i < all.size(); ++i)
    said += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i]);
  return said.empty() ? said : fmt::format("did you mean {}?", said);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::vector<std::string> cells = printable(text.substr(0, 4 * kShown + 4));
  if (cells.size() > kShown) {
    cells.resize(kShown);
    cells.push_back("…");
  }
  return fmt::format("{}", fmt::join(cells, ""));
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", shortened(text)); }

std::string place_of(const SourceRange& where) {
  if (!where.source) return {};
  return where.line > 0 ? fmt::format("{}:{}", where.source->name, where.line) : where.source->name;
}

}  // namespace llmscape
