// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace llmscape::test {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) throw std::runtime_error("no temporary file");
  return file;
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), n);
  return text;
}

[[noreturn]] void become(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err, unsigned seconds) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  setenv("NO_COLOR", "1", 1);
  alarm(seconds * kSlowdown);  // survives the call of the program
  if (dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(fileno(err), STDERR_FILENO) >= 0 &&
      chdir(LLMSCAPE_SOURCE_FOLDER) == 0)
    execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

Ran run_program(const std::vector<std::string>& arguments, unsigned seconds) {
  const File out = temporary_file(), err = temporary_file();
  std::vector<std::string> all{LLMSCAPE_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::fflush(nullptr);  // or the child prints our buffers again
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) become(all, out.get(), err.get(), seconds);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out.get()), content(err.get())};
}

}  // namespace llmscape::test
