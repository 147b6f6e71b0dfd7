// SPDX-License-Identifier: Apache-2.0
#include "traces/convert.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

// Five requests, 10 s apart: contents 0 to 4 with 100 tokens and a tail.
std::string five_rows() {
  std::string content;
  for (int i = 0; i < 5; ++i)
    content += fmt::format(
        "{{\"arrival_s\": {}, \"prompt\": [[{}, 100], [9, 5, 3]], \"output_tokens\": {}, \"session\": \"s\\\"{}\", "
        "\"give_up_s\": {}.5}}\n",
        10 * i, i, i + 1, i, i);
  return content;
}

std::vector<TraceRecord> converted(const Conversion& conversion) {
  const TraceFolder folder;
  Diagnostics diagnostics;
  const auto trace = open_trace(folder.write("in.jsonl", five_rows()), "", {}, diagnostics);
  REQUIRE(trace);
  std::string content;
  REQUIRE(to_llmscape_jsonl(*trace, conversion, {}, diagnostics, [&](std::string_view text) { content += text; }));
  // Readers count from the first record: put one at 0 in front to see the arrivals as they are written.
  const std::string header = content.substr(0, content.find('\n') + 1);
  const std::string zero = "{\"arrival_s\": 0, \"prompt_tokens\": 1, \"output_tokens\": 1}\n";
  auto records = read_all(folder.write("out.jsonl", header + zero + content.substr(header.size())), "", diagnostics);
  INFO(diagnostics.text(false));
  CHECK_FALSE(diagnostics.has_errors());
  records.erase(records.begin());
  return records;
}

std::vector<double> arrivals(const std::vector<TraceRecord>& records) {
  std::vector<double> out;
  for (const TraceRecord& record : records) out.push_back(record.arrival.si());
  return out;
}

}  // namespace

TEST_CASE("a converted trace reads back as the same records") {
  const auto records = converted({});
  REQUIRE(records.size() == 5);
  CHECK(arrivals(records) == std::vector<double>{0, 10, 20, 30, 40});
  CHECK(records[3].prompt == Prompt{{3, 100}, {9, 5, 3}});
  CHECK(records[3].output_tokens == 4);
  CHECK(records[3].session == "s\"3");
  CHECK(records[3].known_content);
  CHECK(records[3].give_up == Seconds(3.5));
}

TEST_CASE("prompts without content stay without it, and nanoseconds survive") {
  const TraceFolder folder;
  Diagnostics diagnostics;
  const std::string in = folder.write("in.csv",
                                      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                      "2023-11-16 18:17:03,4808,10\n2023-11-16 18:17:03.123456789,3180,8\n");
  const auto trace = open_trace(in, "", {}, diagnostics);
  REQUIRE(trace);
  const std::string out = folder.path_of("new/folder/out.jsonl.gz");
  REQUIRE(convert(*trace, out, {}, {}, diagnostics));
  const auto records = read_all(out, "", diagnostics);
  REQUIRE(records.size() == 2);
  CHECK(records[1].arrival == Seconds(0.123456789));
  CHECK(records[1].prompt_tokens == 3180);
  CHECK_FALSE(records[1].known_content);
}

TEST_CASE("slices keep rows by number and by time, and end the reading there") {
  CHECK(arrivals(converted({.slice = {.first = 1, .count = 2}})) == std::vector<double>{10, 20});
  CHECK(arrivals(converted({.slice = {.from = Seconds(10), .to = Seconds(30)}})) == std::vector<double>{10, 20});
}

TEST_CASE("records are skipped and counted from where a slice begins in time") {
  CHECK(arrivals(converted({.slice = {.count = 2, .from = Seconds(15)}})) == std::vector<double>{20, 30});
  CHECK(arrivals(converted({.slice = {.first = 2, .from = Seconds(10)}})) == std::vector<double>{30, 40});
  CHECK(arrivals(converted({.slice = {.first = 1, .count = 1, .from = Seconds(10), .to = Seconds(40)}})) ==
        std::vector<double>{20});
}

TEST_CASE("arrivals are re-based first and scaled then") {
  CHECK(arrivals(converted({.slice = {.first = 2}, .rebase = true})) == std::vector<double>{0, 10, 20});
  CHECK(arrivals(converted({.slice = {.first = 3}, .time_factor = 0.5})) == std::vector<double>{15, 20});
  CHECK(arrivals(converted({.slice = {.first = 3}, .rebase = true, .time_factor = 0.5})) == std::vector<double>{0, 5});
}

