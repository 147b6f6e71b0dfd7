// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/data_folder.hpp"

#include <stdexcept>

#include "base/program_path.hpp"

namespace llmscape::cli {

std::filesystem::path data_folder() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path installed = program_path().parent_path().parent_path() / "share" / "llmscape";
  const fs::path source = LLMSCAPE_SOURCE_FOLDER;
  for (const fs::path& folder : {installed, source})
    if (fs::is_directory(folder / "models" / "catalog", ignored)) return folder;
  throw std::runtime_error("no catalogues in " + installed.string() + " nor in " + source.string());
}

}  // namespace llmscape::cli
