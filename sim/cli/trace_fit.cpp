// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/trace_fit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/files.hpp"
#include "sim/cli/version.hpp"
#include "sim/report/trace_fit_page.hpp"
#include "workloads/fit/score.hpp"

namespace llmscape::cli {

void fit_trace(traces::TraceReader& reader, const TraceFitArguments& arguments, Diagnostics& diagnostics) {
  const workloads::Recording recording = workloads::record(reader, diagnostics);
  if (diagnostics.has_errors()) return;
  const std::string name = std::filesystem::path(arguments.trace).filename().string();
  if (recording.tick > 0)
    diagnostics.warning({}, fmt::format("the times of {} are rounded to {:.3g} s: calls are spread over that time",
                                        name, recording.tick));
  const auto fitted = workloads::fit_workload(recording, name, diagnostics, arguments.stream);
  const auto [first, second] = workloads::halves(recording);
  const auto fitted_first = fitted && arguments.score ? workloads::fit_workload(first, "the first half of " + name,
                                                                                diagnostics, arguments.stream)
                                                      : std::nullopt;
  if (fitted_first && second.calls.empty())
    diagnostics.error({}, fmt::format("the second half of {} is empty: nothing can be scored", name));
  if (diagnostics.has_errors()) return;

  const std::string file = workloads::workload_file(*fitted);
  if (!arguments.output.empty()) write_file_atomically(arguments.output, file);
  const bool tells = !is_stdout(arguments.output) && !is_stdout(arguments.page);
  if (!tells && arguments.page.empty()) return;
  std::string told =
      fmt::format("{} calls in {:.0f} s, {}\n", recording.calls.size(), recording.duration, recording.format);
  const workloads::FitScore whole = workloads::score(*fitted, recording, recording);
  told += fmt::format("\nthe fit beside the whole trace\n{}", text_of(whole));
  std::vector<report::ShownFit> shown = {{"The whole trace", recording, whole}};
  workloads::FitScore half;
  if (fitted_first) {
    half = workloads::score(*fitted_first, first, second);
    told += fmt::format("\na fit of the first half beside the second\n{}", text_of(half));
    shown.push_back({"A fit of the first half beside the second", second, half});
  }
  if (tells) std::fputs(told.c_str(), stdout);
  if (!arguments.page.empty())
    write_file_atomically(arguments.page,
                          report::trace_fit_page(name, shown, fmt::format("llmscape {}", version().number)));
}

}  // namespace llmscape::cli
