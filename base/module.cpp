// SPDX-License-Identifier: Apache-2.0
#include "base/module.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/program_path.hpp"

namespace llmscape {
namespace fs = std::filesystem;
namespace {

fs::path modules_beside(const fs::path& program) {
  return (program.parent_path() / LLMSCAPE_MODULES_FROM_PROGRAM).lexically_normal();
}

std::vector<fs::path>& module_folders() {
  static std::vector<fs::path> folders = {modules_beside(program_path()), LLMSCAPE_MODULES_BUILT};
  return folders;
}

}  // namespace

void find_modules_beside(const fs::path& program) {
  const fs::path folder = modules_beside(program);
  auto& folders = module_folders();
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

void* module_symbol(const std::string& module, const char* function) {
  const std::string file = "llmscape-" + module + ".so";
  std::string asked;
  for (const fs::path& folder : module_folders()) {
    asked += (asked.empty() ? "" : ", ") + folder.string();
    std::error_code ignored;
    if (!fs::exists(folder / file, ignored)) continue;
    void* const library = dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL);  // once, however often asked for
    if (void* const symbol = library ? dlsym(library, function) : nullptr) return symbol;
    throw std::runtime_error("the module " + (folder / file).string() + " cannot be used: " + dlerror());
  }
  throw std::runtime_error("no module " + file + " in any of " + asked);
}

}  // namespace llmscape
