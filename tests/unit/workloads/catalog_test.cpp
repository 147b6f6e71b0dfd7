// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"

#include <cmath>
#include <filesystem>
#include <set>

namespace llmscape::workloads {
namespace {

// The entry as a scenario would use it. How long it runs is the scenario's to say: an entry gives no limit.
WorkloadConfig catalogued(const std::string& name, std::int64_t requests) {
  Diagnostics diagnostics;
  YamlNode node = read_yaml_file("workloads/catalog/" + name + ".yaml", diagnostics);
  const YamlNode* schema = node.find("schema");
  REQUIRE(schema);
  CHECK(schema->text == "workload/1");
  CHECK_FALSE(node.find("duration"));
  CHECK_FALSE(node.find("requests"));
  node.erase("schema");
  node.set("requests", YamlNode::scalar(std::to_string(requests)));
  WorkloadConfig config;
  workload_fields().read(config, node, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return config;
}

std::vector<Program> programs_of_entry(const std::string& name, std::int64_t n) {
  Diagnostics diagnostics;
  const auto generator = make_generator(catalogued(name, n), {}, RandomStreams(1), diagnostics);
  REQUIRE(generator);
  std::vector<Program> programs;
  while (auto program = generator->next(diagnostics)) programs.push_back(std::move(*program));
  return programs;
}

struct MeanLengths {
  double prompt = 0, output = 0;
};
MeanLengths mean_lengths(const std::vector<Program>& programs) {
  std::vector<double> prompts, outputs;
  for (const Program& program : programs)
    for (const Stage& stage : program.stages)
      if (stage.kind == Stage::Kind::model_call) {
        prompts.push_back(static_cast<double>(tokens_of(stage.prompt)));
        outputs.push_back(static_cast<double>(stage.output_tokens));
      }
  return {moments_of(prompts).mean, moments_of(outputs).mean};
}

}  // namespace

TEST_CASE("every catalogued workload loads, names its source and emits programs") {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("workloads/catalog"))
    if (file.path().extension() == ".yaml") names.insert(file.path().stem().string());
  CHECK(names.size() >= 6);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(catalogued(name, 1).source.has_value());
    CHECK(programs_of_entry(name, 20).size() == 20);
  }
}

TEST_CASE("catalogued lengths have the means of the traces that they stand for") {
  // Published means and the error that the fit may have: quantiles are linear between tenths.
  struct Case {
    std::string name;
    double prompt, output, error;
  };
  for (const auto& [name, prompt, output, error] :
       {Case{"chat-azure-2023", 1206, 201, 0.06}, Case{"code-completion-azure-2023", 2048, 28, 0.06},
        Case{"chat-1k", 1020, 211, 0.02}, Case{"rag-qa", 2997, 251, 0.03}, Case{"streamed-crawler", 8889, 1, 0.03},
        Case{"streamed-anns", 13006, 1, 0.03}}) {
    CAPTURE(name);
    const MeanLengths means = mean_lengths(programs_of_entry(name, 50'000));
    CHECK(std::abs(means.prompt / prompt - 1) < error);
    CHECK(std::abs(means.output / output - 1) < error);
  }
}

}  // namespace llmscape::workloads
