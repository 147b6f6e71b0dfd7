// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/unit/traces/trace_folder.hpp"
#include "traces/column_mapping.hpp"
#include "traces/date_time.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

struct Mapped {
  std::vector<TraceRecord> records;
  Diagnostics diagnostics;
};

Mapped read(const std::string& path, const std::string& columns, const std::string& unit) {
  Mapped out;
  const auto mapping = parse_column_mapping(columns, unit, out.diagnostics);
  INFO(out.diagnostics.text(false));
  REQUIRE(mapping);
  const auto trace = open_mapped_trace(path, *mapping, {}, out.diagnostics);
  REQUIRE(trace);
  while (auto record = trace->next(out.diagnostics)) out.records.push_back(std::move(*record));
  return out;
}

constexpr const char* kColumns = "arrival=ts,prompt=in_tokens,output=out_tokens";

}  // namespace

TEST_CASE("columns of any table are read under the names and in the unit that were typed") {
  const TraceFolder folder;
  const auto [records, diagnostics] = read(folder.write("log.csv.gz",
                                                        "user,out_tokens,ts,in_tokens,note\n"
                                                        "b,7,2500,200,\"late, and long\"\n"
                                                        "a,5,1000.5,100,\n"),
                                           std::string(kColumns) + ",session=user", "ms");
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(records.size() == 2);
  CHECK(records[0].session == "a");  // by arrival, whatever the order of the rows
  CHECK(records[0].arrival == Seconds(0));
  CHECK(records[1].arrival == Seconds(1.4995));
  CHECK(records[1].prompt_tokens == 200);
  CHECK(records[1].output_tokens == 7);
}

TEST_CASE("a table whose cells nothing but commas should separate is one mistake, where the first other sign stands") {
  const TraceFolder folder;
  for (const auto& [sign, called] : {std::pair(";", "not by ';'"), std::pair("\t", "not by tabs")}) {
    const std::string row = std::string("ts") + sign + "in_tokens" + sign + "out_tokens\n";
    const auto [records, diagnostics] =
        read(folder.write("log.csv", row + "1" + sign + "2" + sign + "3\n"), kColumns, "ms");
    CHECK(records.empty());
    REQUIRE(diagnostics.errors() == 1);
    const Diagnostic mistake = diagnostics.sorted().front();
    CHECK(mistake.message == std::string("cells are separated by commas, ") + called);
    CHECK(mistake.where.column == 3);
  }
}

TEST_CASE("keys of JSON lines are found inside objects, and numbers in texts") {
  const TraceFolder folder;
  const auto [records, diagnostics] =
      read(folder.write("log.jsonl",
                        R"({"at": "2026-03-02T09:00:01.5+01:00", "usage": {"prompt": "12", "completion": 3}, "x": []})"
                        "\n"
                        R"({"at": "2026-03-02 08:00:00Z", "usage": {"prompt": 13, "completion": 4}})"),
           "arrival=at,prompt=usage.prompt,output=usage.completion", "date");
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt_tokens == 13);
  CHECK(records[1].prompt_tokens == 12);
  CHECK(records[1].arrival == Seconds(1.5));
}

TEST_CASE("sessions are compared as they are meant, whatever quotes and escapes they are written with") {
  const TraceFolder folder;
  const auto sessions = [&](const std::string& name, const std::string& content) {
    const auto [records, diagnostics] = read(folder.write(name, content), std::string(kColumns) + ",session=user", "s");
    INFO(diagnostics.text(false));
    CHECK_FALSE(diagnostics.has_errors());
    std::vector<std::string> out;
    for (const TraceRecord& record : records) out.push_back(record.session);
    return out;
  };
  CHECK(sessions("log.csv",
                 "ts,in_tokens,out_tokens,user\n"
                 "1,2,3,\"a \"\"b\"\"\"\n2,2,3,\"ab\"\n3,2,3,ab\n4,2,3,a\"\"b\n5,2,3,\n") ==
        std::vector<std::string>{"a \"b\"", "ab", "ab", "a\"\"b", ""});
  CHECK(sessions("log.jsonl", R"({"ts": 1, "in_tokens": 2, "out_tokens": 3, "user": "\u00fc\u0061\""})"
                              "\n"
                              R"({"ts": 2, "in_tokens": 2, "out_tokens": 3, "user": "üa\""})"
                              "\n"
                              R"({"ts": 3, "in_tokens": 2, "out_tokens": 3})"
                              "\n"
                              R"({"ts": 4, "in_tokens": 2, "out_tokens": 3, "user": null})"
                              "\n"
                              R"({"ts": 5, "in_tokens": 2, "out_tokens": 3, "user": 7})") ==
        std::vector<std::string>{"üa\"", "üa\"", "", "", "7"});
  const auto typed = read(folder.write("typo.jsonl", R"({"ts": 1, "in_tokens": 2, "out_tokens": 3, "usr": "a"})"),
                          std::string(kColumns) + ",session=user", "s");
  REQUIRE(typed.diagnostics.errors() == 1);
  CHECK(typed.diagnostics.sorted().front().message == "no row has a key 'user'");
  CHECK(typed.diagnostics.sorted().front().suggestion == "did you mean 'usr'?");
}

