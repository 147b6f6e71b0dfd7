// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "traces/prefix_reuse.hpp"
#include "workloads/fit/law_nodes.hpp"
#include "workloads/fit/sessions.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kAtOnce = 1e-3;  // seconds

// Whether a session's call came together with the one before. Within a tick of a rounded clock it may have waited for
// it, if its prompt is long enough to hold that one and its answer.
bool at_once(const RecordedCall& before, const RecordedCall& call, double tick) {
  if (tick == 0) return call.arrival - before.arrival < kAtOnce;
  return call.arrival - call.spread - (before.arrival - before.spread) < tick / 2 &&
         call.prompt_tokens < before.prompt_tokens + before.output_tokens;
}

// What the sessions are made of.
struct SessionSamples {
  std::vector<double> tasks, outputs, growth, gaps;
  std::vector<SessionLine> lines;
  std::vector<double> fan_outs, subtasks, fan_out_times, join_times, join_growth;  // of steps that a call follows
  double shrunk = 0;
  double time = 0, left_out_time = 0, all_calls = 0, left_out_calls = 0;

  void add(const Session& session, double tick, bool is_begun_before) {
    const RecordedCall* line = nullptr;  // the last call of the main line
    Session branches;                    // the sub-calls since
    double last = 0;                     // when the last call or the last sub-calls came
    SessionLine main;
    for (std::size_t at = 0; at < session.size();) {
      const RecordedCall& call = *session[at];
      const std::size_t end = line ? end_of_group(session, at, tick) : at + 1;
      if (end - at > 1 && branches.empty()) {
        branches.assign(session.begin() + static_cast<std::ptrdiff_t>(at),
                        session.begin() + static_cast<std::ptrdiff_t>(end));
      } else if (end - at > 1) {  // of steps in a row the first is kept
        left_out_calls += static_cast<double>(end - at);
        left_out_time += call.arrival - last;
      } else {
        if (!line) add_first(call, is_begun_before);
        else if (branches.empty()) add_step(*line, call);
        else add_fan_out(*line, branches, call, last);
        outputs.push_back(static_cast<double>(call.output_tokens));
        line = &call;
        branches.clear();
        main.calls.push_back(call.arrival);
      }
      last = call.arrival;
      at = end;
    }
    if (!branches.empty()) left_out_time += branches.front()->arrival - line->arrival;
    left_out_calls += static_cast<double>(branches.size());
    time += session.back()->arrival - session.front()->arrival;
    all_calls += static_cast<double>(session.size());
    main.last = session.back()->arrival;
    if (!is_begun_before) lines.push_back(std::move(main));
  }
  // How many a session has; those that go on behind `until` count as doing so.
  [[nodiscard]] std::vector<double> calls(double until) const { return calls_of_whole(lines, until); }
  // Of the steps, whose prompt is shorter than what came before.
  [[nodiscard]] double shrinking() const {
    return shrunk / std::max(1.0, static_cast<double>(growth.size() + join_growth.size()));
  }

 private:
  static std::size_t end_of_group(const Session& session, std::size_t at, double tick) {
    std::size_t end = at + 1;
    while (end < session.size() && at_once(tick == 0 ? *session[at] : *session[end - 1], *session[end], tick)) ++end;
    return end;
  }
  // What the context gained, where it was this long with the answers.
  double gained(double context, const RecordedCall& call) {
    const double grown = static_cast<double>(call.prompt_tokens) - context;
    shrunk += grown < 0 ? 1 : 0;
    return std::max(0.0, grown);
  }
  static double context_behind(const RecordedCall& call) {
    return static_cast<double>(call.prompt_tokens + call.output_tokens);
  }
  void add_first(const RecordedCall& call, bool is_begun_before) {
    if (!is_begun_before) tasks.push_back(static_cast<double>(call.prompt_tokens));
  }
  void add_step(const RecordedCall& before, const RecordedCall& call) {
    growth.push_back(gained(context_behind(before), call));
    gaps.push_back(call.arrival - before.arrival);
  }
  void add_fan_out(const RecordedCall& before, const Session& branches, const RecordedCall& call, double last) {
    const double context = context_behind(before);
    double answers = 0;
    for (const RecordedCall* branch : branches) {
      outputs.push_back(static_cast<double>(branch->output_tokens));
      subtasks.push_back(std::max(0.0, static_cast<double>(branch->prompt_tokens) - context));
      answers += static_cast<double>(branch->output_tokens);
    }
    fan_outs.push_back(static_cast<double>(branches.size()));
    fan_out_times.push_back(branches.front()->arrival - before.arrival);
    join_times.push_back(call.arrival - last);
    join_growth.push_back(gained(context + answers, call));
  }
};

