// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sweep_folder.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "sim/cli/version.hpp"

namespace llmscape::cli {

namespace fs = std::filesystem;

std::string tool() {
  const Version& v = version();
  std::string text = fmt::format("llmscape {} {}", v.number, v.revision);
  std::string error;  // two programs of changed sources have the same revision
  if (v.dirty) text += content_hash(read_file("/proc/self/exe", error).value_or(""));
  return text;
}

bool settle(const explore::Plan& plan, const explore::Store& store, bool goes_on) {
  std::error_code problem;
  fs::create_directories(store.folder(), problem);
  if (problem || !fs::is_directory(store.folder()))
    throw std::runtime_error(fmt::format("cannot make the folder '{}': {}", store.folder().string(),
                                         problem ? problem.message() : "there is a file of that name"));
  const std::string text = explore::plan_text(plan, store.folder());
  std::string error;
  const auto before = read_file(store.plan(), error);
  if (before && *before != text) {
    fmt::print(stderr, "llmscape: {} holds the sweep of another plan; use another folder, or remove it\n",
               store.folder().string());
    return false;
  }
  if (before && !goes_on && store.has_points()) {
    fmt::print(stderr, "llmscape: {} holds points of this plan; add --resume to go on, or remove it\n",
               store.folder().string());
    return false;
  }
  if (!before) write_file_atomically(store.plan(), text);
  return true;
}

}  // namespace llmscape::cli
