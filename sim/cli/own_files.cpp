// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/own_files.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

std::string beginning_of(const fs::path& file) {
  std::array<char, 512> bytes{};
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

}  // namespace

bool is_own(const fs::path& folder, const OwnFile& file) {
  std::error_code none;
  const fs::path path = folder / file.name;
  return !file.sign.empty() && fs::is_regular_file(path, none) &&
         beginning_of(path).find(file.sign) != std::string::npos;
}

void report_foreign(const fs::path& folder, std::span<const OwnFile> files, bool overwrite, Diagnostics& diagnostics) {
  for (const OwnFile& file : files) {
    std::error_code none;
    const fs::path path = folder / file.name;
    const SourceRange where{std::make_shared<const SourceText>(SourceText{path.string(), ""})};
    if (fs::is_directory(path, none)) {
      diagnostics.error(where, fmt::format("a folder stands where '{}' is to be written", file.name),
                        "use another folder");
    } else if (!overwrite && fs::is_regular_file(path, none) && fs::file_size(path, none) > 0 &&
               !is_own(folder, file)) {
      diagnostics.error(where, "llmscape did not write this file, and would replace it",
                        fmt::format("use another folder, or {}", kOverwrite));
    }
  }
}

void report_other(const fs::path& folder, const OwnFile& mark, std::string_view what, Diagnostics& diagnostics) {
  if (is_own(folder, mark))
    diagnostics.error({std::make_shared<const SourceText>(SourceText{folder.string(), ""})},
                      fmt::format("this folder holds {} ({})", what, mark.name), "use another folder");
}

bool make_folder(const fs::path& folder) {
  std::error_code problem;
  const bool made = fs::create_directories(folder, problem);
  if (problem || !fs::is_directory(folder))
    throw std::runtime_error(fmt::format("cannot make the folder '{}': {}", folder.string(),
                                         problem ? problem.message() : "there is a file of that name"));
  return made;
}

}  // namespace llmscape::cli
