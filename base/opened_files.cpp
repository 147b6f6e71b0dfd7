// SPDX-License-Identifier: Apache-2.0
#include "base/opened_files.hpp"

#include <system_error>
#include <utility>

namespace llmscape {
namespace {

OpenedFiles* listener = nullptr;

}  // namespace

OpenedFiles::OpenedFiles() : outer_(std::exchange(listener, this)) {}
OpenedFiles::~OpenedFiles() { listener = outer_; }

void note_opened(const std::filesystem::path& path) {
  if (listener) listener->paths_.insert(path);
}

bool stands_there(const std::filesystem::path& path) {
  note_opened(path);
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

}  // namespace llmscape
