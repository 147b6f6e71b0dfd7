// SPDX-License-Identifier: Apache-2.0
// The tree is as docs/architecture.md draws it: which folder may use which, and how large its parts are.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

std::string contents_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The folders in the picture of the floors, the highest first; those of one line are side by side.
std::vector<std::vector<std::string>> floors() {
  const std::string page = contents_of("docs/architecture.md");
  const std::size_t from = page.find("```\nsim/cli"), to = page.find("```", from + 3);
  REQUIRE(to != std::string::npos);
  std::istringstream lines(page.substr(from + 4, to - from - 4));
  std::vector<std::vector<std::string>> all;
  const std::regex folders(R"(^(\S+( \| \S+)*)( |$))");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("-") || !std::regex_search(line, match, folders)) continue;
    std::istringstream words(match[1]);
    all.emplace_back();
    for (std::string word; words >> word;)
      if (word != "|") all.back().push_back(word);
  }
  return all;
}

struct Source {
  std::string path, text;
};

std::vector<Source> sources(std::vector<const char*> roots = {"base", "models", "traces", "hardware", "workloads",
                                                              "sim"}) {
  std::vector<Source> all;
  for (const char* root : roots)
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (const std::string suffix = entry.path().extension(); suffix == ".cpp" || suffix == ".hpp")
        all.push_back({entry.path().generic_string(), contents_of(entry.path())});
  std::ranges::sort(all, {}, &Source::path);
  return all;
}

std::vector<std::string> includes_of(const Source& source) {
  static const std::regex include(R"re(#include "([^"]+/[^"]+)")re");
  std::vector<std::string> all;
  for (auto found = std::sregex_iterator(source.text.begin(), source.text.end(), include);
       found != std::sregex_iterator(); ++found)
    all.push_back((*found)[1]);
  return all;
}

bool in(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

// The floor of a file, the highest being 0; -1 where it is on none.
int floor_of(const std::vector<std::vector<std::string>>& floors, const std::string& path) {
  for (std::size_t i = 0; i < floors.size(); ++i)
    for (const std::string& folder : floors[i])
      if (in(path, folder)) return static_cast<int>(i);
  return -1;
}

// Functions of a namespace: their names, each with the type of its first parameter.
using Functions = std::map<std::string, std::string>;

// Those that begin a line of `text`.
Functions functions_in(const std::string& text) {
  static const std::regex begins(
      R"re(\n(?:\[\[nodiscard\]\] )?(?:inline |constexpr )*[A-Za-z_][\w:<>,&* ]*[ &*](\w+)\(([\w:<>&* ]*[ &*])\w+(?:[,)]| = ))re");
  Functions all;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), begins); found != std::sregex_iterator(); ++found)
    all[(*found)[1]] = (*found)[2];
  return all;
}

std::string namespace_of(const Source& source) {
  static const std::regex opens(R"(\nnamespace (llmscape[\w:]*) \{)");
  std::smatch found;
  return std::regex_search(source.text, found, opens) ? found.str(1) : "";
}

// What stands in the anonymous namespaces of a source.
std::string anonymous_part(const std::string& text) {
  std::string all;
  for (std::size_t from = text.find("\nnamespace {\n"); from != std::string::npos;) {
    const std::size_t to = text.find("\n}  // namespace", from);
    all += text.substr(from, to - from);
    from = to == std::string::npos ? to : text.find("\nnamespace {\n", to);
  }
  return all;
}

}  // namespace

TEST_CASE("no include runs up the floors of docs/architecture.md, so that there is no circle") {
  const auto all = floors();
  REQUIRE(all.size() > 10);
  std::size_t includes = 0;
  for (const Source& source : sources()) {
    const int own = floor_of(all, source.path);
    CHECK_MESSAGE(own >= 0, source.path);
    for (const std::string& used : includes_of(source)) {
      CHECK_MESSAGE(floor_of(all, used) >= own, source.path, " uses ", used);
      ++includes;
    }
  }
  CHECK(includes > 1000);
}

TEST_CASE("in serving nothing of kv knows a request, nothing of replica a gateway, and no policy a gateway's parts") {
  const std::map<std::string, std::vector<std::string>> forbidden = {
      {"sim/serving/kv",
       {"sim/serving/request.hpp", "sim/serving/sequence.hpp", "sim/serving/replica/", "sim/serving/gateway/"}},
      {"sim/serving/replica", {"sim/serving/gateway/"}},
      {"sim/serving/batchers", {"sim/serving/gateway/"}},
      {"sim/serving/routers", {"sim/serving/gateway/"}},
      {"sim/serving/gateway", {"sim/serving/controllers", "sim/serving/routers/", "sim/serving/batchers"}}};
  for (const Source& source : sources())
    for (const auto& [folder, names] : forbidden)
      if (in(source.path, folder))
        for (const std::string& used : includes_of(source))
          for (const std::string& name : names)
            CHECK_FALSE_MESSAGE(used.starts_with(name), source.path, " uses ", used);
}

