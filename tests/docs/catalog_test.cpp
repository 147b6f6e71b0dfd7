// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Catalogue files, and where somebody who looks for one would find its name. Goldens repeat what was read, and the
// accuracy page is written by a command: neither is a place to look.
bool is_golden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "accuracy.md" || name == "messages.txt" || name == "run.json" || name.starts_with("expected.");
}

std::vector<fs::path> files_of(const std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && !is_golden(entry.path())) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

// Whole names only: no part of a longer one, and not `x-7` in `x-7.5`.
bool names(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view before = text.substr(0, at), after = text.substr(at + name.size());
    if (!before.empty() && (of_a_name(before.back()) || before.back() == '.')) continue;
    if (!after.empty() && of_a_name(after[0])) continue;
    if (after.size() > 1 && after[0] == '.' && std::isdigit(static_cast<unsigned char>(after[1])) != 0) continue;
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a name is found as a whole") {
  CHECK(names("node: made-up\n", "made-up"));
  CHECK(names("`made-7`.", "made-7"));
  CHECK_FALSE(names("made-up2, my-made-up, made-up-b", "made-up"));
  CHECK_FALSE(names("made-7.5", "made-7"));
  CHECK_FALSE(names("made-3.1-8b", "1-8b"));
}

TEST_CASE("every file of a catalogue is named where a user would look: example, test, study, page or another file") {
  const auto catalogue = files_of({"hardware/catalog", "models/catalog", "workloads/catalog"});
  REQUIRE(catalogue.size() >= 50);
  std::vector<std::pair<fs::path, std::string>> texts{{"README.md", text_of("README.md")}};
  for (const fs::path& path :
       files_of({"docs", "examples", "studies", "tests", "hardware/catalog", "models/catalog", "workloads/catalog"}))
    texts.emplace_back(path, text_of(path));
  for (const fs::path& file : catalogue) {
    const std::string name = file.stem().string();
    const bool named =
        std::ranges::any_of(texts, [&](const auto& text) { return text.first != file && names(text.second, name); });
    CHECK_MESSAGE(named, file.string(),
                  " is named nowhere: use it in an example, list it in docs/catalog.md, or delete it");
  }
}

// Models and workloads are all loaded and stepped through by a test of their catalogue; of a node, a link or a device
// that nothing runs nobody would know whether it works.
TEST_CASE("every file of the hardware catalogue is used by an example, a study or a test") {
  std::vector<std::string> texts;
  for (const fs::path& path : files_of({"examples", "studies", "tests"})) texts.push_back(text_of(path));
  for (const fs::path& file : files_of({"hardware/catalog"})) {
    const std::string name = file.stem().string();
    CHECK_MESSAGE(std::ranges::any_of(texts, [&](const std::string& text) { return names(text, name); }), file.string(),
                  " is run by nothing: use it in an example, or delete it");
  }
}
