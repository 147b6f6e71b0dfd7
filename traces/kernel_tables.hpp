// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmscape::traces {

// Reads kernel tables of one device, each path in whatever format it is, into one set: tables of AIConfigurator, Vidur
// and Frontier (CSV, plain or compressed, told by their columns), folders of LLMServingSim's profiler (told by their
// meta.json), and records of `llmscape bench` (JSON). Another folder stands for all of these inside it. A case that
// stands several times gets its mean time. Nothing is returned after an error: a broken row or file, a path of another
// format, or tables whose clocks differ (KernelTables::clock).
std::optional<KernelTables> read_kernel_tables(const std::vector<std::string>& paths, Diagnostics& diagnostics);

}  // namespace llmscape::traces
