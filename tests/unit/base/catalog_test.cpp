// SPDX-License-Identifier: Apache-2.0
#include "base/catalog.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/opened_files.hpp"

using namespace llmscape;

namespace {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("llmscape-catalog-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Each file is a second younger than the one before.
  void write(const std::string& text) {
    const auto file = path_ / "one.yaml";
    std::ofstream(file) << text;
    std::filesystem::last_write_time(file,
                                     std::filesystem::file_time_type::clock::now() + std::chrono::seconds(++age_));
  }
  std::optional<YamlNode> entry(Diagnostics& diagnostics) const {
    return catalog_entry(path_, "machine", "one", {}, diagnostics);
  }
  [[nodiscard]] std::filesystem::path file() const { return path_ / "one.yaml"; }

 private:
  std::filesystem::path path_;
  int age_ = 0;
};

TEST_CASE("an entry that is named again is the same tree, is heard of as opened, and follows its file") {
  Folder folder;
  folder.write("schema: machine/1\nspeed: 1\n");
  Diagnostics diagnostics;
  for (int time = 0; time < 2; ++time) {
    const OpenedFiles opened;
    const auto entry = folder.entry(diagnostics);
    REQUIRE(entry);
    CHECK(entry->find("speed")->text == "1");
    CHECK(entry->find("speed")->where.line == 2);
    CHECK_FALSE(entry->find("schema"));
    CHECK(opened.paths().contains(folder.file()));
  }
  folder.write("schema: machine/1\nspeed: 2\n");  // as long as before
  CHECK(folder.entry(diagnostics)->find("speed")->text == "2");
  CHECK(diagnostics.errors() == 0);
}

TEST_CASE("mistakes of an entry are said each time") {
  Folder folder;
  folder.write("schema: machine/1\nspeed: 1\nspeed: 2\n");
  for (int time = 0; time < 2; ++time) {
    Diagnostics diagnostics;
    CHECK_FALSE(folder.entry(diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

}  // namespace
