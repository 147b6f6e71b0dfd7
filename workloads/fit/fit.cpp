// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/yaml_lines.hpp"
#include "workloads/fit/fit_arrivals.hpp"
#include "workloads/fit/fit_lengths.hpp"
#include "workloads/fit/fit_passages.hpp"
#include "workloads/fit/fit_sessions.hpp"

namespace llmscape::workloads {
namespace {

// A long list goes on in further lines, as those of a table do that is read by people.
std::string wrapped(std::string line) {
  constexpr std::size_t kWidth = 112;
  if (!line.ends_with(']')) return line;
  const std::string next = '\n' + std::string(line.find_first_not_of("- ") + 2, ' ');
  std::size_t begin = 0;
  while (line.size() - begin > kWidth) {
    const std::size_t comma = line.rfind(", ", begin + kWidth - 1);
    if (comma == std::string::npos || comma <= begin) break;
    line.replace(comma + 1, 1, next);
    begin = comma + 2;
  }
  return line;
}

// When the stages of a program start: each when those before it have ended, and an answer takes no time.
std::vector<double> starts_of(const Program& program) {
  std::vector<double> starts;
  for (const Stage& stage : program.stages) {
    double at = program.start.si();
    for (const int before : stage.after) {
      const auto place = static_cast<std::size_t>(before);
      at = std::max(at, starts[place] + program.stages[place].service.si());
    }
    starts.push_back(at + stage.delay.si());
  }
  return starts;
}

// The calls of a program, as far as they are in the recording, which begins at `from`.
void add_calls(Program& program, double from, Recording& recording) {
  const std::vector<double> starts = starts_of(program);
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    Stage& stage = program.stages[i];
    const double at = starts[i] - from;
    if (stage.kind != Stage::Kind::model_call || at < 0 || at > recording.duration) continue;
    RecordedCall& call = recording.calls.emplace_back();
    call.arrival = at;
    call.prompt_tokens = tokens_of(stage.prompt);
    call.output_tokens = stage.output_tokens;
    call.prompt = std::move(stage.prompt);
    // Those of a session hand their answers on.
    if (stage.output != 0) call.session = std::to_string(program.session);
  }
}

std::shared_ptr<const Arrivals> poisson(double rate) {
  auto out = std::make_shared<DriftingArrivals>();
  out->rate = PerSecond(rate);
  return out;
}

}  // namespace

std::optional<WorkloadConfig> fit_workload(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics, FitStream stream) {
  if (recording.calls.size() < 2 || recording.duration <= 0) {
    diagnostics.error({}, fmt::format("{} has no two calls at different times: nothing can be fitted", name));
    return std::nullopt;
  }
  WorkloadConfig out;
  out.source = fmt::format("fitted to {} ({}): {} calls in {:.0f} s", name, recording.format, recording.calls.size(),
                           recording.duration);
  std::vector<double> starts;
  double starting = recording.duration;
  if (stream == FitStream::sessions) {
    SessionFit sessions = fit_sessions(recording, name, diagnostics);
    if (!sessions.stream) return std::nullopt;
    if (sessions.shrinking > 0.1)
      diagnostics.warning({},
                          fmt::format("{:.0f} % of the steps in sessions of {} shorten the context, which in the fit "
                                      "only grows",
                                      100 * sessions.shrinking, name));
    if (sessions.left_out_calls > 0)
      diagnostics.warning({},
                          fmt::format("{:.2g} % of the calls and {:.2g} % of the time in sessions of {} are left out: "
                                      "sub-calls that no call of their session follows, or that follow others",
                                      100 * sessions.left_out_calls, 100 * sessions.left_out_time, name));
    if (sessions.cut > 0)
      diagnostics.warning(
          {}, fmt::format(
                  "{} seems to be cut out of longer traffic: {:.0f} % of its sessions have calls within {:.3g} s of "
                  "an end that cuts them. Those that began before are no starts, no first prompts and no numbers "
                  "of calls; those that end after it count as going on",
                  name, 100 * sessions.cut, sessions.cut_within));
    out.stream = std::move(sessions.stream);
    starts = std::move(sessions.starts);
    // The recording goes on until the last session ends: its end says nothing of how sessions start.
    const double first = starts.front();
    for (double& start : starts) start -= first;
    starting = starts.back();
    if (starting > 0 && starting < recording.duration / 2)
      diagnostics.warning(
          {},
          fmt::format("all sessions of {} start within {:.3g} s of {:.3g}: the fit goes on to start {:.3g} a second; "
                      "say with 'requests' how many",
                      name, starting, recording.duration, static_cast<double>(starts.size() - 1) / starting));
  } else {
    if (stream == FitStream::calls) out.stream = std::make_shared<const JointLengths>(fit_lengths(recording));
    else out.stream = fit_passages(recording, name, diagnostics);
    if (!out.stream) return std::nullopt;
    for (const RecordedCall& call : recording.calls) starts.push_back(call.arrival);
  }
  // Sessions that all begin at once say nothing of when others do, but how many there are.
  out.arrivals = starts.size() > 1 && starts.front() < starts.back()
                     ? fit_arrivals(starts, starting)
                     : poisson(static_cast<double>(starts.size()) / recording.duration);
  return out;
}

Recording emitted(const WorkloadConfig& workload, double duration, std::uint64_t seed, const Starting& starting) {
  WorkloadConfig limited = workload;
  limited.duration = Seconds(starting.before + std::min(duration, starting.until));
  limited.requests.reset();
  Diagnostics diagnostics;
  const auto generator = make_generator(limited, {}, RandomStreams(seed), diagnostics);
  Recording out;
  out.format = "fit";
  out.duration = duration;
  while (auto program = generator ? generator->next(diagnostics) : std::nullopt)
    add_calls(*program, starting.before, out);
  std::ranges::stable_sort(out.calls, {}, &RecordedCall::arrival);
  return out;
}

double longest_program(const WorkloadConfig& workload) {
  WorkloadConfig limited = workload;
  limited.duration.reset();
  limited.requests = 300;
  Diagnostics diagnostics;
  const auto generator = make_generator(limited, {}, RandomStreams(1), diagnostics);
  double longest = 0;
  while (const auto program = generator ? generator->next(diagnostics) : std::nullopt)
    longest = std::max(longest, std::ranges::max(starts_of(*program)) - program->start.si());
  return longest;
}

std::string workload_file(const WorkloadConfig& workload) {
  constexpr int kDigits = 4;
  YamlNode file;
  file.set("schema", YamlNode::scalar("workload/1"));
  const YamlNode fields = workload_fields().write(workload, kDigits);
  for (const auto& entry : fields.entries) file.set(entry.key, entry.value);
  std::string out;
  for (const YamlLine& line : yaml_lines(file, true, std::string::npos)) out += wrapped(line.text) + '\n';
  return out;
}

}  // namespace llmscape::workloads
