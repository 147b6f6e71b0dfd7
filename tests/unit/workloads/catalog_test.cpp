// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"

#include <algorithm>
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

struct EmittedLengths {
  std::vector<double> prompts, outputs;
};
EmittedLengths lengths_of(const std::vector<Program>& programs) {
  EmittedLengths out;
  for (const Program& program : programs)
    for (const Stage& stage : program.stages)
      if (stage.kind == Stage::Kind::model_call) {
        out.prompts.push_back(static_cast<double>(tokens_of(stage.prompt)));
        out.outputs.push_back(static_cast<double>(stage.output_tokens));
      }
  return out;
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
       {Case{"chat-azure-2023", 1206, 201, 0.015}, Case{"code-completion-azure-2023", 2048, 28, 0.06},
        Case{"chat-1k", 1020, 211, 0.02}, Case{"rag-qa", 2997, 251, 0.03}, Case{"streamed-crawler", 8889, 1, 0.03},
        Case{"streamed-anns", 13006, 1, 0.03}}) {
    CAPTURE(name);
    const EmittedLengths lengths = lengths_of(programs_of_entry(name, 50'000));
    CHECK(std::abs(moments_of(lengths.prompts).mean / prompt - 1) < error);
    CHECK(std::abs(moments_of(lengths.outputs).mean / output - 1) < error);
  }
}

TEST_CASE("the catalogued conversations of Azure have the answers of their trace, to the longest") {
  // Of its 13,653 answers one in ten is above 421 tokens, one in a hundred above 598, and none above 1,000. A
  // log-normal law of their mean and median has its p99 at 114 e^(2.326 x 1.064) = 1,355.
  EmittedLengths lengths = lengths_of(programs_of_entry("chat-azure-2023", 50'000));
  std::ranges::sort(lengths.outputs);
  std::ranges::sort(lengths.prompts);
  for (const auto& [share, recorded] : {std::pair(0.1, 50), {0.5, 114}, {0.9, 421}, {0.99, 598}}) {
    CAPTURE(share);
    CHECK(std::abs(lengths.outputs[static_cast<std::size_t>(share * 50'000)] / recorded - 1) < 0.06);
  }
  CHECK(lengths.outputs.back() <= 1000);
  // A prompt in a hundred is above 4,122 tokens, one in a thousand above 5,240; lines to the longest of 14,050 would
  // have it at 13,000.
  CHECK(std::abs(lengths.prompts[49'500] / 4122 - 1) < 0.01);
  CHECK(std::abs(lengths.prompts[49'950] / 5240 - 1) < 0.1);
}

}  // namespace llmscape::workloads
