// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "traces/csv_table.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the readers of read_kernel_tables share. They append to the lists of `into`, in any order and with repeats.
namespace llmscape::traces {

// One layout of a CSV kernel table.
struct KernelTableFormat {
  std::string name;                // "AIConfigurator gemm"
  std::vector<std::string> marks;  // columns that tell it from all others
  void (*read)(const std::string& path, KernelTables& into, Diagnostics& diagnostics);
};

// The formats by origin, one source file each. Their columns are described there.
std::vector<KernelTableFormat> aiconfigurator_tables();
std::vector<KernelTableFormat> vidur_tables();
std::vector<KernelTableFormat> frontier_tables();

// Whether the folder holds the profile of a model by LLMServingSim, and the reader for it.
bool is_llmservingsim_folder(const std::string& path);
void read_llmservingsim_folder(const std::string& path, KernelTables& into, Diagnostics& diagnostics);

// Reads the cell as a number above 0 of `unit` seconds.
std::optional<Seconds> read_time(const CsvTable& table, std::size_t column, double unit);
// The 16-bit format that Vidur's and Frontier's tables name in `column`; fp16 where they lack it (Vidur has no other).
std::string half_format(const CsvTable& table, std::size_t column);
// Adds a name to a list of distinct ones, "A, B".
void add_name(std::string& names, std::string_view name);
// Reports and returns false when the row's clock is not that of what was read before.
bool same_clock(const CsvTable& table, std::size_t column, KernelTables& into);

}  // namespace llmscape::traces
