// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace llmscape::cli {

// Which tool this is. A result carries it, so that every number names the code that made it.
struct Version {
  std::string_view number;      // "0.1.0", as in CMakeLists.txt
  std::string_view revision;    // the abbreviated git commit; "unknown" when built outside a checkout
  bool dirty;                   // tracked files differed from that commit when this was built
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view build_type;  // "Release"
};

// Read from git each time the program is built (cmake/LlmscapeVersion.cmake), not only when it is configured.
const Version& version();

}  // namespace llmscape::cli
