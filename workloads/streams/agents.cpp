// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace llmscape::workloads {
namespace {

enum class Tool { tool, retrieval, search };

struct Agents : Stream {
  std::int64_t system_prompt = 0;
  std::shared_ptr<const Lengths> task, calls, output, tool_result, fan_out, subtask, join_result;
  std::shared_ptr<const Durations> tool_time, fan_out_time, join_time;
  Tool tool = Tool::tool;
  double fan_out_chance = 1;
  std::optional<std::int64_t> context;
  [[nodiscard]] bool searches() const override { return tool == Tool::search; }
  [[nodiscard]] bool asks_station() const override { return tool == Tool::retrieval; }
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

// A loop of model calls with a step between each two: a tool, or parallel sub-calls that are joined. The context only
// grows: every prompt of the main line begins with the prompt before it and its answer.
class AgentMaker : public ProgramMaker {
 public:
  AgentMaker(const Agents& config, const RandomStreams& streams, std::uint64_t range)
      : tool_(config.tool), fan_out_chance_(config.fan_out_chance),
        context_limit_(config.context.value_or(std::numeric_limits<std::int64_t>::max())), ids_(range),
        system_{ids_.fresh(), config.system_prompt}, task_(*config.task, streams.stream("task")),
        calls_(*config.calls, streams.stream("calls")), output_(*config.output, streams.stream("output")),
        tool_result_(*config.tool_result, streams.stream("tool_result")),
        subtask_(*config.subtask, streams.stream("subtask")),
        tool_time_(*config.tool_time, streams.stream("tool_time")), branch_(streams.stream("branch")) {
    if (config.fan_out) fan_out_.emplace(*config.fan_out, streams.stream("fan_out"));
    if (config.fan_out_time) fan_out_time_.emplace(*config.fan_out_time, streams.stream("fan_out_time"));
    if (config.join_time) join_time_.emplace(*config.join_time, streams.stream("join_time"));
    if (config.join_result) join_result_.emplace(*config.join_result, streams.stream("join_result"));
  }

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    program.session = ids_.fresh();
    Prompt context;
    append(context, system_);
    append(context, {ids_.fresh(), std::max<std::int64_t>(1, task_.next())});
    const std::int64_t calls = std::max<std::int64_t>(1, calls_.next());
    Wait before;
    for (std::int64_t i = 0; i < calls; ++i) {
      const std::size_t stages = program.stages.size();
      if (i > 0) before = take_step(program, context, before);
      const std::int64_t answer = next_answer();
      if (i > 0 && (tokens_of(context) + answer > context_limit_ || !fits_from(program, stages))) {
        program.stages.resize(stages);  // a step that no call follows is not taken
        break;
      }
      before = {{add_call(program, context, answer, before)}};
      append(context, {program.stages.back().output, answer});
    }
    return program;
  }

 private:
  // What the next call waits for, and how long behind it.
  struct Wait {
    std::vector<int> after{};
    Seconds delay{};
  };

  // Whether calls of the program from that stage on, those of a step that fans out, stay within the context.
  [[nodiscard]] bool fits_from(const Program& program, std::size_t first) const {
    return std::all_of(program.stages.begin() + static_cast<std::ptrdiff_t>(first), program.stages.end(),
                       [this](const Stage& stage) {
                         return stage.kind != Stage::Kind::model_call ||
                                tokens_of(stage.prompt) + stage.output_tokens <= context_limit_;
                       });
  }
  std::int64_t next_answer() { return std::max<std::int64_t>(1, output_.next()); }

  int add_call(Program& program, const Prompt& prompt, std::int64_t answer, const Wait& wait) {
    program.stages.push_back(
        {.after = wait.after, .delay = wait.delay, .prompt = prompt, .output_tokens = answer, .output = ids_.fresh()});
    return static_cast<int>(program.stages.size()) - 1;
  }

  // What happens between two calls: adds its stages and, to the context, what they bring.
  Wait take_step(Program& program, Prompt& context, const Wait& before) {
    if (fan_out_ && branch_.chance(fan_out_chance_)) return ask_in_parallel(program, context, before.after);
    Stage use{.kind = tool_ == Tool::tool ? Stage::Kind::tool : Stage::Kind::retrieval, .after = before.after};
    if (tool_ == Tool::search) {
      use.query_tokens = program.stages.back().output_tokens;
    } else {
      use.service = tool_time_.next();
    }
    program.stages.push_back(std::move(use));
    append(context, {ids_.fresh(), tool_result_.next()});
    return {{static_cast<int>(program.stages.size()) - 1}};
  }

