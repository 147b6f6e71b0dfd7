// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/infilling_prompt.hpp"
#include "tests/unit/workloads/support.hpp"

namespace llmscape::workloads {
namespace {

// Prompt lengths and the tokens that each shares with the one before, over one sequence of edits: a file of 100 + 50
// tokens, 10 typed, 5 typed, the cursor 20 back, 7 typed. The three special tokens count 1 each.
struct Rounds {
  std::vector<std::int64_t> tokens, shared;
};
Rounds rounds_of(PromptForm form) {
  EditedFile file({1, 100}, {2, 50});
  InfillingPrompts prompts(form, {11, 12, 13});
  std::vector<Prompt> written{prompts.next(file)};
  file.insert({3, 10});
  written.push_back(prompts.next(file));
  file.insert({4, 5});
  written.push_back(prompts.next(file));
  file.move(-20);
  written.push_back(prompts.next(file));
  file.insert({5, 7});
  written.push_back(prompts.next(file));

  Rounds rounds;
  for (std::size_t i = 0; i < written.size(); ++i) {
    rounds.tokens.push_back(tokens_of(written[i]));
    if (i > 0) rounds.shared.push_back(common_prefix(written[i - 1], written[i]));
  }
  return rounds;
}

}  // namespace

TEST_CASE("every form holds the same text") {
  for (const PromptForm form : {PromptForm::psm, PromptForm::spm, PromptForm::efim})
    CHECK(rounds_of(form).tokens == std::vector<std::int64_t>{153, 163, 168, 168, 175});
}

TEST_CASE("a PSM prompt shares the prefix up to the first edit") {
  // PRE and 100; PRE and 110; PRE and the 95 before the cursor; the same.
  CHECK(rounds_of(PromptForm::psm).shared == std::vector<std::int64_t>{101, 111, 96, 96});
}

TEST_CASE("after an edit at the suffix's head only the prefix is shared, in the EFIM form too, and nothing in SPM") {
  for (const auto& [form, shared] :
       {std::pair(PromptForm::psm, 102), std::pair(PromptForm::efim, 102), std::pair(PromptForm::spm, 1)}) {
    EditedFile file({1, 100}, {2, 50});
    InfillingPrompts prompts(form, {11, 12, 13});
    const Prompt before = prompts.next(file);
    file.insert_behind({3, 10});
    const Prompt after = prompts.next(file);
    CHECK(tokens_of(after) == 163);
    CHECK(common_prefix(before, after) == shared);  // PRE, 100 and SUF; SUF alone
    CHECK(file.suffix().front() == Segment{3, 10});
  }
}

TEST_CASE("an SPM prompt shares suffix and prefix while typing, and only SUF when the suffix's head changes") {
  // SUF 50 PRE 100; SUF 50 PRE 110; SUF; SUF 70 PRE 95.
  CHECK(rounds_of(PromptForm::spm).shared == std::vector<std::int64_t>{152, 162, 1, 167});
}

TEST_CASE("an EFIM prompt shares all of the last one while typing, and falls back to PSM when the suffix changes") {
  // The whole prompt of 153; of 163; PRE and 95; the whole prompt of 168.
  CHECK(rounds_of(PromptForm::efim).shared == std::vector<std::int64_t>{153, 163, 96, 168});
}

TEST_CASE("an EFIM session that begins at the end of a file registers its prefix") {
  EditedFile file({1, 100}, {2, 0});
  InfillingPrompts prompts(PromptForm::efim, {11, 12, 13});
  CHECK(prompts.next(file) == Prompt{{11, 1}, {1, 100}, {12, 1}, {13, 1}});
  file.insert({3, 4});
  CHECK(prompts.next(file) == Prompt{{11, 1}, {1, 100}, {12, 1}, {13, 1}, {3, 4}});
}

TEST_CASE("a cursor that goes and comes back leaves the file as it was") {
  EditedFile file({1, 100}, {2, 50});
  file.insert({3, 10});
  file.move(-30);
  CHECK(file.prefix() == Prompt{{1, 80}});
  CHECK(file.suffix() == Prompt{{1, 20, 80}, {3, 10}, {2, 50}});
  file.move(30);
  CHECK(file.prefix() == Prompt{{1, 100}, {3, 10}});
  CHECK(file.suffix() == Prompt{{2, 50}});
}

TEST_CASE("a cursor stops at the ends of the file") {
  EditedFile file({1, 100}, {2, 50});
  file.move(1000);
  CHECK(tokens_of(file.prefix()) == 150);
  file.move(-1000);
  CHECK(tokens_of(file.prefix()) == 0);
  CHECK(tokens_of(file.suffix()) == 150);
}

}  // namespace llmscape::workloads
