// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <span>
#include <string_view>

#include "base/diagnostics.hpp"

namespace llmscape::cli {

// A file to which a verb gives the name, in a folder that the user names, and a text within the first 512 bytes of
// every file that llmscape writes there. Without such a text none is known to be llmscape's.
struct OwnFile {
  std::string_view name, sign;
};

// What tells that a folder is that of a run, or of a sweep.
inline constexpr OwnFile kResultFile{"run.json", R"("schema": "run/1")"},
    kPlanFile{"plan.yaml", "# The plan of this sweep"};

// Makes a folder, with those above it; whether it was not there. Throws std::runtime_error where it cannot.
bool make_folder(const std::filesystem::path& folder);

// The word behind which a user has foreign files replaced.
inline constexpr const char* kOverwrite = "--overwrite";
inline constexpr const char* kOverwriteText = "Replace files in the folder, too, that llmscape did not write";

// Whether a regular file stands there that llmscape wrote.
bool is_own(const std::filesystem::path& folder, const OwnFile& file);

// Reports each file of these names that somebody else wrote: it would be lost. With `overwrite` only what cannot be
// replaced (a folder of that name) is reported. What is empty, or no regular file, is nobody's.
void report_foreign(const std::filesystem::path& folder, std::span<const OwnFile> files, bool overwrite,
                    Diagnostics& diagnostics);

// Reports a folder in which `mark` tells of another kind of result, `what` it is of ("a sweep"): whoever reads one of
// two takes it for the other.
void report_other(const std::filesystem::path& folder, const OwnFile& mark, std::string_view what,
                  Diagnostics& diagnostics);

}  // namespace llmscape::cli
