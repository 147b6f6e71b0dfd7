// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace llmscape::test {

// What a command of the shell printed (on stdout) and answered.
struct Shell {
  int code = 0;
  std::string out;
};

inline Shell shell(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start a shell");
  Shell result;
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) result.out.append(part.data(), n);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace llmscape::test