// Tokens at the head of half of the sessions or more that an earlier session began with as well.
std::int64_t common_head(const std::vector<Session>& sessions) {
  traces::PrefixTree tree;
  std::vector<std::int64_t> heads;
  for (const Session& session : sessions) heads.push_back(tree.add(session.front()->prompt));
  heads.erase(heads.begin());  // nobody was before the first
  if (heads.empty()) return 0;
  std::ranges::sort(heads);
  return heads[heads.size() / 2];
}

}  // namespace

SessionFit fit_sessions(const Recording& recording, const std::string& name, Diagnostics& diagnostics) {
  const std::vector<Session> sessions = sessions_of(recording);
  SessionFit out;
  const SessionEnds ends = ends_of(sessions, recording.duration);
  SessionSamples samples;
  double cut = 0;
  for (const Session& session : sessions) {
    const bool is_begun_before = ends.begun_before(session);
    samples.add(session, recording.tick, is_begun_before);
    if (!is_begun_before) out.starts.push_back(session.front()->arrival);
    cut += is_begun_before || ends.goes_on(session, recording.duration) ? 1 : 0;
  }
  if (sessions.empty() || samples.all_calls == static_cast<double>(sessions.size())) {
    diagnostics.error({}, fmt::format("{} has no two calls of one session: its sessions cannot be fitted", name),
                      "leave '--sessions' out");
    return out;
  }
  out.shrinking = samples.shrinking();
  out.cut = cut / static_cast<double>(sessions.size());
  out.cut_within = ends.within;
  out.left_out_calls = samples.left_out_calls / samples.all_calls;
  out.left_out_time = samples.time > 0 ? samples.left_out_time / samples.time : 0;

  const std::int64_t system = common_head(sessions);
  for (double& task : samples.tasks) task = std::max(1.0, task - static_cast<double>(system));
  YamlNode stream;
  stream.set("kind", YamlNode::scalar("agents"));
  stream.set("system_prompt", YamlNode::scalar(fmt::format("{}", system)));
  stream.set("task", quantile_lengths(samples.tasks));
  stream.set("calls", observed_counts(samples.calls(recording.duration - (ends.ends_cut ? ends.within : 0))));
  stream.set("output", quantile_lengths(samples.outputs));
  stream.set("tool_result", quantile_lengths(samples.growth.empty() ? std::vector<double>{0} : samples.growth));
  stream.set("tool_time", log_normal_durations(samples.gaps));
  if (!samples.fan_outs.empty()) {
    const double steps = static_cast<double>(samples.fan_outs.size() + samples.gaps.size());
    stream.set("fan_out", observed_counts(samples.fan_outs));
    stream.set("fan_out_chance", number_node(static_cast<double>(samples.fan_outs.size()) / steps));
    stream.set("subtask", quantile_lengths(samples.subtasks));
    stream.set("fan_out_time", log_normal_durations(samples.fan_out_times));
    stream.set("join_time", log_normal_durations(samples.join_times));
    stream.set("join_result", quantile_lengths(samples.join_growth));
  }
  Diagnostics mistakes;
  out.stream = streams().read(stream, mistakes);
  if (!out.stream) throw std::logic_error("a fitted stream is refused: " + mistakes.text(false));
  return out;
}

}  // namespace llmscape::workloads
