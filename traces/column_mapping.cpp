// SPDX-License-Identifier: Apache-2.0
#include "traces/column_mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/files.hpp"
#include "traces/cells.hpp"
#include "traces/csv_header.hpp"
#include "traces/date_time.hpp"
#include "traces/json_row.hpp"
#include "traces/sorted_reader.hpp"

namespace llmscape::traces {
namespace {

constexpr std::string_view kMapped = "columns";

struct TimeUnit {
  std::string name;
  std::optional<std::int64_t> nanoseconds;
};
const std::vector<TimeUnit>& time_units() {
  static const std::vector<TimeUnit> units = {{"ns", 1},
                                              {"us", 1'000},
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"min", 60'000'000'000},
                                              {"date", std::nullopt}};
  return units;
}

struct Role {
  std::string name;
  std::string ColumnMapping::* column;
  bool required = true;
};
const std::array<Role, 4> kRoles = {{{"arrival", &ColumnMapping::arrival},
                                     {"prompt", &ColumnMapping::prompt},
                                     {"output", &ColumnMapping::output},
                                     {"session", &ColumnMapping::session, false}}};

// What one record needs of a row: where its values stand. Text in quotes is given without them.
struct Places {
  Span arrival, prompt, output;
  std::string session;  // as meant, whatever quotes and escapes it is written with
};

class MappedReader : public SortedReader {
 public:
  MappedReader(const std::string& path, ColumnMapping mapping)
      : SortedReader(kMapped, path), mapping_(std::move(mapping)) {}

 protected:
  // Where the record's values stand in the row, or nothing after reporting.
  virtual std::optional<Places> places(const Row& row) = 0;
  [[nodiscard]] const ColumnMapping& mapping() const { return mapping_; }
  // The row that was read last.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool read(const Row& row, std::vector<TimedRecord>& records) final {
    const auto found = places(row);
    broken_ = !found;
    if (!found) return false;
    const auto time = time_of(row, {mapping_.arrival, found->arrival});
    const auto prompt = row.tokens({mapping_.prompt, found->prompt});
    const auto output = row.tokens({mapping_.output, found->output});
    broken_ = !time || !prompt || !output;
    if (broken_) return false;
    TraceRecord record;
    record.prompt = {unique_content(*prompt)};
    record.prompt_tokens = *prompt;
    record.output_tokens = *output;
    record.session = found->session;
    records.push_back({std::move(record), *time, found->arrival});
    return true;
  }

  [[nodiscard]] std::optional<std::int64_t> time_of(const Row& row, const Cell& cell) const {
    if (mapping_.nanoseconds) return row.nanoseconds(cell, *mapping_.nanoseconds);
    const auto time = parse_date_time(row.text(cell.span));
    if (!time)
      row.error(cell.span, fmt::format("'{}' must be a date and time like 2023-11-16T18:17:03.98Z; got {}", cell.name,
                                       in_quotes(row.text(cell.span))));
    return time;
  }

  ColumnMapping mapping_;
  bool broken_ = false;
};

class MappedCsv final : public MappedReader {
 public:
  using MappedReader::MappedReader;

 private:
  bool read_header(const Row& row) override {
    std::vector<CsvColumn> columns = {{mapping().arrival}, {mapping().prompt}, {mapping().output}};
    if (!mapping().session.empty()) columns.push_back({mapping().session});
    header_ = read_csv_header(row, columns, [](std::string_view) { return true; });
    return true;
  }

  std::optional<Places> places(const Row& row) override {
    split_cells(row.text(), cells_);
    if (!cells_fit(row, cells_, header_.width)) return std::nullopt;
    const auto cell = [&](std::size_t column) { return cells_[*header_.place[column]]; };
    Places places{cell(0), cell(1), cell(2), {}};
    if (!mapping().session.empty()) places.session = text_of_cell(row.text(), cell(3));
    return places;
  }

  CsvHeader header_;
  std::vector<Span> cells_;  // of the row being read
};

// The value under `path`: a key of the object, or keys with points between them; nullptr if there is none.
const JsonValue* find_path(const JsonValue& object, std::string_view path) {
  if (const JsonValue* value = object.find(path)) return value;
  const auto point = path.find('.');
  if (point == std::string_view::npos) return nullptr;
  const JsonValue* inner = object.find(path.substr(0, point));
  return inner ? find_path(*inner, path.substr(point + 1)) : nullptr;
}

class MappedJson final : public MappedReader {
 public:
  using MappedReader::MappedReader;

 private:
  std::optional<Places> places(const Row& row) override {
    constexpr std::size_t kDeepest = 16;  // logs carry messages and tool calls along
    const auto object = parse_object(row, kDeepest);
    if (!object) return std::nullopt;
    const auto arrival = place(*object, mapping().arrival, row), prompt = place(*object, mapping().prompt, row),
               output = place(*object, mapping().output, row);
    if (!arrival || !prompt || !output) return std::nullopt;
    Places places{*arrival, *prompt, *output, {}};
    if (!mapping().session.empty() && !read_session(*object, row, places.session)) return std::nullopt;
    return places;
  }

