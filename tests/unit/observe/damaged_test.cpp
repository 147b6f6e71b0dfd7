// SPDX-License-Identifier: Apache-2.0
// Logs and exports that were cut off, edited, or written by something else: each mistake at its place, and nothing of
// the file is taken.
#include <doctest/doctest.h>

#include "sim/observe/readers.hpp"
#include "tests/cli/scratch.hpp"
#include "traces/compression.hpp"

namespace llmscape::observe {
namespace {

struct Damaged {
  const char* format;
  std::string text;
  const char* said;  // "LINE:COLUMN: error: ..."
};

const std::string kStats =
    "INFO 05-12 09:01:10 [loggers.py:127] Engine 000: Avg prompt throughput: 400.0 tokens/s, Avg generation "
    "throughput: "
    "290.5 tokens/s, Running: 4 reqs, Waiting: 1 reqs, GPU KV cache usage: 0.8%, Prefix cache hit rate: 0.0%\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string compressed(const std::string& text) { return traces::compressed_for("x.gz", text); }
// With a byte of its middle changed.
std::string spoilt(std::string bytes) {
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  return bytes;
}

const std::vector<Damaged>& cases() {
  static const std::string bench =
      R"({"backend": "vllm", "total_input_tokens": 2, "duration": 1, "input_lens": [5, 5], "output_lens": [2, 2], )"
      R"("ttfts": [0.1, 0.1], "itls": [[0.1], [0.1]]})";
  static const std::string smi = "timestamp, index, power.draw [W]\n2025/05/12 09:01:00, 0, 116 W\n";
  static const std::string record =
      R"({"metadata": {"request_start_ns": 5}, "metrics": {"input_sequence_length": {"value": 5, "unit": "tokens"}, )"
      R"("output_sequence_length": {"value": 5, "unit": "tokens"}}})";
  static const std::vector<Damaged> all = {
      {"vllm-log", kStats + kStats.substr(0, 130) + "\n", "2:1: error: the line has no 'Running:'"},
      {"vllm-log", replaced(kStats, "Running: 4", "Running: x"), "1:132: error: no number follows 'Running:'"},
      {"vllm-log", replaced(kStats, "05-12 09:01:10 ", ""), "1:1: error: the line has no time: MM-DD HH:MM:SS"},
      {"vllm-log", replaced(kStats, "0.8%", "nan%"), "no number follows 'GPU KV cache usage:'"},
      {"vllm-log", replaced(kStats, "290.5", ""), "no number follows 'Avg generation throughput:'"},
      {"sglang-log", "[2025-05-12 09:01:01 TP0] Decode batch. #running-req: 3, #token: 11\n",
       "1:1: error: the line has no '#queue-req:'"},
      {"sglang-log", "Prefill batch. #new-seq: 2, #new-token: 10, token usage: 0.00, #running-req: 0, #queue-req: 1\n",
       "1:1: error: the line has no time: [YYYY-MM-DD HH:MM:SS"},
      {"sglang-log",
       "[2025-05-12 09:01:01] Prefill batch. #new-token: ?, token usage: 0.0, #running-req: 0, #queue-req: 1\n",
       "1:38: error: no number follows '#new-token:'"},
      {"vllm-bench", bench.substr(0, 100), "1:101: error: this is no JSON from here on"},
      {"vllm-bench", "[1, 2]", "1:1: error: the document is no object"},
      {"vllm-bench", replaced(bench, "[2, 2]", "[2]"), "'output_lens' has 1 entries where 'input_lens' has 2"},
      {"vllm-bench", replaced(bench, "[0.1, 0.1]", "[0.1, -1]"), "entry 1 of 'ttfts' must be a number of at least 0"},
      {"vllm-bench", replaced(bench, "[[0.1], [0.1]]", "[0.1, 0.1]"), "entry 0 of 'itls' must be a list"},
      {"vllm-bench", replaced(bench, "\"duration\": 1", "\"duration\": \"long\""),
       "1:46: error: 'duration' must be a number of at least 0"},
      {"guidellm", "{\"benchmarks\": []}", "1:2: error: the file has 0 benchmarks"},
      {"guidellm", "{\n \"benchmarks\": [{\"requests\": {}}]\n}", "'successful' must be a list"},
      {"guidellm", "{\"benchmarks\": [{\"requests\": {\"successful\": [{\"prompt_tokens\": 3}]}}]}",
       "'start_time' must be a number of at least 0"},
      {"guidellm", "{\"benchmarks\": [{}]}", "a benchmark must have 'requests'"},
      {"aiperf", record + "\n" + record.substr(0, 60) + "\n", "2:61: error: this is no JSON from here on"},
      {"aiperf", replaced(record, "{\"value\": 5, \"unit\": \"tokens\"}", "7") + "\n",
       "'input_sequence_length' must be an object with 'value' and 'unit'"},
      {"prometheus", "# TYPE x gauge\nvllm:num_requests_running{engine=\"0\" 3\n",
       "2:26: error: the labels have no '}'"},
      {"prometheus", "# TYPE x gauge\nvllm:num_requests_running{engine=\"0\"} three\n",
       "2:39: error: a sample of 'vllm:num_requests_running' must have a number"},
      {"power-csv", smi + "2025/05/12 09:01:01, 0\n", "3:1: error: 2 columns where the header has 3"},
      {"power-csv", smi + "yesterday, 0, 116 W\n", "3:1: error: 'yesterday' is no time"},
      {"power-csv", smi + "2025/05/12 09:01:01, 0, ERR!\n", "3:24: error: 'ERR!' is no number"},
      {"power-csv", "index, power.draw [W]\n0, 1 W\n", "1:1: error: the table has no column 'timestamp'"},
      // Time that goes back, or that no clock shows.
      {"vllm-log", replaced(kStats, "09:01:10", "09:01:30") + kStats, "2:1: error: the time goes back by 20 s"},
      {"vllm-log", replaced(kStats, "09:01:10", "29:01:10"), "1:1: error: the line has no time"},
      {"vllm-log", replaced(kStats, "05-12", "13-42"), "1:1: error: the line has no time"},
      {"power-csv", smi + "2025/05/12 08:59:00, 0, 1 W\n", "3:1: error: the time goes back by 120 s"},
      {"prometheus", "# TYPE x gauge\nvllm:num_requests_running 3 100000\nvllm:num_requests_running 3 50000\n",
       "3:27: error: the time goes back by 50 s"},
      // Values that cannot be.
      {"vllm-log", replaced(kStats, "Running: 4", "Running: -4"),
       "1:132: error: the number behind 'Running:' is below 0"},
      {"vllm-log", replaced(kStats, "0.8%", "180.0%"), "the number behind 'GPU KV cache usage:' is above 100"},
      {"vllm-log", replaced(kStats, "290.5", "1e999"), "no number follows 'Avg generation throughput:'"},
      {"sglang-log",
       "[2025-05-12 09:01:01] Prefill batch. #new-token: 1, token usage: 85.0, #running-req: 0, #queue-req: 1\n",
       "the number behind 'token usage:' is above 1"},
      {"vllm-bench", replaced(bench, "[0.1, 0.1]", "[NaN, 0.1]"), "this is no JSON from here on"},
      {"vllm-bench", replaced(bench, "[0.1, 0.1]", "[1e999, 0.1]"), "error: '1e999' is too large"},
      {"vllm-bench", replaced(bench, "[5, 5]", "[1e300, 5]"), "must be a whole number of tokens up to 2147483647"},
      {"vllm-bench", replaced(bench, "[5, 5]", "[5.5, 5]"), "must be a whole number of tokens up to 2147483647"},
      {"vllm-bench", replaced(bench, "[[0.1]", "[[-0.5]"), "entry 0 of 'itls' must hold numbers of at least 0"},
      {"guidellm",
       "{\"benchmarks\": [{\"requests\": {\"successful\": [{\"start_time\": 1, \"prompt_tokens\": 1e12, "
       "\"output_tokens\": 3}]}}]}",
       "'prompt_tokens' must be a whole number of tokens"},
      {"aiperf", replaced(record, "\"request_start_ns\": 5", "\"request_start_ns\": 5, \"benchmark_phase\": 7") + "\n",
       "'benchmark_phase' must be a text"},
      {"prometheus", "# TYPE x gauge\nvllm:num_requests_running 3 100\nvllm:num_requests_waiting -3 100\n",
       "3:27: error: a sample of 'vllm:num_requests_waiting' is below 0"},
      {"prometheus", "# TYPE x histogram\nvllm:time_to_first_token_seconds_bucket{le=\"abc\"} 3\n",
       "2:1: error: the bucket has no upper end 'le', but 'abc'"},
      {"prometheus",
       "# TYPE x histogram\nvllm:time_to_first_token_seconds_count 30\nvllm:time_to_first_token_seconds_count 3\n",
       "3:1: error: the counters of 'ttft_s' fall between two scrapes"},
      // Units.
      {"power-csv", smi + "2025/05/12 09:01:01, 0, 0.1 kW\n", "3:24: error: '0.1 kW' is not in W"},
      {"power-csv", replaced(smi, "[W]", "[mW]"), "1:18: error: 'power.draw [mW]' is not in W"},
      {"power-csv", smi + "2025/05/12 09:01:01, 0, nan W\n", "3:24: error: 'nan W' is no number"},
      {"aiperf", replaced(record, "\"unit\": \"tokens\"", "\"unit\": \"fortnights\"") + "\n",
       "'fortnights' is no unit of a time"},
      // Missing and repeated columns.
      {"power-csv", replaced(smi, "index", "timestamp"), "1:11: error: a second column of times"},
      {"power-csv", replaced(smi, "power.draw [W]", "fan.speed [%]"), "the table has no column of power or clocks"},
      // Nothing in it.
      {"vllm-log", "\n\n\n", "nothing in the file is known of a log of 'vllm serve'"},
      {"vllm-log", std::string("\x00\xff\xfeG\x01\n\x80", 7), "nothing in the file is known of a log of 'vllm serve'"},
      {"vllm-bench", "{\"schema\": 7}", "nothing in the file is known of a result of 'vllm bench serve"},
      {"power-csv", "timestamp, index, power.draw [W]\n", "nothing in the file is known of a CSV of nvidia-smi"},
      // Compressed, and cut off or changed.
      {"vllm-log", compressed(kStats).substr(0, 60), "error: nothing in the file is known of a log of 'vllm serve'"},
      {"vllm-log", spoilt(compressed(kStats)), "error: corrupt gzip stream"},
      {"vllm-bench", compressed(bench).substr(0, 40), "error: truncated gzip stream"},
      // Lines that no program writes.
      {"vllm-log", kStats + std::string((64 << 20) + 1, 'x'), "2:1: error: line longer than 64 MiB"},
  };
  return all;
}

}  // namespace

TEST_CASE("damaged logs and exports: each mistake at its place, and nothing is taken") {
  CHECK(cases().size() >= 20);
  for (const Damaged& damaged : cases()) {
    const test::Scratch scratch;
    CAPTURE(damaged.text);
    Observed observed;
    Diagnostics diagnostics;
    read_observed(scratch.file("damaged", damaged.text), damaged.format, observed, diagnostics);
    CAPTURE(diagnostics.text(false));
    CHECK(diagnostics.has_errors());
    CHECK(diagnostics.text(false).find(damaged.said) != std::string::npos);
    CHECK(observed.requests.empty());
    CHECK(observed.courses.empty());
    CHECK(observed.settings.empty());
    CHECK(observed.sources.empty());
  }
}

TEST_CASE("a last line without an end was being written: it is left out, and said") {
  const test::Scratch scratch;
  const std::string late = replaced(kStats, "09:01:10", "09:01:20");
  for (const auto& [format, whole, cut] :
       {std::tuple("vllm-log", kStats, late.substr(0, 130)), std::tuple("vllm-log", kStats, late.substr(0, 160)),
        std::tuple("power-csv", std::string("timestamp, index, power.draw\n2025/05/12 09:01:00, 0, 45\n"),
                   std::string("2025/05/12 09:01:01, 0, 4"))}) {  // of 45
    Observed observed;
    Diagnostics diagnostics;
    read_observed(scratch.file("live", whole + cut), format, observed, diagnostics);
    CHECK(diagnostics.text(false) == "");
    CHECK(observed.courses.begin()->second.begin()->second.samples().size() == 1);
    REQUIRE(observed.notes.size() == 1);
    CHECK(observed.notes[0].ends_with("of live has no end, as in a file that is still written: left out"));
  }
}

// The writer still held the third line, or what ends the stream behind it: two are whole.
TEST_CASE("of a compressed log that was cut the whole lines are read, with a warning") {
  const test::Scratch scratch;
  const std::string two = kStats + replaced(kStats, "09:01:10", "09:01:20"),
                    third = replaced(kStats, "09:01:10", "09:01:30"),
                    midway = compressed(two + third.substr(0, third.size() / 2));
  for (const std::string& text :
       {compressed(two) + compressed(third).substr(0, 20), midway.substr(0, midway.size() - 8)}) {
    Observed observed;
    Diagnostics diagnostics;
    read_observed(scratch.file("live.gz", text), "vllm-log", observed, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(diagnostics.text(false).find(
              "live.gz:3:1: warning: truncated gzip stream: the file was cut, and the 2 whole lines before are read") !=
          std::string::npos);
    REQUIRE(observed.courses.contains(quantity::kRunning));
    CHECK(observed.courses.at(quantity::kRunning).begin()->second.samples().size() == 2);
  }
}

TEST_CASE("a file whose every line is wrong is left after a thousand of them") {
  const test::Scratch scratch;
  std::string text = "timestamp, index, power.draw [W]\n";
  for (int i = 0; i < 5000; ++i) text += "never, 0, 1 W\n";
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("x", text), "power-csv", observed, diagnostics);
  CHECK(diagnostics.errors() == 1001);
  CHECK(diagnostics.sorted().back().message == "after 1000 mistakes the rest of the file was not read");
}

TEST_CASE("lines that change places by some seconds, and parts of a log that was rotated, are no mistake") {
  const test::Scratch scratch;
  const std::string early = scratch.file("1", replaced(kStats, "09:01:10", "09:01:15") + kStats),
                    late = scratch.file("2", replaced(kStats, "09:01:10", "09:01:20"));
  Observed observed;
  Diagnostics diagnostics;
  read_observed(early, "", observed, diagnostics);
  read_observed(late, "", observed, diagnostics);
  CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  CHECK(observed.courses.at("running").at("000").samples().size() == 3);
  CHECK(observed.sources.size() == 2);
}

TEST_CASE("a file of no kind, an empty one, one that is not there, and a format that there is not") {
  const test::Scratch scratch;
  for (const auto& [path, format, said] :
       {std::tuple(scratch.file("poem", "It was a dark night\n"), "", "nothing says what kind of file this is"),
        std::tuple(scratch.file("empty", ""), "", "the file is empty or cannot be read"),
        std::tuple(scratch.path("none"), "", "there is no such file"),
        std::tuple(scratch.path("none"), "vllm-bench", "No such file"),
        std::tuple(scratch.file("poem", "x\n"), "vlm-log", "did you mean 'vllm-log'?")}) {
    Observed observed;
    Diagnostics diagnostics;
    read_observed(path, format, observed, diagnostics);
    CHECK_MESSAGE(diagnostics.text(false).find(said) != std::string::npos, diagnostics.text(false));
  }
}

}  // namespace llmscape::observe
