// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostics.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <regex>

using namespace llmscape;

namespace {

std::shared_ptr<const SourceText> source(std::string name, std::string text, int first_line = 1) {
  return std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text), first_line});
}

std::string text_of_one(SourceRange where, std::string message, std::string suggestion = {}) {
  Diagnostics diagnostics;
  diagnostics.error(std::move(where), std::move(message), std::move(suggestion));
  return diagnostics.text(false);
}

}  // namespace

TEST_CASE("messages point into their file with the line, a caret, a suggestion and notes") {
  const auto scenario = source("scenario.yaml", "gpu:\n  hbm_bandwith: 3.35 TB/s\n");
  const auto catalog = source("cim.yaml", "rows: 300\n");
  Diagnostics diagnostics;
  diagnostics.error({scenario, 2, 3, 12}, "unknown key 'hbm_bandwith' in device 'gpu0'",
                    "did you mean 'hbm_bandwidth'?");
  diagnostics.error({catalog, 1, 7, 3}, "'rows' must be a power of two, at least 1; got 300")
      .notes.push_back("included from scenario.yaml:1");
  CHECK(diagnostics.text(false, "See 'llmscape show fields device'.") ==
        "scenario.yaml:2:3: error: unknown key 'hbm_bandwith' in device 'gpu0'\n"
        "    2 |   hbm_bandwith: 3.35 TB/s\n"
        "      |   ^~~~~~~~~~~~ did you mean 'hbm_bandwidth'?\n"
        "cim.yaml:1:7: error: 'rows' must be a power of two, at least 1; got 300\n"
        "    1 | rows: 300\n"
        "      |       ^~~\n"
        "note: included from scenario.yaml:1\n"
        "2 errors. Nothing was run. See 'llmscape show fields device'.\n");
}

TEST_CASE("messages stand in the order of their files' first appearance, then of lines and columns, each once") {
  const auto a = source("a.yaml", ""), b = source("b.yaml", ""), same_as_a = source("a.yaml", "");
  Diagnostics diagnostics;
  diagnostics.error({b, 9, 1, 1}, "first file");
  diagnostics.error({a, 2, 5, 1}, "later column");
  diagnostics.error({a, 2, 1, 1}, "earlier column");
  diagnostics.error({b, 1, 1, 1}, "earlier line");
  diagnostics.error({same_as_a, 2, 1, 1}, "earlier column");
  std::vector<std::string> order;
  for (const Diagnostic& d : diagnostics.sorted()) order.push_back(d.message);
  CHECK(order == std::vector<std::string>{"earlier line", "first file", "earlier column", "later column"});
  CHECK(diagnostics.text(false).ends_with("\n4 errors. Nothing was run.\n"));
}

TEST_CASE("a source without the line shows no excerpt, and one without any line no place in it") {
  CHECK(text_of_one({source("a.csv", ""), 7, 3, 1}, "no number", "write '1'") ==
        "a.csv:7:3: error: no number; write '1'\n1 error. Nothing was run.\n");
  CHECK(text_of_one({source("a.csv", "x\n"), 0, 0, 1}, "cannot open") ==
        "a.csv: error: cannot open\n1 error. Nothing was run.\n");
  CHECK(text_of_one({}, "no hardware") == "error: no hardware\n1 error. Nothing was run.\n");
}

TEST_CASE("a streamed file gives the offending line alone, with its number") {
  CHECK(text_of_one({source("t.jsonl", R"({"id": -1})", 123456), 123456, 8, 2}, "negative") ==
        "t.jsonl:123456:8: error: negative\n"
        "123456 | {\"id\": -1}\n"
        "       |        ^~\n"
        "1 error. Nothing was run.\n");
}

TEST_CASE("carets align below tabs and characters of several bytes, and stay inside the line") {
  CHECK(text_of_one({source("a", "\té: über\n"), 1, 6, 99}, "x") ==
        "a:1:6: error: x\n    1 |  é: über\n      |     ^~~~\n1 error. Nothing was run.\n");
  CHECK(text_of_one({source("a", "ab"), 1, 3, 1}, "x") ==
        "a:1:3: error: x\n    1 | ab\n      |   ^\n1 error. Nothing was run.\n");
}

TEST_CASE("a long line is cut around the place") {
  const std::string text =
      text_of_one({source("a", std::string(500, 'a') + "B" + std::string(500, 'c')), 1, 501, 1}, "x");
  CHECK(text == "a:1:501: error: x\n    1 | …" + std::string(59, 'a') + "B" + std::string(38, 'c') + "…\n      | " +
                    std::string(60, ' ') + "^\n1 error. Nothing was run.\n");
}

TEST_CASE("what a file holds cannot drive the terminal") {
  const std::string text = text_of_one({source("a", "x: \033[2J\xff\r\n"), 1, 4, 1}, "bad " + in_quotes("\033[2J\xff"));
  CHECK(text == "a:1:4: error: bad ' [2J?'\n    1 | x:  [2J?\n      |    ^\n1 error. Nothing was run.\n");
}

TEST_CASE("colour adds escape sequences and changes no character") {
  Diagnostics diagnostics;
  diagnostics.error({source("a", "abc"), 1, 2, 2}, "x", "y");
  diagnostics.warning({}, "z");
  const std::string coloured = diagnostics.text(true);
  CHECK(coloured.find("\033[1;31merror:\033[0m") != std::string::npos);
  CHECK(std::regex_replace(coloured, std::regex("\033\\[[0-9;]*m"), "") == diagnostics.text(false));
}

