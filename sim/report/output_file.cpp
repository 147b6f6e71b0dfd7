// SPDX-License-Identifier: Apache-2.0
#include "sim/report/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace llmscape::report {

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.part", path_.string(), ::getpid())),
      file_(std::fopen(temporary_.c_str(), "wb")) {
  if (!file_) fail();
}

OutputFile::~OutputFile() {
  if (!file_) return;
  std::fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputFile::keep() {
  if (std::fflush(file_) != 0) fail();
  std::filesystem::rename(temporary_, path_);
  std::fclose(std::exchange(file_, nullptr));
}

void OutputFile::fail() const {
  throw std::runtime_error(
      fmt::format("cannot write '{}': {}", path_.string(), std::generic_category().message(errno)));
}

}  // namespace llmscape::report
