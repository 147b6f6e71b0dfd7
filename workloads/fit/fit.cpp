// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit.hpp"

#include <fmt/format.h>

#include "base/yaml_lines.hpp"
#include "workloads/fit/fit_arrivals.hpp"
#include "workloads/fit/fit_lengths.hpp"

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

}  // namespace

std::optional<WorkloadConfig> fit_workload(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics) {
  if (recording.calls.size() < 2 || recording.duration <= 0) {
    diagnostics.error({}, fmt::format("{} has no two calls at different times: nothing can be fitted", name));
    return std::nullopt;
  }
  std::vector<double> arrivals;
  for (const RecordedCall& call : recording.calls) arrivals.push_back(call.arrival);
  WorkloadConfig out;
  out.source = fmt::format("fitted to {} ({}): {} calls in {:.0f} s", name, recording.format, recording.calls.size(),
                           recording.duration);
  out.arrivals = std::make_shared<const DriftingArrivals>(fit_arrivals(arrivals, recording.duration));
  out.stream = std::make_shared<const JointLengths>(fit_lengths(recording));
  return out;
}

Recording emitted(const WorkloadConfig& workload, double duration, std::uint64_t seed) {
  WorkloadConfig limited = workload;
  limited.duration = Seconds(duration);
  limited.requests.reset();
  Diagnostics diagnostics;
  const auto generator = make_generator(limited, {}, RandomStreams(seed), diagnostics);
  Recording out;
  out.format = "fit";
  out.duration = duration;
  while (auto program = generator ? generator->next(diagnostics) : std::nullopt) {
    RecordedCall& call = out.calls.emplace_back();
    Stage& stage = program->stages.front();
    call.arrival = program->start.si();
    call.prompt_tokens = tokens_of(stage.prompt);
    call.output_tokens = stage.output_tokens;
    call.prompt = std::move(stage.prompt);
  }
  return out;
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
