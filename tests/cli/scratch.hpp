// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace llmscape::test {

// A folder of its own, gone when the test ends.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "llmscape-cli-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

// A scenario of single calls that takes a few milliseconds to run.
inline std::string small_scenario(const std::string& workload =
                                      "{arrivals: {kind: poisson, rate: 5 /s}, requests: 40, stream: {kind: lengths, "
                                      "prompt: {kind: fixed, value: 256}, output: {kind: fixed, value: 32}}}") {
  return "schema: scenario/1\n"
         "model: qwen2.5-1.5b\n"
         "hardware: {devices: [{preset: l4, count: 1}]}\n"
         "workload: " +
         workload +
         "\n"
         "seed: 7\n";
}

}  // namespace llmscape::test
