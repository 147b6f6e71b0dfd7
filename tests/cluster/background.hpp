// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace llmscape::test {

// A program that runs beside the test, silently, in a session of its own.
class Background {
 public:
  explicit Background(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    const int nothing = open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
    setsid();
    execvp(argv[0], argv.data());
    _exit(127);
  }
  ~Background() {
    if (ended()) return;
    kill(pid_, SIGKILL);
    wait();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  bool ended() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  // Its exit code, or 128 + the signal that ended it.
  int wait() {
    if (!ended_) ended_ = waitpid(pid_, &status_, 0) == pid_;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// The processes of llmscape that write into the folder, whoever started them.
inline std::vector<pid_t> workers_in(const std::string& folder) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::string words;  // each ends with a zero byte
    std::getline(file, words);
    const std::string program(words.c_str());
    if (program.ends_with("llmscape") && words.find('\0' + folder + '\0') != std::string::npos) found.push_back(pid);
  }
  return found;
}

}  // namespace llmscape::test
