// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way in (docs/testing.md): LLMSCAPE_FUZZ_TARGET names what is read. From the top of the source tree.
// `llmscape-fuzz targets` lists the targets, `llmscape-fuzz seeds TARGET FOLDER` copies the inputs that the tree has.
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/targets.hpp"

namespace {

using namespace llmscape::fuzz;

const Target& target_of(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  if (found != targets().end()) return *found;
  std::fputs("a target is one of", stderr);
  for (const Target& each : targets()) std::fprintf(stderr, " %s", std::string(each.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

void copy_seeds(const Target& target, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const auto& input : inputs_of(target))
    std::filesystem::copy_file(input, folder / ("seed" + std::to_string(++number) + "_" + input.filename().string()),
                               std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::vector<std::string_view> arguments(*argv + 1, *argv + *argc);
  if (arguments.empty() || (arguments[0] != "targets" && arguments[0] != "seeds")) return 0;
  if (arguments[0] == "targets") {
    for (const Target& each : targets()) std::puts(std::string(each.name).c_str());
  } else {
    copy_seeds(target_of(arguments.size() > 1 ? arguments[1] : ""), arguments.size() > 2 ? arguments[2] : "seeds");
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Target& target = [&]() -> const Target& {
    const char* name = std::getenv("LLMSCAPE_FUZZ_TARGET");
    return target_of(name ? name : "");
  }();
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "llmscape-fuzz-XXXXXX").string();
    return std::filesystem::path(mkdtemp(name.data()));
  }();
  feed(target, {reinterpret_cast<const char*>(data), size}, folder);
  return 0;
}
