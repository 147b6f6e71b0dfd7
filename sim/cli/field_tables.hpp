// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/table.hpp"

namespace llmscape::cli {

// Everything that can be written in a file, by name: "scenario", "batcher", "device", "gpu", "streams/rag".
std::vector<std::string> field_table_names();
// The same with what each is.
Table field_table_list();

// The fields of all that bear the name (or end in /NAME), each with its heading; of a family, its kinds and their
// fields. Empty if nothing does. Nothing is cut, however wide it becomes.
std::string field_tables(std::string_view name);

}  // namespace llmscape::cli
