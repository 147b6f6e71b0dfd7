// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace llmscape::test {

// How many times as long a test waits as it says: sanitizers make programs three to six times as slow.
#ifdef __SANITIZE_ADDRESS__
inline constexpr unsigned kSlowdown = 6;
#else
inline constexpr unsigned kSlowdown = 1;
#endif

// What the built `llmscape` did with some arguments.
struct Ran {
  int code = 0;  // its exit code, or 128 + the signal that ended it (a crash is 139, too slow is 142), as a shell says
  std::string out, err;
};

// Calls it from the top of the source tree, without a shell, a terminal or colours. After `seconds`, times
// kSlowdown, it is ended.
Ran run_program(const std::vector<std::string>& arguments, unsigned seconds = 30);

}  // namespace llmscape::test
