// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "sim/observe/alignment.hpp"
#include "sim/observe/readers.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {

TEST_CASE("tables by a mapping: requests, samples and figures, of the rows that are meant") {
  const test::Scratch scratch;
  const auto mapping = scratch.file("columns.yaml",
                                    "schema: rows/1\ncolumns: {arrival_s: launch, output_tokens: out, "
                                    "e2e_s: ttft_s + gen}\n");
  const auto table = scratch.file("requests.csv",
                                  "run,launch,prompt_tokens,out,ttft_s,gen\na,1,100,11,0.5,1\nb,0,9,9,1,1\n"
                                  "a,0,50,21,0.25,2\n");
  Observed observed;
  Diagnostics diagnostics;
  const auto where = Expression::parse("run == 'a'", {}, diagnostics);
  read_observed_table(table, mapping, where, observed, diagnostics);
  const auto courses = scratch.file("courses.csv", "run,t_s,running,device,power_w\na,1,4,0,100\na,1,,1,50\n");
  read_observed_table(courses, std::nullopt, where, observed, diagnostics);
  const auto figure = scratch.file("runs.csv", "run,tpot_s\na,0.02\nb,0.03\n");
  read_observed_table(figure, std::nullopt, where, observed, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  align_requests(observed);
  REQUIRE(observed.requests.size() == 2);
  CHECK(*observed.requests[0].tpot() == approx(0.1));
  CHECK(observed.requests[1].arrival == 1);
  CHECK(observed.total(quantity::kPower)[0].value == 150);
  CHECK(observed.numbers.at("tpot_s.mean") == 0.02);
}

TEST_CASE("a table of requests: the end of an answer by its TPOT, and rows without lengths are told") {
  const test::Scratch scratch;
  const auto table = scratch.file("requests.csv",
                                  "arrival_s,prompt_tokens,output_tokens,ttft_s,tpot_s\n0,100,11,0.5,0.1\n"
                                  "1,50,1,0.25,\n2,50,,0.25,0.1\n");
  Observed observed;
  Diagnostics diagnostics;
  read_observed_table(table, std::nullopt, std::nullopt, observed, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(observed.requests.size() == 2);
  CHECK(*observed.requests[0].e2e == approx(1.5));
  CHECK(*observed.requests[0].tpot() == approx(0.1));
  CHECK(*observed.requests[1].e2e == 0.25);
  REQUIRE(observed.notes.size() == 1);
  CHECK(observed.notes[0].starts_with("1 of 3 requests"));
}

TEST_CASE("a table of one's own: cells that are no times or tokens are errors at their place, in rows that are meant") {
  const test::Scratch scratch;
  const auto read_table = [&](const std::string& text, const std::string& where = "") {
    Diagnostics diagnostics;
    Observed observed;
    std::optional<Expression> meant;
    if (!where.empty()) meant = Expression::parse(where, {}, diagnostics);
    read_observed_table(scratch.file("t.csv", text), std::nullopt, meant, observed, diagnostics);
    std::string told = diagnostics.text(false);
    if (!diagnostics.has_errors()) told = observed.notes.empty() ? "" : observed.notes.front();
    return std::pair(told, observed);
  };
  const auto told = [&](const std::string& text) { return read_table(text).first; };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string header = "arrival_s,prompt_tokens,output_tokens,ttft_s,run\n";
  CHECK(has(told(header + "0,10,2,0.1,a\n2023-11-14T22:13:20Z,10,2,0.1,a\n"),
            "t.csv:3:1: error: 'arrival_s' must be a number of seconds; got '2023-11-14T22:13:20Z'"));
  CHECK(has(told(header + "0,many,2,0.1,a\n"), "t.csv:2:3: error: 'prompt_tokens' must be a whole number of tokens"));
  CHECK(has(told(header + "0,10,1e300,0.1,a\n"), "t.csv:2:6: error: 'output_tokens' must be a whole number"));
  CHECK(has(told(header + "0,374.9,2,0.1,a\n"), "got '374.9'"));
  CHECK(has(told("t_s,running\nnoon,3\n"), "t.csv:2:1: error: 't_s' must be a number of seconds"));
  // Rows that are not meant may hold anything, and a row without an arrival is no figure.
  CHECK(read_table(header + "0,10,2,0.1,a\nn/a,10,2,0.1,b\n", "run == 'a'").second.requests.size() == 1);
  const auto [note, seen] = read_table(header + "0,10,2,0.1,a\n,10,2,0.7,a\n");
  CHECK(note == "1 of 2 rows of a table of requests have no 'arrival_s' and are left out");
  CHECK(seen.requests.size() == 1);
  CHECK(seen.numbers.empty());
}

TEST_CASE("a table of figures has one row of each, and a table of which nothing is known says what is meant") {
  const test::Scratch scratch;
  const auto told = [&](const std::string& text) {
    Diagnostics diagnostics;
    Observed observed;
    read_observed_table(scratch.file("t.csv", text), std::nullopt, std::nullopt, observed, diagnostics);
    return diagnostics.text(false);
  };
  CHECK(told("name,ttft_s,tpot_s\na,0.1,\nb,,0.02\n").empty());
  const std::string twice = told("name,ttft_s\na,0.1\n\nb,0.2\n");
  CHECK_MESSAGE(twice.find("t.csv:4:1: error: 'ttft_s.mean' is told here and in line 2") != twice.npos, twice);
  CHECK(twice.find("--where") != twice.npos);
  const std::string unknown = told("name,ttft,tpot\na,0.1,0.02\n");
  CHECK_MESSAGE(unknown.find("did you mean 'ttft_s' for 'ttft', 'tpot_s' for 'tpot'?") != unknown.npos, unknown);
}

TEST_CASE("calls of two files whose clocks have nothing in common are not joined") {
  const test::Scratch scratch;
  const auto table = [&](const char* name, int first) {
    std::string text = "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n";
    for (int i = 0; i < 10; ++i) text += std::to_string(first + i) + ",10,5,0.1,1\n";
    return scratch.file(name, text);
  };
  const auto told = [&](int second) {
    Observed observed;
    Diagnostics diagnostics;
    for (const std::string& file : {table("a.csv", 0), table("b.csv", second)})
      read_observed_table(file, std::nullopt, std::nullopt, observed, diagnostics);
    return diagnostics.text(false);
  };
  CHECK(told(5) == "");
  CHECK(told(18) == "");  // 8 s after a run of 10
  const std::string far = told(76000);
  CHECK_MESSAGE(far.find("its calls are 75990 s away from those of a.csv, longer than either took") != far.npos, far);
}

TEST_CASE("a log of SGLang: what a second has of lines is one sample, and prompts make a rate") {
  const test::Scratch scratch;
  std::string text;
  const auto prefill = [&](const char* at, int fresh, int cached) {
    text += "[2025-05-12 09:01:" + std::string(at) +
            " TP0] Prefill batch. #new-seq: 1, #new-token: " + std::to_string(fresh) +
            ", #cached-token: " + std::to_string(cached) + ", token usage: 0.10, #running-req: 1, #queue-req: 0, \n";
  };
  const auto decode = [&](const char* at, int rate) {
    text += "[2025-05-12 09:01:" + std::string(at) + " TP0] Decode batch. #running-req: 2, #token: 9, token usage: " +
            "0.10, gen throughput (token/s): " + std::to_string(rate) + ", #queue-req: 0, \n";
  };
  prefill("00", 1000, 0);
  for (const int rate : {100, 200, 300}) decode("01", rate);
  prefill("03", 500, 500);
  prefill("40", 100, 0);
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("s.log", text), "sglang-log", observed, diagnostics);
  CHECK(diagnostics.text(false) == "");
  const auto rates = observed.total(quantity::kOutputRate);
  REQUIRE(rates.size() == 1);
  CHECK(rates[0].value == 200);
  // 1,000 in the first second, none in the next, 500 in two, none for 36, and 100 in the last one.
  const auto prompts = observed.total(quantity::kPromptRate);
  REQUIRE(prompts.size() == 5);
  const double expected[] = {1000, 0, 250, 0, 100};
  for (std::size_t i = 0; i < prompts.size(); ++i) CHECK(prompts[i].value == approx(expected[i]));
  CHECK(figures(observed).at("hit_rate") == approx(500 / 2100.0));
}

}  // namespace llmscape::observe
