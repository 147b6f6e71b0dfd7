// SPDX-License-Identifier: Apache-2.0
#include "base/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace llmscape {

void* module_symbol(const std::string& module, const char* function) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path() / LLMSCAPE_MODULES_FROM_PROGRAM;
  const fs::path built = LLMSCAPE_MODULES_BUILT;
  const std::string file = "llmscape-" + module + ".so";
  const fs::path found = fs::exists(installed / file, ignored) ? installed / file : built / file;
  void* const library = dlopen(found.c_str(), RTLD_NOW | RTLD_LOCAL);  // once, however often it is asked for
  void* const symbol = library ? dlsym(library, function) : nullptr;
  if (!symbol)
    throw std::runtime_error("no module " + file + " in " + installed.string() + " nor in " + built.string() + ": " +
                             dlerror());
  return symbol;
}

}  // namespace llmscape