  // Each sub-call sees the context and a subtask of its own; all answers join the context.
  Wait ask_in_parallel(Program& program, Prompt& context, const std::vector<int>& after) {
    const std::int64_t branches = std::max<std::int64_t>(1, fan_out_->next());
    const Wait before{after, fan_out_time_ ? fan_out_time_->next() : Seconds()};
    Wait joined;
    Prompt answers;
    for (std::int64_t i = 0; i < branches; ++i) {
      Prompt prompt = context;
      append(prompt, {ids_.fresh(), subtask_.next()});
      joined.after.push_back(add_call(program, prompt, next_answer(), before));
      append(answers, {program.stages.back().output, program.stages.back().output_tokens});
    }
    append(context, answers);
    if (join_result_) append(context, {ids_.fresh(), join_result_->next()});
    if (join_time_) joined.delay = join_time_->next();
    return joined;
  }

  Tool tool_;
  double fan_out_chance_;
  std::int64_t context_limit_;
  ContentIds ids_;
  Segment system_;
  LengthDraws task_, calls_, output_, tool_result_, subtask_;
  DurationDraws tool_time_;
  std::optional<LengthDraws> fan_out_, join_result_;
  std::optional<DurationDraws> fan_out_time_, join_time_;
  RandomStream branch_;
};

std::unique_ptr<ProgramMaker> Agents::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<AgentMaker>(*this, streams, range);
}

}  // namespace

FamilyMember<Stream> agents_stream() {
  static const Fields<Agents> fields = [] {
    Fields<Agents> f("streams/agents", "tasks of an agent: model calls with tools in between and a growing context");
    f.add("system_prompt", &Agents::system_prompt, "tokens at the head of every task, the same for all")
        .between(0, kLongestText);
    // Defaults, unless noted: mini-swe-agent runs 1 to 12 of the LMCache agent trace, at 4 characters a token.
    f.add_family("task", &Agents::task, lengths(), "tokens of the task behind the system prompt; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 1557, cv: 0.2}");
    f.add_family("calls", &Agents::calls, lengths(), "model calls of a task, without sub-calls; at least 1 is taken")
        .otherwise("{kind: empirical, values: [6, 9, 13, 30], weights: [1, 2, 2, 7]}");
    f.add_family("output", &Agents::output, lengths(), "tokens of an answer or a tool call; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 118, cv: 0.54}");
    f.add_family("tool_result", &Agents::tool_result, lengths(), "tokens that a tool adds to the context")
        .otherwise(
            "{kind: quantiles, shares: [0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1], "
            "values: [12, 12, 29, 55, 137, 278, 650, 691, 2654, 2654]}");
    // Assumed: the trace's gaps (mean 1.2 s) join model and tool.
    f.add_family("tool_time", &Agents::tool_time, durations(), "service time of a tool")
        .otherwise("{kind: exponential, mean: 500 ms}");
    f.add_enum(
        "tool", &Agents::tool, {{"tool", Tool::tool}, {"retrieval", Tool::retrieval}, {"search", Tool::search}},
        "tools that run unqueued, or searches in the retrieval station, or searches by hardware.retrieval for what "
        "the model answered, in a time of their own");
    f.add_family("fan_out", &Agents::fan_out, lengths(),
                 "parallel sub-calls of a step that fans out, at least 1; no step if absent");
    f.add("fan_out_chance", &Agents::fan_out_chance, "chance that a step fans out instead of using a tool")
        .between(0, 1);
    f.add_family("subtask", &Agents::subtask, lengths(), "tokens behind the context in a sub-call's prompt")
        .otherwise("{kind: fixed, value: 64}");  // assumed
    f.add_family("fan_out_time", &Agents::fan_out_time, durations(),
                 "time from an answer to the sub-calls of a step that fans out; none if absent");
    f.add_family("join_time", &Agents::join_time, durations(),
                 "time from the last answer of the sub-calls to the next call; none if absent");
    f.add_family("join_result", &Agents::join_result, lengths(),
                 "tokens that the context gains there beside the sub-calls' answers; none if absent");
    f.add("context", &Agents::context,
          "a task ends before prompt and answer of a call exceed this many tokens; its first call is sent whatever its "
          "length")
        .between(1, kLongestText);
    f.check([](const Agents& agents, const YamlNode& node, Diagnostics& diagnostics) {
      for (const char* key : {"fan_out_time", "join_time", "join_result"})
        if (const YamlNode* value = node.find(key); value && !agents.fan_out)
          diagnostics.warning(value->where, fmt::format("'{}' has no effect without 'fan_out'", key));
      const YamlNode* time = node.find("tool_time");
      if (time && agents.tool == Tool::search)
        diagnostics.warning(time->where,
                            "'tool_time' has no effect beside 'tool: search': the hosts search in a time "
                            "of their own");
    });
    return f;
  }();
  return kind<Stream>("agents", fields);
}

}  // namespace llmscape::workloads
