// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::workloads {
namespace {

struct WorkflowStage {
  std::string name;
  Stage::Kind kind = Stage::Kind::model_call;
  std::vector<std::string> after;
  std::optional<std::string> model;
  std::int64_t instructions = 0;
  bool input = true;
  std::shared_ptr<const Lengths> output;
  std::shared_ptr<const Durations> service;
  // A retrieval by the scenario's hosts.
  [[nodiscard]] bool searches() const { return kind == Stage::Kind::retrieval && !service; }
  [[nodiscard]] bool asks_station() const { return kind == Stage::Kind::retrieval && service; }
};

struct Workflow : Stream {
  std::shared_ptr<const Lengths> input;
  std::vector<WorkflowStage> stages;
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
  [[nodiscard]] std::vector<std::optional<std::string>> stage_models() const override;
  [[nodiscard]] bool searches() const override { return std::ranges::any_of(stages, &WorkflowStage::searches); }
  [[nodiscard]] bool asks_station() const override { return std::ranges::any_of(stages, &WorkflowStage::asks_station); }
};

// The same graph for every program, with lengths and times of its own.
class WorkflowMaker : public ProgramMaker {
 public:
  WorkflowMaker(const Workflow& config, const RandomStreams& streams, std::uint64_t range)
      : ids_(range), input_(*config.input, streams.stream("input")) {
    for (std::size_t i = 0; i < config.stages.size(); ++i) {
      const WorkflowStage& stage = config.stages[i];
      Node node{.kind = stage.kind, .instructions = {ids_.fresh(), stage.instructions}, .reads_input = stage.input};
      for (const std::string& before : stage.after) node.after.push_back(index_of(before, config.stages));
      if (stage.output) node.output.emplace(*stage.output, streams.stream("output", i));
      if (stage.service) node.service.emplace(*stage.service, streams.stream("service", i));
      nodes_.push_back(std::move(node));
    }
  }

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    program.session = ids_.fresh();
    const Segment input{ids_.fresh(), input_.next()};
    std::vector<Segment> outputs;  // of each stage
    for (Node& node : nodes_) {
      Stage stage{.kind = node.kind, .after = node.after};
      outputs.push_back({ids_.fresh(), node.output ? node.output->next() : 0});
      if (node.kind == Stage::Kind::model_call) {
        append(stage.prompt, node.instructions);
        if (node.reads_input) append(stage.prompt, input);
        for (const int before : node.after) append(stage.prompt, outputs[static_cast<std::size_t>(before)]);
        if (stage.prompt.empty()) append(stage.prompt, {ids_.fresh(), 1});
        outputs.back().tokens = std::max<std::int64_t>(1, outputs.back().tokens);
        stage.output_tokens = outputs.back().tokens;
        stage.output = outputs.back().id;
      } else if (node.service) {
        stage.service = node.service->next();
      } else {
        stage.query_tokens = node.reads_input ? input.tokens : 0;
        for (const int before : node.after) stage.query_tokens += outputs[static_cast<std::size_t>(before)].tokens;
        stage.query_tokens = std::max<std::int64_t>(1, stage.query_tokens);
      }
      program.stages.push_back(std::move(stage));
    }
    return program;
  }

 private:
  struct Node {
    Stage::Kind kind;
    std::vector<int> after{};
    Segment instructions;
    bool reads_input;
    std::optional<LengthDraws> output{};
    std::optional<DurationDraws> service{};
  };

  static int index_of(const std::string& name, const std::vector<WorkflowStage>& stages) {
    return static_cast<int>(std::ranges::find(stages, name, &WorkflowStage::name) - stages.begin());
  }

  ContentIds ids_;
  LengthDraws input_;
  std::vector<Node> nodes_;
};

std::unique_ptr<ProgramMaker> Workflow::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<WorkflowMaker>(*this, streams, range);
}

std::vector<std::optional<std::string>> Workflow::stage_models() const {
  std::vector<std::optional<std::string>> models;
  for (const WorkflowStage& stage : stages) models.push_back(stage.model);
  return models;
}

void check_stage(const WorkflowStage& stage, const YamlNode& node, Diagnostics& diagnostics) {
  const bool is_call = stage.kind == Stage::Kind::model_call;
  if (is_call && !stage.output) diagnostics.error(node.where, "a model call needs an 'output'");
  if (is_call && stage.service) diagnostics.error(node.where, "a model call has no 'service' time of its own");
  if (!is_call && stage.model) diagnostics.error(node.where, "only a model call asks for a 'model'");
  if (stage.kind == Stage::Kind::tool && !stage.service) diagnostics.error(node.where, "a tool needs a 'service' time");
}

void check_names(const Workflow& workflow, const YamlNode& node, Diagnostics& diagnostics) {
  std::vector<std::string> earlier;
  for (const WorkflowStage& stage : workflow.stages) {
    for (const std::string& before : stage.after)
      if (std::ranges::find(earlier, before) == earlier.end())
        diagnostics.error(
            node.where,
            fmt::format("stage {} is after {}, which is no earlier stage", in_quotes(stage.name), in_quotes(before)),
            did_you_mean(before, earlier));
    if (std::ranges::find(earlier, stage.name) != earlier.end())
      diagnostics.error(node.where, fmt::format("two stages have the name {}", in_quotes(stage.name)));
    earlier.push_back(stage.name);
  }
  if (earlier.empty()) diagnostics.error(node.where, "a workflow needs at least one stage");
}

const Fields<WorkflowStage>& stage_fields() {
  static const Fields<WorkflowStage> fields = [] {
    Fields<WorkflowStage> f("streams/workflow/stage", "one node of a workflow");
    f.add("name", &WorkflowStage::name, "what later stages call it").required();
    f.add_enum(
        "kind", &WorkflowStage::kind,
        {{"model_call", Stage::Kind::model_call}, {"tool", Stage::Kind::tool}, {"retrieval", Stage::Kind::retrieval}},
        "a call to the model, a tool outside the system, or a search in the retrieval station");
    f.add("after", &WorkflowStage::after,
          "earlier stages that it waits for; a model call or a query holds what they bring");
    f.add("model", &WorkflowStage::model, "name of the model that it asks for; that of the workload if absent");
    f.add("instructions", &WorkflowStage::instructions, "tokens at the head of its prompt, the same in every program")
        .between(0, kLongestText);
    f.add("input", &WorkflowStage::input, "whether its prompt, or its query, holds the program's input");
    f.add_family(
        "output", &WorkflowStage::output, lengths(),
        "tokens of the answer, of which at least 1 is taken, or of what a tool or a search brings; none if absent");
    f.add_family("service", &WorkflowStage::service, durations(),
                 "service time of a tool or a retrieval; a retrieval without one is searched by hardware.retrieval");
    f.check(&check_stage);
    return f;
  }();
  return fields;
}

}  // namespace

FamilyMember<Stream> workflow_stream() {
  static const Fields<Workflow> fields = [] {
    Fields<Workflow> f("streams/workflow", "a fixed graph of calls, tools and searches, written stage by stage");
    f.add_family("input", &Workflow::input, lengths(), "tokens of the text that a program is about").required();
    f.add_group("stages", &Workflow::stages, stage_fields(), "the graph; a stage comes behind those it waits for")
        .required();
    f.check(&check_names);
    return f;
  }();
  return kind<Stream>("workflow", fields);
}

}  // namespace llmscape::workloads
