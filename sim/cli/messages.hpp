// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

#include "base/diagnostics.hpp"

namespace CLI {
class App;
}

namespace llmscape::cli {

// How a verb talks about mistakes: what --color and --error-format say.
class Messages {
 public:
  void add_options(CLI::App& verb);
  // All diagnostics on stderr; nothing if there are none. `closing` says where to read on, after the number of errors,
  // and `ran` what was run before that.
  void show(const Diagnostics& diagnostics, std::string_view closing = {},
            std::string_view ran = "Nothing was run.") const;
  [[nodiscard]] bool colour(std::FILE* stream) const;

 private:
  std::string colour_ = "auto", format_ = "text";
};

}  // namespace llmscape::cli
