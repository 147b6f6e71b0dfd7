// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/named_twice.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

namespace llmscape::cli {

namespace fs = std::filesystem;

void report_twice(const std::vector<std::string>& paths, Diagnostics& diagnostics) {
  for (std::size_t i = 1; i < paths.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      std::error_code missing;  // for its reader to report
      if (!fs::equivalent(paths[i], paths[j], missing)) continue;
      diagnostics.error({std::make_shared<const SourceText>(SourceText{paths[i], ""})},
                        fmt::format("the same file as {}, which would count twice", in_quotes(paths[j])),
                        "name each file once");
      break;
    }
}

}  // namespace llmscape::cli
