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
