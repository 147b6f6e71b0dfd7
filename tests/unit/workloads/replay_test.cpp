// SPDX-License-Identifier: Apache-2.0
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

// A trace of four calls, 0, 1, 3 and 7 seconds after the first, in a file that lives as long as this.
class TraceFile {
 public:
  TraceFile() : path_(std::filesystem::temp_directory_path() / "llmscape-replay-test.csv") {
    std::ofstream(path_) << "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                            "2023-11-16 18:00:00.0000000,10,1\n"
                            "2023-11-16 18:00:01.0000000,20,2\n"
                            "2023-11-16 18:00:03.0000000,30,3\n"
                            "2023-11-16 18:00:07.0000000,40,4\n";
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  // Everything that a replay with these further keys emits.
  [[nodiscard]] std::vector<Program> replay(const std::string& keys, const std::string& workload_keys = "") const {
    return all_of("{replay: {trace: " + path_.string() + keys + "}" + workload_keys + "}");
  }

  // What is said of it before anything is sent.
  [[nodiscard]] std::string mistakes(const std::string& keys) const {
    Diagnostics diagnostics;
    WorkloadConfig config;
    REQUIRE(workload_fields().read(config, yaml("{replay: {trace: " + path_.string() + keys + "}}"), diagnostics));
    make_generator(config, {}, RandomStreams(1), diagnostics);
    return diagnostics.text(false);
  }

 private:
  std::filesystem::path path_;
};

std::vector<double> starts_of(const std::vector<Program>& programs) {
  std::vector<double> starts;
  for (const Program& program : programs) starts.push_back(program.start.si());
  return starts;
}

}  // namespace

TEST_CASE("a replay makes a program of one call from each record") {
  const auto programs = TraceFile().replay("");
  CHECK(starts_of(programs) == std::vector<double>{0, 1, 3, 7});
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(programs[i].stages.size() == 1);
    CHECK(tokens_of(programs[i].stages[0].prompt) == 10 * (static_cast<std::int64_t>(i) + 1));
    CHECK(programs[i].stages[0].output_tokens == static_cast<std::int64_t>(i) + 1);
  }
}

TEST_CASE("a replayed call is given up when its caller did, whatever the speed-up of the times") {
  const auto path = std::filesystem::temp_directory_path() / "llmscape-replay-give-up.jsonl";
  std::ofstream(path) << R"({"arrival_s": 0, "prompt_tokens": 9, "output_tokens": 4, "give_up_s": 1.25})"
                         "\n"
                         R"({"arrival_s": 2, "prompt_tokens": 9, "output_tokens": 4})"
                         "\n";
  const auto programs = all_of("{replay: {trace: " + path.string() + "}, speedup: 2}");
  REQUIRE(programs.size() == 2);
  CHECK(programs[0].stages[0].give_up.si() == 1.25);
  CHECK(programs[1].stages[0].give_up == Stage().give_up);
  CHECK(programs[1].start.si() == 1);
  std::filesystem::remove(path);
}

TEST_CASE("a speed-up of two halves the times of a replay") {
  CHECK(starts_of(TraceFile().replay("", ", speedup: 2")) == std::vector<double>{0, 0.5, 1.5, 3.5});
}

TEST_CASE("a replayed slice starts at time 0") {
  CHECK(starts_of(TraceFile().replay(", first: 1, count: 2")) == std::vector<double>{0, 2});
}

TEST_CASE("the recorded Azure conversations are replayed at their rate") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("LLMSCAPE_REFERENCE_DATA is not set: skipped");
    return;
  }
  const std::string trace = (std::filesystem::path(data) / "traces/azure_llm_2023/conv.csv").string();
  const auto programs = all_of("{replay: {trace: " + trace + "}}");
  CHECK(programs.size() == 13'653);
  CHECK(static_cast<double>(programs.size()) / programs.back().start.si() == approx(5.93).epsilon(0.001));
}

TEST_CASE("a replay keeps the limits of its workload") {
  CHECK(TraceFile().replay("", ", requests: 3").size() == 3);
  CHECK(TraceFile().replay("", ", duration: 3 s").size() == 3);
}

TEST_CASE("a replay that passes over all requests is refused") {
  for (const char* first : {"4", "9"}) {
    CAPTURE(first);
    CHECK(TraceFile().mistakes(std::string(", first: ") + first).find("passes over all 4 requests") !=
          std::string::npos);
  }
  CHECK(TraceFile().replay(", first: 3").size() == 1);
}

}  // namespace llmscape::workloads