TEST_CASE("warnings alone do not stop a run, and a repeated failure is counted but not printed") {
  Diagnostics diagnostics;
  diagnostics.warning({}, "left the measured range");
  CHECK(!diagnostics.has_errors());
  CHECK(diagnostics.text(false, "See.") == "warning: left the measured range\n");
  diagnostics.already_reported();
  CHECK(diagnostics.errors() == 1);
  CHECK(diagnostics.text(false) == "warning: left the measured range\n");
}

TEST_CASE("the first hundred messages are printed, all are counted") {
  Diagnostics diagnostics;
  for (int line = 1; line <= 150; ++line) diagnostics.error({source("a", ""), line, 1, 1}, "x");
  const std::string text = diagnostics.text(false);
  CHECK(text.ends_with("a:100:1: error: x\n50 more messages are not shown.\n150 errors. Nothing was run.\n"));
}

TEST_CASE("the JSON form holds every part, also for bytes that are no UTF-8") {
  Diagnostics diagnostics;
  auto noted = std::make_shared<const SourceText>(SourceText{"a.yaml", "k: v", 1, "included from b.yaml:3"});
  diagnostics.error({noted, 1, 4, 1}, "bad \xff", "write 'w'").notes.push_back("defined here");
  const auto json = nlohmann::json::parse(diagnostics.json());
  REQUIRE(json.size() == 1);
  CHECK(json[0] == nlohmann::json{{"file", "a.yaml"},
                                  {"line", 1},
                                  {"column", 4},
                                  {"severity", "error"},
                                  {"message", "bad \xEF\xBF\xBD"},
                                  {"suggestion", "write 'w'"},
                                  {"notes", {"defined here", "included from b.yaml:3"}}});
  CHECK(nlohmann::json::parse(Diagnostics().json()) == nlohmann::json::array());
}

TEST_CASE("the nearest word is found by letters dropped, doubled, changed or swapped, in any case") {
  const std::vector<std::string> keys = {"hbm_bandwidth", "rate", "clock", "h100-sxm"};
  CHECK(nearest("hbm_bandwith", keys) == "hbm_bandwidth");
  CHECK(nearest("raate", keys) == "rate");
  CHECK(nearest("raet", keys) == "rate");
  CHECK(nearest("Clock", keys) == "clock");
  CHECK(nearest("H100_SXM", keys) == "h100-sxm");
  CHECK(did_you_mean("rte", keys) == "did you mean 'rate'?");
}

TEST_CASE("what does a name mean that is only the beginning of others, or has another case?") {
  const std::vector<std::string> devices = {"a100-40", "a100-80", "h100-pcie", "h100-sxm", "h200", "v100"};
  CHECK(did_you_mean("H100", devices) == "did you mean 'h100-sxm' or 'h100-pcie'?");
  CHECK(did_you_mean("a100", devices) == "did you mean 'a100-40' or 'a100-80'?");
  CHECK(did_you_mean("V-100", devices) == "did you mean 'v100'?");
  const std::vector<std::string> metrics{"tokens_per_pass", "output_tokens_per_s", "prompt_tokens_per_s"};
  CHECK(did_you_mean("tokens_per_s", metrics) == "did you mean 'output_tokens_per_s' or 'prompt_tokens_per_s'?");
  CHECK(did_you_mean("h20", devices) == "did you mean 'h200'?");
  CHECK(did_you_mean("h201", devices) == "did you mean 'h200'?");
  // All three are one letter away; only one begins alike.
  const std::vector<std::string> models = {"llama-2-70b", "llama-3.1-70b", "qwen3-30b-a3b"};
  CHECK(did_you_mean("llama3-70b", models) == "did you mean 'llama-3.1-70b'?");
  CHECK(nearest("Qwen3_30B_A3B", models) == "qwen3-30b-a3b");
  CHECK(did_you_mean("qw", models).empty());  // two letters begin too much
}

TEST_CASE("a word that is far from all is not guessed at") {
  const std::vector<std::string> keys = {"rate", "ab"};
  CHECK(nearest("capacity", keys).empty());
  CHECK(nearest("x", keys).empty());
  CHECK(nearest("", keys).empty());
  CHECK(did_you_mean("capacity", keys).empty());
}

TEST_CASE("a long text is shortened in messages") {
  CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  CHECK(in_quotes(std::string(100'000, 'a')) == "'" + std::string(60, 'a') + "…'");
}

TEST_CASE("what was found by itself is passed on whole: severity, suggestion, notes, and the note of its source once") {
  const auto included = std::make_shared<const SourceText>(SourceText{"gpu.yaml", "a: 1\nb: 2\n", 1, "included here"});
  Diagnostics found;
  found.error({included, 2, 1, 1}, "unknown key 'b'", "did you mean 'a'?").notes.emplace_back("gpu has a");
  found.warning({included, 1, 1, 1}, "'a' has no effect");
  Diagnostics all;
  all.error({}, "one before");
  all.add(found);
  all.add(found.sorted().front()).notes.emplace_back("and more");  // the warning: it stands first in its file
  CHECK(all.errors() == 2);
  CHECK(all.size() == 4);
  const auto sorted = all.sorted();
  REQUIRE(sorted.size() == 3);  // the same message at the same place once
  CHECK(sorted[1].severity == Severity::warning);
  CHECK(sorted[1].notes == std::vector<std::string>{"included here"});
  CHECK(sorted[2].suggestion == "did you mean 'a'?");
  CHECK(sorted[2].notes == std::vector<std::string>{"gpu has a", "included here"});
}
