// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "workloads/fit/fit_passages.hpp"
#include "workloads/fit/score.hpp"

using llmscape::testing::approx;

namespace llmscape::workloads {

TEST_CASE("a Zipf exponent is found from the share of the first ranks") {
  // Of ranks 1 to 4 with exponent 1: 1, 1/2, 1/3, 1/4 of 25/12; the first two have 18/25.
  CHECK(zipf_exponent(4, 2, 18.0 / 25) == approx(1).epsilon(1e-3));
  CHECK(zipf_exponent(100, 1, 0.01) < 1e-3);  // all alike
}

TEST_CASE("passages are what moves between what stands still") {
  // A system prompt of 100 tokens, a preamble of its own of 10, two different passages of ten of 40 tokens in any
  // order, a history that half of the calls share, and a question of 7.
  Recording recorded;
  RandomStream stream(2);
  for (int i = 0; i < 400; ++i) {
    const auto one = static_cast<ContentId>(stream.below(10)), other = (one + 1 + stream.below(9)) % 10;
    Prompt prompt = {{1, 100},
                     {static_cast<ContentId>(1000 + i), 10},
                     {100 + one, 40},
                     {100 + other, 40},
                     {static_cast<ContentId>(i % 2 == 0 ? 2 : 2000 + i), 20},
                     {static_cast<ContentId>(3000 + i), 7}};
    recorded.calls.push_back({1.0 * i, tokens_of(prompt), 5, prompt, ""});
  }
  recorded.duration = 400;
  Diagnostics diagnostics;
  const auto fitted = fit_passages(recorded, "trace", diagnostics);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  const YamlNode law = streams().write(*fitted);
  CHECK(law.find("system_prompt")->text == "100");
  CHECK(law.find("corpus")->text == "10");
  CHECK(std::stod(law.find("popularity")->text) < 0.2);  // all alike, but for chance
  CHECK(law.find("preamble")->find("value")->text == "10");
  CHECK(law.find("passage")->find("value")->text == "40");
  CHECK(law.find("passages")->find("value")->text == "2");
  CHECK(law.find("question")->find("value")->text == "27");  // with the history, which stands behind
  const auto workload = fit_workload(recorded, "trace", diagnostics, FitStream::passages);
  REQUIRE(workload);
  const FitScore score = workloads::score(*workload, recorded, recorded, 5);
  CHECK(score.reuse_holds());
  // Of 217 tokens 100 and 80 are known, and of the history's 20 every second: 190 of 217, where the fit has no history.
  CHECK(*score.anywhere.recorded == approx(190.0 / 217).epsilon(0.02));
  CHECK(score.anywhere.fitted.mean == approx(180.0 / 217).epsilon(0.02));
}

TEST_CASE("a trace whose contents stay where they are has no passages") {
  Recording recorded;
  for (int i = 0; i < 9; ++i)
    recorded.calls.push_back({1.0 * i, 20, 5, {{1, 10}, {static_cast<ContentId>(i + 2), 10}}, ""});
  recorded.duration = 9;
  Diagnostics diagnostics;
  CHECK_FALSE(fit_workload(recorded, "blocks.jsonl", diagnostics, FitStream::passages));
  CHECK(diagnostics.text(false).find("blocks.jsonl has no content that moves from prompt to prompt") !=
        std::string::npos);
}

}  // namespace llmscape::workloads
