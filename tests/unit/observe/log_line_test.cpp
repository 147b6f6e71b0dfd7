// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/log_line.hpp"

#include <doctest/doctest.h>

#include "sim/observe/alignment.hpp"
#include "sim/observe/readers.hpp"
#include "tests/cli/scratch.hpp"

namespace llmscape::observe {
namespace {

Observed vllm_logged(const std::string& text) {
  const test::Scratch scratch;
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("x.log", text), "vllm-log", observed, diagnostics);
  CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  align_courses(observed);
  return observed;
}

}  // namespace

TEST_CASE("a log of vLLM goes on over the end of February, of leap years and others, and over New Year") {
  for (const auto& [day, next] : {std::pair("02-29", "03-01"), std::pair("02-28", "03-01"), std::pair("02-28", "02-29"),
                                  std::pair("12-31", "01-01")}) {
    CAPTURE(std::string(day));
    std::string text;
    for (const std::string& at : {day + std::string(" 23:59:40"), day + std::string(" 23:59:50"),
                                  next + std::string(" 00:00:00"), next + std::string(" 00:00:10")})
      text += "INFO " + at +
              " [l.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, "
              "Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%\n";
    const auto samples = vllm_logged(text).total(quantity::kRunning);
    REQUIRE(samples.size() == 4);
    CHECK(samples[3].at - samples[0].at == 30);
  }
  CHECK_FALSE(time_in("2025-02-29 09:00:00"));  // no leap year
  CHECK(*time_in("2024-03-01 00:00:00") - *time_in("2024-02-29 00:00:00") == 86400);
}

TEST_CASE("what Python prints of texts with quotes, and of lists, is divided where Python divides it") {
  const auto all = python_arguments(
      R"(args: {'names': ["it's"], 'folder': "/data/it's", 'both': 'it\'s "x", 7', 'blank': ' a b', 'end': 2})");
  CHECK(all.size() == 5);
  CHECK(all.at("names") == R"(["it's"])");
  CHECK(all.at("folder") == "/data/it's");
  CHECK(all.at("both") == R"(it's "x", 7)");
  CHECK(all.at("blank") == " a b");
  CHECK(all.at("end") == "2");
  using Items = std::vector<std::string>;
  CHECK(python_items("[Path(name='a, b', base=None), Path(name='c]'), \"d\"]") ==
        Items{"Path(name='a, b', base=None)", "Path(name='c]')", "d"});
  CHECK(python_items("[]").empty());
}

TEST_CASE("the path of a model may have blanks in every line that names it") {
  CHECK(vllm_logged("INFO 05-12 09:00:01 [core.py:58] Initializing a V1 LLM engine (v0.11.0) with config: "
                    "model='/data/my models/Llama-3.1-8B-Instruct', speculative_config=None\n")
            .settings.at("model") == "/data/my models/Llama-3.1-8B-Instruct");
}

}  // namespace llmscape::observe