TEST_CASE("every mistake of a mapping is reported at its place in what was typed") {
  struct Case {
    std::string columns, unit;
    std::vector<std::pair<int, std::string>> errors;  // column, fragment
  };
  const std::vector<Case> cases = {
      {"arival=a,prompt,output=",
       "sec",
       {{1, "unknown 'arival'"},
        {10, "'prompt' must be WHAT=COLUMN"},
        {17, "'output' has no column"},
        {0, "unknown unit 'sec'"}}},
      {"prompt=a,prompt=b,output=c", "s", {{10, "'prompt' stands twice"}}},
      {"session=a",
       "",
       {{1, "'arrival' is missing"}, {1, "'prompt' is missing"}, {1, "'output' is missing"}, {0, "state the unit"}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.columns);
    Diagnostics diagnostics;
    CHECK_FALSE(parse_column_mapping(c.columns, c.unit, diagnostics));
    const auto errors = diagnostics.sorted();
    REQUIRE(errors.size() == c.errors.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      CHECK(errors[i].where.column == c.errors[i].first);
      CHECK(errors[i].message.find(c.errors[i].second) != std::string::npos);
    }
  }
}

TEST_CASE("what is wrong in a mapped table is reported where it stands") {
  struct Case {
    std::string content, unit;
    int line, column;
    std::string fragment, suggestion = "";
  };
  const std::vector<Case> cases = {
      {"ts,in_token,out_tokens\n1,2,3\n", "s", 1, 1, "column 'in_tokens' is missing", "did you mean 'in_token'?"},
      {"ts,in_tokens,out_tokens,ts\n", "s", 1, 25, "column 'ts' stands twice"},
      {"ts,in_tokens,out_tokens\n", "s", 0, 1, "the trace has no records"},
      {"ts,in_tokens,out_tokens\n1,2\n", "s", 2, 1, "2 columns where the header has 3"},
      {"ts,in_tokens,out_tokens\n1,2,3\nx,2,3\n", "s", 3, 1, "'ts' must be a time of at least 0"},
      {"ts,in_tokens,out_tokens\n1,2,3\n", "date", 2, 1, "'ts' must be a date and time"},
      {"ts,in_tokens,out_tokens\n1,2.5,3\n", "s", 2, 3, "'in_tokens' must be a whole number of tokens"},
      {"ts,in_tokens,out_tokens\n1,2,0\n", "s", 2, 5, "'out_tokens' must be a whole number of tokens"},
      {"{\"ts\": 1, \"in_token\": 2, \"out_tokens\": 3}\n", "s", 1, 1, "key 'in_tokens' is missing",
       "did you mean 'in_token'?"},
      {"{\"ts\": 1, \"in_tokens\": null, \"out_tokens\": 3}\n", "s", 1, 24, "'in_tokens' must be a number or a text"},
      {"{\"ts\": 1, \"in_tokens\": \"two\", \"out_tokens\": 3}\n", "s", 1, 25, "got 'two'"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.content);
    const TraceFolder folder;
    const std::string path = folder.write("log", c.content);
    const auto mapped = read(path, kColumns, c.unit);
    REQUIRE(mapped.diagnostics.errors() == 1);
    const Diagnostic error = mapped.diagnostics.sorted().front();
    INFO(error.message);
    CHECK(error.where.source->name == path);
    CHECK(error.where.line == c.line);
    CHECK(error.where.column == c.column);
    CHECK(error.message.find(c.fragment) != std::string::npos);
    CHECK(error.suggestion == c.suggestion);
  }
}

TEST_CASE("dates and times are nanoseconds since 1970, offsets taken off") {
  CHECK(parse_date_time("1970-01-01 00:00:01") == 1'000'000'000);
  CHECK(parse_date_time("1970-01-01T01:00:00.000000007+01:00") == 7);
  CHECK(parse_date_time("1969-12-31T23:00:00-01:00") == std::nullopt);
  CHECK(parse_date_time("2024-02-29 00:00:00Z") == 1'709'164'800'000'000'000);
  for (const char* wrong : {"", "Z", "2023-02-29 00:00:00", "2024-01-01", "2024-01-01 24:00:00", "2024-01-01 00:00:00.",
                            "2024-01-01 00:00:00+25:00", "2024-01-01 00:00:00 "})
    CHECK_MESSAGE(!parse_date_time(wrong), wrong);
}
