// SPDX-License-Identifier: Apache-2.0
// Conversations that begin with one of several versions of a history.
#include <map>

#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"

using namespace llmscape;
using namespace llmscape::workloads;
using llmscape::testing::approx;

TEST_CASE("each conversation begins with one of the episodes, drawn evenly; one of them is as without the key") {
  const std::string rest =
      "turns: {kind: fixed, value: 1}, message: {kind: fixed, value: 20}, output: {kind: fixed, "
      "value: 40}}";
  std::map<std::uint64_t, int> heads;
  for (const Program& program : programs_of("{kind: chat, system_prompt: 1000, episodes: 4, " + rest, 4000)) {
    CHECK(tokens_of(program.stages[0].prompt) == 1020);
    ++heads[program.stages[0].prompt[0].id];
  }
  CHECK(heads.size() == 4);
  for (const auto& [id, count] : heads) CHECK(count == approx(1000).epsilon(0.1));  // standard error 2.7 %
  const auto one = programs_of("{kind: chat, system_prompt: 1000, episodes: 1, " + rest, 3);
  const auto none = programs_of("{kind: chat, system_prompt: 1000, " + rest, 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(one[i].stages[0].prompt == none[i].stages[0].prompt);
}
