// SPDX-License-Identifier: Apache-2.0
#include "base/program_path.hpp"

#include <sys/auxv.h>

namespace llmscape {

std::filesystem::path program_path() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  // Asked for once, when static objects are made: a relative path means the folder that the program was started in.
  static const fs::path executed = [] {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what it returns
    const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    std::error_code missing;
    return name ? fs::canonical(name, missing) : fs::path();
  }();
  return program.empty() ? executed : program;
}

}  // namespace llmscape
