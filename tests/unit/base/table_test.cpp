// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace table_test {

using namespace llmscape;

namespace {

Table devices() {
  Table table({"device", "bandwidth", "hit rate"});
  table.row({"h100-sxm", "3.35 TB/s", "0.61"});
  table.row({"l4", "300 GB/s", "-"});
  return table;
}

}  // namespace

TEST_CASE("columns are padded, numbers stand right and texts left") {
  CHECK(devices().text() ==
        "device    bandwidth  hit rate\n"
        "--------  ---------  --------\n"
        "h100-sxm  3.35 TB/s      0.61\n"
        "l4         300 GB/s         -\n");
}

TEST_CASE("a word that begins with a digit is no number") {
  Table table({"format"});
  table.row({"4-bit"});
  table.row({"bf16"});
  CHECK(table.text() == "format\n------\n4-bit\nbf16\n");
}

TEST_CASE("a table too wide breaks its longest texts, cuts none, and keeps its numbers") {
  Table table({"name", "why", "joules"});
  table.row({"short", "a reason much longer than there is room for", "123456.789"});
  table.row({"long", "hardware=edge rate=0.02 /s", "2"});
  table.row({"word", "aVeryLongNameWithoutAnySpace", "3"});
  CHECK(table.text(40) ==
        "name   why                        joules\n"
        "-----  ---------------------  ----------\n"
        "short  a reason much longer   123456.789\n"
        "       than there is room\n"
        "       for\n"
        "long   hardware=edge                   2\n"
        "       rate=0.02 /s\n"
        "word   aVeryLongNameWithoutA           3\n"
        "       nySpace\n");
}

TEST_CASE("a character counts once, however many bytes it has") {
  Table table({"unit", "text"});
  table.row({"µs", "time"});
  table.row({"ms", "τ"});
  CHECK(table.text() == "unit  text\n----  ----\nµs    time\nms    τ\n");
}

TEST_CASE("markdown marks columns of numbers and escapes bars") {
  Table table({"name", "rate"});
  table.row({"a|b", "12 /s"});
  CHECK(table.markdown() == "| name | rate |\n| --- | ---: |\n| a\\|b | 12 /s |\n");
}

TEST_CASE("a row with too few cells is refused") { CHECK_THROWS_AS(Table({"a", "b"}).row({"1"}), std::logic_error); }

TEST_CASE("a file is no terminal: no colour, and the usual width") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file);
  CHECK_FALSE(use_colour(ColourMode::automatic, file));
  CHECK(use_colour(ColourMode::always, file));
  CHECK_FALSE(use_colour(ColourMode::never, file));
  CHECK(terminal_width(file) == 100);
  std::fclose(file);
}

TEST_CASE("progress without a terminal is one line per tenth, and nothing when quiet") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file);
  const int terminal = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  for (const bool quiet : {true, false}) {
    Progress progress("sweep", quiet);
    for (int i = 0; i <= 1000; ++i) progress.update(i / 1000.0);
  }
  ::dup2(terminal, STDERR_FILENO);
  ::close(terminal);
  std::string written(4096, '\0');
  std::rewind(file);
  written.resize(std::fread(written.data(), 1, written.size(), file));
  std::fclose(file);
  CHECK(std::count(written.begin(), written.end(), '\n') == 11);  // 0, 10, ... 100 %
  CHECK(written.starts_with("sweep: 0 %\n"));
  CHECK(written.find("\nsweep: 100 %") != std::string::npos);
}

}  // namespace table_test
