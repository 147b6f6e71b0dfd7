// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "base/files.hpp"
#include "traces/cells.hpp"
#include "traces/kernel_table_format.hpp"
#include "traces/microbench_record.hpp"
#include "traces/repeated_cases.hpp"

namespace llmscape::traces {
namespace {

namespace fs = std::filesystem;

const std::vector<KernelTableFormat>& csv_formats() {
  static const std::vector<KernelTableFormat> formats = [] {
    std::vector<KernelTableFormat> all;
    for (const auto& some : {aiconfigurator_tables(), vidur_tables(), frontier_tables()})
      std::ranges::copy(some, std::back_inserter(all));
    return all;
  }();
  return formats;
}

void report(const std::string& path, std::string message, Diagnostics& diagnostics) {
  diagnostics.error({std::make_shared<SourceText>(SourceText{path, {}})}, std::move(message));
}

void report_unknown(const std::string& path, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const KernelTableFormat& format : csv_formats()) names.push_back(format.name);
  report(path,
         fmt::format("no kernel table that can be read; known are {}, a folder of LLMServingSim's profiler, a record "
                     "of 'llmscape bench'",
                     fmt::join(names, ", ")),
         diagnostics);
}

// The format whose columns the header has, or nullptr.
const KernelTableFormat* format_of(std::string_view header) {
  std::vector<Span> cells;
  split_cells(header, cells);
  std::set<std::string_view> columns;
  for (const Span& cell : cells) columns.insert(header.substr(cell.position, cell.length));
  const auto found = std::ranges::find_if(csv_formats(), [&](const KernelTableFormat& format) {
    return std::ranges::all_of(format.marks, [&](const std::string& mark) { return columns.contains(mark); });
  });
  return found == csv_formats().end() ? nullptr : &*found;
}

void append(KernelTables& into, KernelTables from) {
  const auto append_list = [](auto& to, auto& records) { to.insert(to.end(), records.begin(), records.end()); };
  std::apply(
      [&](auto&... to) { std::apply([&](auto&... records) { (append_list(to, records), ...); }, lists_of(from)); },
      lists_of(into));
  append_list(into.rest, from.rest);
  append_list(into.power, from.power);
  append_list(into.latent_power, from.latent_power);
  add_name(into.device, from.device);
  add_name(into.software, from.software);
  add_name(into.backend, from.backend);
  add_name(into.threads, from.threads);
}

void read_record_into(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  if (const auto record = read_microbench_record(path, diagnostics)) append(into, timed_cases(*record));
}

void read_file_into(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  LineReader lines(path);
  const auto header = lines.next();
  if (!header) return report(path, lines.error().empty() ? "the table is empty" : lines.error(), diagnostics);
  if (header->starts_with('{')) return read_record_into(path, into, diagnostics);
  if (const KernelTableFormat* format = format_of(*header)) return format->read(path, into, diagnostics);
  report_unknown(path, diagnostics);
}

// What cannot be opened or is empty is for its reader to report.
bool is_known(const std::string& path) {
  LineReader lines(path);
  const auto header = lines.next();
  return !header || header->starts_with('{') || format_of(*header) != nullptr;
}

bool is_table(const fs::path& path) {
  const fs::path plain = path.extension() == ".gz" || path.extension() == ".zst" ? path.stem() : path;
  return plain.extension() == ".csv";
}

void read_path_into(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  if (!fs::is_directory(path)) return read_file_into(path, into, diagnostics);
  if (is_llmservingsim_folder(path)) return read_llmservingsim_folder(path, into, diagnostics);
  std::vector<std::string> inside;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.is_directory() || is_table(entry.path())) inside.push_back(entry.path().string());
  if (inside.empty()) return report_unknown(path, diagnostics);
  std::ranges::sort(inside);
  // A folder may hold tables of kernels that no form prices yet: those are named, and the others read.
  for (const std::string& entry : inside) {
    if (!fs::is_directory(entry) && !is_known(entry)) {
      diagnostics.warning({}, fmt::format("{}: no kernel table that can be read, passed over", entry));
      continue;
    }
    read_path_into(entry, into, diagnostics);
  }
}

}  // namespace

std::optional<KernelTables> read_kernel_tables(const std::vector<std::string>& paths, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  KernelTables tables;
  for (const std::string& path : paths) read_path_into(path, tables, diagnostics);
  if (diagnostics.errors() > errors) return std::nullopt;
  for (const UnlikeRepeats& unlike : average_repeats(tables))
    diagnostics.warning({}, fmt::format("{}: repeats that are more than a tenth apart count by their mean (cases: {}; "
                                        "most in {}, {:.4g} to {:.4g} us)",
                                        unlike.kind, unlike.cases, unlike.widest, 1e6 * unlike.shortest.si(),
                                        1e6 * unlike.longest.si()));
  return tables;
}

}  // namespace llmscape::traces