TEST_CASE("the same trace gives the same bytes, compressed as the name says") {
  const TraceFolder folder;
  Diagnostics diagnostics;
  const std::string in = folder.write("in.jsonl", five_rows());
  const auto bytes = [&](const std::string& name) {
    const auto trace = open_trace(in, "", {}, diagnostics);
    REQUIRE(convert(*trace, folder.path_of(name), {}, {}, diagnostics));
    std::ifstream file(folder.path_of(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string plain = bytes("a.jsonl"), gzip = bytes("a.jsonl.gz"), zstd = bytes("a.jsonl.zst");
  CHECK(plain.starts_with("{\"schema\": \"trace/1\"}\n{\"arrival_s\": 0, "));
  CHECK(gzip.substr(0, 2) == "\x1f\x8b");
  CHECK(gzip.substr(4, 4) == std::string(4, '\0'));  // no time stamp (RFC 1952)
  CHECK(zstd.substr(0, 4) == "\x28\xb5\x2f\xfd");
  CHECK(gzip == bytes("b.jsonl.gz"));
  CHECK(zstd == bytes("b.jsonl.zst"));
}

TEST_CASE("what makes no sense is reported and nothing is written") {
  const TraceFolder folder;
  struct Case {
    Conversion conversion;
    std::string fragment;
  };
  const std::vector<Case> cases = {
      {{.slice = {.first = -1}}, "cannot begin at record -1"},
      {{.slice = {.count = 0}}, "cannot have 0 records"},
      {{.slice = {.from = Seconds(-2)}}, "cannot begin at -2 s"},
      {{.slice = {.from = Seconds(9), .to = Seconds(9)}}, "from 9 s to 9 s is empty"},
      {{.slice = {.first = 5}}, "holds no record"},
      {{.slice = {.from = Seconds(11), .to = Seconds(19)}}, "holds no record"},
      {{.time_factor = 0}, "must be above 0; got 0"},
      {{.time_factor = std::numeric_limits<double>::quiet_NaN()}, "must be above 0; got nan"},
      {{.time_factor = 1e12}, "beyond"},
  };
  const std::string out = folder.path_of("out.jsonl");
  for (const Case& c : cases) {
    CAPTURE(c.fragment);
    Diagnostics diagnostics;
    const auto trace = open_trace(folder.write("in.jsonl", five_rows()), "", {}, diagnostics);
    CHECK_FALSE(convert(*trace, out, c.conversion, {}, diagnostics));
    REQUIRE(diagnostics.errors() == 1);
    CHECK(diagnostics.sorted().front().message.find(c.fragment) != std::string::npos);
  }
  Diagnostics diagnostics;
  const auto broken = open_trace(folder.write("in.jsonl", five_rows() + "{}"), "", {}, diagnostics);
  CHECK_FALSE(convert(*broken, out, {}, {}, diagnostics));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a file that cannot be written is no mistake of the trace") {
  const TraceFolder folder;
  Diagnostics diagnostics;
  const std::string in = folder.write("in.jsonl", five_rows());
  const auto trace = open_trace(in, "", {}, diagnostics);
  std::string why;
  try {
    convert(*trace, in + "/out.jsonl", {}, {}, diagnostics);  // below a file
  } catch (const std::runtime_error& failure) {
    why = failure.what();
  }
  CHECK(why.starts_with("cannot write " + in + "/out.jsonl: "));
  CHECK(diagnostics.errors() == 0);
}

TEST_CASE("a file that is compressed piece by piece has the bytes of the whole") {
  const TraceFolder folder;
  std::string text;
  for (int i = 0; text.size() < std::size_t{3} << 20; ++i) text += fmt::format("{} and {}\n", i, (i * 7919L) % 10007);
  for (const char* name : {"x.jsonl", "x.jsonl.gz", "x.jsonl.zst"}) {
    CAPTURE(name);
    const std::string path = folder.path_of(name);
    CompressedFile file(path);
    for (std::size_t at = 0; at < text.size(); at += 777) file.append(std::string_view(text).substr(at, 777));
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
    std::ifstream in(path, std::ios::binary);
    CHECK((std::string(std::istreambuf_iterator<char>(in), {}) == compressed_for(path, text)));
  }
}

TEST_CASE("zstd of more than it takes at once reads back") {
  const TraceFolder folder;
  const std::string path = folder.path_of("long.zst");
  const std::string line(99, 'x');
  CompressedFile file(path);
  constexpr int kLines = 300'000;  // 30 MB
  for (int i = 0; i < kLines; ++i) file.append(line + '\n');
  file.commit();
  LineReader lines(path);
  int same = 0;
  while (const auto read = lines.next()) same += *read == line ? 1 : 0;
  CHECK(same == kLines);
  CHECK(lines.error().empty());
}
