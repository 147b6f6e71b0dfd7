// SPDX-License-Identifier: Apache-2.0
// What is beyond all measure is refused with a sentence, in time that grows with its size and no faster.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/run_program.hpp"

namespace llmscape::test::bounds_test {
namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "llmscape-bounds-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }

 private:
  fs::path path_;
};

std::string scenario(const std::string& arrivals = "{kind: poisson, rate: 5 /s}", const std::string& more = "") {
  return "schema: scenario/1\nmodel: qwen2.5-1.5b\nhardware: {devices: [{preset: l4, count: 1}]}\nworkload: "
         "{arrivals: " +
         arrivals +
         ", stream: {kind: lengths, prompt: {kind: fixed, value: 256}, output: {kind: fixed, value: 32}}}\n" + more;
}

// Processor time of children that have ended, so that it does not matter what else the machine does.
double seconds_used() {
  rusage use{};
  getrusage(RUSAGE_CHILDREN, &use);
  return static_cast<double>(use.ru_utime.tv_sec) + static_cast<double>(use.ru_utime.tv_usec) / 1e6;
}
double seconds_of(const std::string& file, int& code) {
  const double before = seconds_used();
  code = run_program({"lint", file}, 120).code;
  return seconds_used() - before;
}

}  // namespace

TEST_CASE("a description above 64 MB is refused, packed or not, without reading further") {
  const Folder folder;
  const std::string much = scenario() + "# " + std::string(64'000'000, 'x') + '\n';
  const Ran plain = run_program({"lint", folder.file("plain.yaml", much)});
  CHECK(plain.code == 2);
  CHECK(holds(plain.err, "plain.yaml: error: larger than 64 MB"));
  gzFile packed = gzopen(folder.path("packed.yaml").c_str(), "wb1");
  for (int i = 0; i < 20; ++i) gzwrite(packed, much.data(), static_cast<unsigned>(much.size()));
  gzclose(packed);
  const Ran bomb = run_program({"lint", folder.path("packed.yaml")});
  CHECK(bomb.code == 2);
  CHECK(holds(bomb.err, "packed.yaml: error: larger than 64 MB"));
}

TEST_CASE("tens of thousands of unknown keys are reported in time that grows with their number") {
  const Folder folder;
  const auto keys = [&](int number) {
    std::string text;
    for (int i = 0; i < number; ++i) text += "unknown_key_" + std::to_string(i) + ": 1\n";
    return folder.file(std::to_string(number) + ".yaml", scenario("{kind: poisson, rate: 5 /s}", text));
  };
  int few_code = 0, many_code = 0;
  const double few = seconds_of(keys(10'000), few_code), many = seconds_of(keys(100'000), many_code);
  CHECK(few_code == 2);
  CHECK(many_code == 2);
  CHECK(many < 40 * few);  // ten times in linear time; a hundred times when it was quadratic
}

TEST_CASE("a burst of more programs than memory holds is refused") {
  const Folder folder;
  const Ran ran = run_program({"lint", folder.file("s.yaml", scenario("{kind: burst, programs: 1000000000}"))});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "s.yaml:4:46: error: 'programs' must be"));
}

TEST_CASE("thousands of replicas are as many processes to the simulated clock and one to the machine") {
  const Folder folder;
  const std::string file = folder.file("s.yaml", scenario());
  const Ran ran = run_program({"run", file, "-q", "--set", "hardware.devices[0].count=20000", "--set",
                               "workload.requests=40", "--format", "json"},
                              120);
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "\"completed\": 40"));
}

TEST_CASE("figures beyond anything are refused where they are read") {
  const Folder folder;
  for (const char* rate : {"1e309 /s", "5e-324 /s", "1e61 /s", "1e-61 /s"}) {
    const Ran ran = run_program(
        {"lint", folder.file("s.yaml", scenario(std::string("{kind: poisson, rate: ") + rate + "}", "seed: 1\n"))});
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, "s.yaml:4:44: error: 'rate' is beyond"));
  }
}

TEST_CASE("control characters stand in no name, and what a file is called moves no cursor") {
  const Folder folder;
  const Ran ran =
      run_program({"lint", folder.file("s.yaml", scenario("{kind: poisson, rate: 5 /s}", "name: \"a\\x1b[31mb\"\n"))});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "s.yaml:5:7: error: the control character 0x1b does not belong in a text"));
  const Ran named = run_program({"lint", folder.path("\x1b[2J.yaml")});
  CHECK(named.code == 2);
  CHECK_FALSE(holds(named.err, "\x1b"));
  const Ran c1 = run_program({"lint", folder.path("\xc2\x9b"
                                                  "2J.yaml")});
  CHECK_FALSE(holds(c1.err, "\xc2\x9b"));
}

}  // namespace llmscape::test::bounds_test