TEST_CASE("the namespace is the folder") {
  // The table of metrics goes with the observer's names; a prompt's content is a word of everyone's.
  const std::vector<std::string> elsewhere = {"sim/result/metric_table",    "sim/result/energy_metrics",
                                              "sim/result/memory_metrics",  "sim/result/number_metrics",
                                              "sim/result/request_metrics", "traces/content"};
  std::size_t files = 0;
  for (const Source& source : sources()) {
    const auto begins = [&](const std::string& name) { return source.path.starts_with(name + '.'); };
    if (in(source.path, "base") || std::ranges::any_of(elsewhere, begins)) continue;
    const fs::path path(source.path);
    const std::string folder = std::next(path.begin(), in(source.path, "sim") ? 1 : 0)->string();
    const auto opens = [&](const char* then) {
      return source.text.find("\nnamespace llmscape::" + folder + then) != std::string::npos;
    };
    CHECK_MESSAGE((opens(" {") || opens("::")), source.path);
    ++files;
  }
  CHECK(files > 500);
}

// Sources are compiled in batches: such a function would be called by its neighbours, without a word.
TEST_CASE("no anonymous function has the name and first parameter of one in a namespace around its own") {
  std::map<std::string, Functions> declared;
  const auto all = sources();
  for (const Source& source : all)
    if (source.path.ends_with(".hpp")) declared[namespace_of(source)].merge(functions_in(source.text));
  CHECK(declared["llmscape"].at("value_of") == "std::string_view ");
  std::size_t anonymous = 0;
  for (const Source& source : all) {
    if (!source.path.ends_with(".cpp")) continue;
    const Functions own = functions_in(anonymous_part(source.text));
    anonymous += own.size();
    std::string around = namespace_of(source);
    for (std::size_t end = around.rfind("::"); end != std::string::npos; end = around.rfind("::")) {
      around.resize(end);
      for (const auto& [name, parameter] : own)
        if (const auto hidden = declared[around].find(name); hidden != declared[around].end())
          CHECK_MESSAGE(hidden->second != parameter, source.path, ": ", name);
    }
  }
  CHECK(anonymous > 1000);
}

TEST_CASE("no source has more than 350 lines") {
  for (const auto& all : {sources(), sources({"tests"})})
    for (const Source& source : all) CHECK_MESSAGE(std::ranges::count(source.text, '\n') <= 350, source.path);
}

TEST_CASE("the image is built from the packages that ./dev installs") {
  const std::string door = contents_of("dev"), image = contents_of("Dockerfile");
  const std::size_t from = door.find("build_packages=(") + 16;
  std::istringstream packages(door.substr(from, door.find(')', from) - from));
  int count = 0;
  for (std::string package; packages >> package; ++count)
    if (package != "doctest-dev") CHECK_MESSAGE(image.find(' ' + package) != std::string::npos, package);
  CHECK(count > 10);
}

TEST_CASE("no source opens a connection or starts a program") {
  static const std::regex call(R"(\b(system|popen|exec[lv]p?e?|posix_spawnp?|socket|getaddrinfo|gethostbyname)\()");
  static const std::regex header(R"(#include <(sys/socket|netdb|netinet/\w+|arpa/inet|spawn|curl/\w+)\.h>)");
  CHECK(std::regex_search("x = ::popen(", call));
  CHECK_FALSE(std::regex_search("process.run(", call));
  for (const Source& source : sources()) {
    std::smatch found;
    CHECK_MESSAGE(!std::regex_search(source.text, found, header), source.path, " has ", found.str());
    CHECK_MESSAGE(!std::regex_search(source.text, found, call), source.path, " has ", found.str());
  }
}

TEST_CASE("no test but tests/support/approx.hpp names doctest's Approx, which takes any small number for any other") {
  static const std::regex tolerant(R"(\bdoctest::[A]pprox\b|\b[A]pprox\()");
  for (const Source& source : sources({"tests"}))
    if (source.path != "tests/support/approx.hpp")
      CHECK_FALSE_MESSAGE(std::regex_search(source.text, tolerant), source.path);
}