  // A row without a session has none, or null, as an empty cell of a table.
  bool read_session(const JsonValue& object, const Row& row, std::string& session) {
    const JsonValue* value = find_path(object, mapping().session);
    if (!value && keys_.empty())
      for (const JsonMember& member : object.members) keys_.push_back(member.key);
    has_sessions_ = has_sessions_ || value;
    if (!value || value->kind == JsonValue::Kind::null) return true;
    if (!place(object, mapping().session, row)) return false;
    session = value->kind == JsonValue::Kind::text ? value->text : row.text(value->span);
    return true;
  }

  void end_of_rows(Diagnostics& diagnostics) override {
    if (mapping().session.empty() || has_sessions_ || keys_.empty() || broken()) return;
    Row({}, path(), 0, diagnostics)
        .error({}, fmt::format("no row has a key '{}'", mapping().session), did_you_mean(mapping().session, keys_));
  }

  static std::optional<Span> place(const JsonValue& object, const std::string& path, const Row& row) {
    const JsonValue* value = find_path(object, path);
    if (!value) {
      std::vector<std::string> keys;
      for (const JsonMember& member : object.members) keys.push_back(member.key);
      row.error({object.span.position}, fmt::format("key '{}' is missing", path), did_you_mean(path, keys));
      return std::nullopt;
    }
    if (value->kind == JsonValue::Kind::number) return value->span;
    if (value->kind == JsonValue::Kind::text) return Span{value->span.position + 1, value->span.length - 2};
    row.error(value->span, fmt::format("'{}' must be a number or a text", path));
    return std::nullopt;
  }

  std::vector<std::string> keys_;  // of a row without that of the session
  bool has_sessions_ = false;
};

}  // namespace

std::vector<std::string> time_unit_names() {
  std::vector<std::string> names;
  for (const TimeUnit& unit : time_units()) names.push_back(unit.name);
  return names;
}

std::optional<ColumnMapping> parse_column_mapping(const std::string& columns, const std::string& unit,
                                                  Diagnostics& diagnostics) {
  const auto typed = std::make_shared<const SourceText>(SourceText{"--columns", columns});
  const auto at = [&](std::size_t position, std::size_t length) {
    return SourceRange{typed, 1, static_cast<int>(position) + 1, static_cast<int>(std::max<std::size_t>(length, 1))};
  };
  std::vector<std::string> role_names;
  for (const Role& role : kRoles) role_names.push_back(role.name);
  ColumnMapping mapping;
  bool good = true;
  const auto error = [&](SourceRange where, std::string message, std::string suggestion = {}) {
    diagnostics.error(std::move(where), std::move(message), std::move(suggestion));
    good = false;
  };
  for (std::size_t begin = 0; begin <= columns.size();) {
    const std::size_t end = std::min(columns.find(',', begin), columns.size());
    const std::string part = columns.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto role = std::ranges::find(kRoles, name, &Role::name);
    if (equals == std::string::npos) {
      error(at(begin, part.size()), fmt::format("{} must be WHAT=COLUMN", in_quotes(part)), "arrival=NAME");
    } else if (role == kRoles.end()) {
      error(at(begin, equals), fmt::format("unknown {}; it is one of {}", in_quotes(name), fmt::join(role_names, ", ")),
            did_you_mean(name, role_names));
    } else if (equals + 1 == part.size()) {
      error(at(begin, part.size()), fmt::format("'{}' has no column", name));
    } else if (!(mapping.*role->column).empty()) {
      error(at(begin, equals), fmt::format("'{}' stands twice", name));
    } else {
      mapping.*role->column = part.substr(equals + 1);
    }
    begin = end + 1;
  }
  const bool understood = good;  // else what is missing may be what was not understood
  for (const Role& role : kRoles)
    if (role.required && (mapping.*role.column).empty() && understood)
      error(at(0, columns.size()), fmt::format("'{}' is missing: which column is it?", role.name));
  const auto known = std::ranges::find(time_units(), unit, &TimeUnit::name);
  if (known == time_units().end()) {
    const auto names = time_unit_names();
    error({std::make_shared<const SourceText>(SourceText{"--time-unit", unit})},
          unit.empty() ? fmt::format("state the unit of the arrival times, one of {}", fmt::join(names, ", "))
                       : fmt::format("unknown unit {}; it is one of {}", in_quotes(unit), fmt::join(names, ", ")),
          unit.empty() ? "" : did_you_mean(unit, names));
  } else {
    mapping.nanoseconds = known->nanoseconds;
  }
  return good ? std::optional(mapping) : std::nullopt;
}

std::unique_ptr<TraceReader> open_mapped_trace(const std::string& path, ColumnMapping mapping, const SourceRange& where,
                                               Diagnostics& diagnostics) {
  LineReader lines(path);
  const auto first_line = lines.next();
  if (!first_line) {
    diagnostics.error(where, fmt::format("trace '{}': {}", path, lines.error().empty() ? "is empty" : lines.error()));
    return nullptr;
  }
  if (first_line->starts_with('{')) return std::make_unique<MappedJson>(path, std::move(mapping));
  return std::make_unique<MappedCsv>(path, std::move(mapping));
}

}  // namespace llmscape::traces
