// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"

#include <filesystem>
#include <fstream>

namespace llmscape::workloads {
namespace {

const std::vector<std::string> kModels = {"large", "small"};

const std::string kBurst = "arrivals: {kind: burst, programs: 40}, ";
const std::string kDraftAndCheck =
    "{kind: workflow, input: {kind: fixed, value: 300}, stages: ["
    "{name: draft, model: small, output: {kind: uniform, min: 20, max: 60}}, "
    "{name: check, after: [draft], instructions: 15, output: {kind: fixed, value: 8}}]}";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("calls that name no model ask for the first") {
  for (const Program& program : all_of("{" + kBurst + "stream: chat}", 1, kModels))
    for (const Stage& stage : program.stages) CHECK(stage.model == 0);
}

TEST_CASE("a workload's model is that of all its calls but those of parts that name their own") {
  const auto programs = all_of("{" + kBurst +
                                   "model: small, mixture: [{slo_class: first, stream: chat}, "
                                   "{slo_class: second, model: large, stream: infilling}]}",
                               1, kModels);
  for (const Program& program : programs)
    for (const Stage& stage : program.stages)
      if (stage.kind == Stage::Kind::model_call) CHECK(stage.model == (program.slo_class == 0 ? 1 : 0));
}

TEST_CASE("the name of a model changes nothing else of a program") {
  auto named = all_of("{" + kBurst + "model: small, stream: agents}", 1, kModels);
  for (Program& program : named)
    for (Stage& stage : program.stages) stage.model = 0;
  CHECK(named == all_of("{" + kBurst + "stream: agents}"));
}

TEST_CASE("a workflow drafts on one model and checks on another, which reads the draft") {
  for (const Program& program : all_of("{" + kBurst + "model: large, stream: " + kDraftAndCheck + "}", 1, kModels)) {
    REQUIRE(program.stages.size() == 2);
    const Stage &draft = program.stages[0], &check = program.stages[1];
    CHECK(draft.model == 1);
    CHECK(check.model == 0);
    CHECK(check.after == std::vector<int>{0});
    REQUIRE(check.prompt.size() == 3);
    CHECK(check.prompt[1] == draft.prompt[0]);
    CHECK(check.prompt[2] == Segment{draft.output, draft.output_tokens});
  }
}

TEST_CASE("a replay's calls ask for the model of the workload") {
  const auto path = std::filesystem::temp_directory_path() / "llmscape-models-test.csv";
  std::ofstream(path) << "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,10,1\n";
  const auto programs = all_of("{model: small, replay: {trace: " + path.string() + "}}", 1, kModels);
  std::filesystem::remove(path);
  REQUIRE(programs.size() == 1);
  CHECK(programs[0].stages[0].model == 1);
}

TEST_CASE("an unknown model is refused, with the name that was meant or how to name models") {
  const std::string misspelt = mistakes_of("{" + kBurst + "model: smal, stream: chat}", kModels);
  CHECK(holds(misspelt, "the workload asks for the unknown model 'smal'"));
  CHECK(holds(misspelt, "did you mean 'small'?"));
  CHECK(holds(mistakes_of("{" + kBurst + "mixture: [{model: larg, stream: chat}]}", kModels), "a part of 'mixture'"));
  CHECK(holds(mistakes_of("{" + kBurst + "stream: " + kDraftAndCheck + "}", {"large"}), "a stage of a workflow"));
  const std::string unnamed = mistakes_of("{" + kBurst + "model: small, stream: chat}");
  CHECK(holds(unnamed, "the scenario's one model has no name"));
  CHECK(holds(unnamed, "models: {small: ...}"));
}

}  // namespace llmscape::workloads
