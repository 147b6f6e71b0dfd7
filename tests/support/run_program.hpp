// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace llmscape::test {

// What the built `llmscape` did with some arguments.
struct Ran {
  int code = 0;  // its exit code, or 128 + the signal that ended it (a crash is 139, too slow is 142), as a shell says
  std::string out, err;
};

// Calls it from the top of the source tree, without a shell, a terminal or colours. After `seconds` it is ended.
Ran run_program(const std::vector<std::string>& arguments, unsigned seconds = 30);

}  // namespace llmscape::test
