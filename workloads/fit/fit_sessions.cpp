// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "traces/prefix_reuse.hpp"
#include "workloads/fit/law_nodes.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kAtOnce = 1e-3;  // seconds

using Session = std::vector<const RecordedCall*>;

// By their first calls.
std::vector<Session> sessions_of(const Recording& recording) {
  std::vector<Session> out;
  std::unordered_map<std::string, std::size_t> places;
  for (const RecordedCall& call : recording.calls) {
    if (call.session.empty()) continue;
    const auto [place, is_new] = places.try_emplace(call.session, out.size());
    if (is_new) out.emplace_back();
    out[place->second].push_back(&call);
  }
  return out;
}

// What the sessions are made of.
struct SessionSamples {
  std::vector<double> tasks, calls, outputs, growth, gaps, fan_outs, subtasks;
  double shrunk = 0;

  void add(const Session& session, bool at_once_is_seen) {
    double main_calls = 0, context = 0, before = 0;
    for (std::size_t at = 0; at < session.size();) {
      const RecordedCall& call = *session[at];
      std::size_t end = at + 1;
      while (at_once_is_seen && main_calls > 0 && end < session.size() &&
             session[end]->arrival - call.arrival < kAtOnce)
        ++end;
      if (end - at > 1) {
        add_parallel(session, at, end, context);
        before = -1;  // the next call's growth and time are of the sub-calls
      } else {
        const auto prompt = static_cast<double>(call.prompt_tokens);
        if (main_calls == 0) tasks.push_back(prompt);
        else if (before >= 0) add_step(prompt - context, call.arrival - before);
        context = prompt + static_cast<double>(call.output_tokens);
        outputs.push_back(static_cast<double>(call.output_tokens));
        before = call.arrival;
        ++main_calls;
      }
      at = end;
    }
    calls.push_back(main_calls);
  }

 private:
  void add_step(double grown, double gap) {
    shrunk += grown < 0 ? 1 : 0;
    growth.push_back(std::max(0.0, grown));
    gaps.push_back(gap);
  }
  void add_parallel(const Session& session, std::size_t from, std::size_t to, double context) {
    fan_outs.push_back(static_cast<double>(to - from));
    for (std::size_t i = from; i < to; ++i) {
      outputs.push_back(static_cast<double>(session[i]->output_tokens));
      subtasks.push_back(std::max(0.0, static_cast<double>(session[i]->prompt_tokens) - context));
    }
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
  SessionSamples samples;
  for (const Session& session : sessions) {
    samples.add(session, recording.tick == 0);
    out.starts.push_back(session.front()->arrival);
  }
  if (sessions.empty() || samples.outputs.size() == sessions.size()) {
    diagnostics.error({}, fmt::format("{} has no two calls of one session: its sessions cannot be fitted", name),
                      "leave '--sessions' out");
    return out;
  }
  if (!samples.growth.empty()) out.shrinking = samples.shrunk / static_cast<double>(samples.growth.size());

  const std::int64_t system = common_head(sessions);
  for (double& task : samples.tasks) task = std::max(1.0, task - static_cast<double>(system));
  YamlNode stream;
  stream.set("kind", YamlNode::scalar("agents"));
  stream.set("system_prompt", YamlNode::scalar(fmt::format("{}", system)));
  stream.set("task", quantile_lengths(samples.tasks));
  stream.set("calls", observed_counts(samples.calls));
  stream.set("output", quantile_lengths(samples.outputs));
  stream.set("tool_result", quantile_lengths(samples.growth.empty() ? std::vector<double>{0} : samples.growth));
  stream.set("tool_time", log_normal_durations(samples.gaps));
  if (!samples.fan_outs.empty()) {
    const double steps = static_cast<double>(samples.fan_outs.size() + samples.gaps.size());
    stream.set("fan_out", observed_counts(samples.fan_outs));
    stream.set("fan_out_chance", number_node(static_cast<double>(samples.fan_outs.size()) / steps));
    stream.set("subtask", quantile_lengths(samples.subtasks));
  }
  Diagnostics mistakes;
  out.stream = streams().read(stream, mistakes);
  if (!out.stream) throw std::logic_error("a fitted stream is refused: " + mistakes.text(false));
  return out;
}

}  // namespace llmscape::workloads
