// SPDX-License-Identifier: Apache-2.0
// libFuzzer's way in (docs/testing.md): LLMSCAPE_FUZZ_TARGET names what is read. From the top of the source tree.
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llmscape::fuzz;
  static const Target& target = [&]() -> const Target& {
    const char* name = std::getenv("LLMSCAPE_FUZZ_TARGET");
    const auto found = std::ranges::find(targets(), std::string_view(name ? name : ""), &Target::name);
    if (found != targets().end()) return *found;
    std::fputs("LLMSCAPE_FUZZ_TARGET is one of", stderr);
    for (const Target& each : targets()) std::fprintf(stderr, " %s", std::string(each.name).c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }();
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "llmscape-fuzz-XXXXXX").string();
    return std::filesystem::path(mkdtemp(name.data()));
  }();
  feed(target, {reinterpret_cast<const char*>(data), size}, folder);
  return 0;
}
