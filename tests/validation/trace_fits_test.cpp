// SPDX-License-Identifier: Apache-2.0
// Workloads fitted to the first half of each open trace, scored on the second.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "workloads/fit/score.hpp"

using namespace llmscape;
using namespace llmscape::workloads;

namespace {

std::string folder() {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  return data && *data ? std::string(data) + "/traces/" : "";
}

FitScore scored(const std::string& path, FitStream stream = FitStream::calls) {
  Diagnostics diagnostics;
  const auto reader = traces::open_trace(path, "", {}, diagnostics);
  REQUIRE_MESSAGE(reader, diagnostics.text(false));
  const auto [first, second] = halves(record(*reader, diagnostics));
  const auto fitted = fit_workload(first, path, diagnostics, stream);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  return workloads::score(*fitted, first, second);
}

std::string cell(const LengthScore& length) { return fmt::format("{:.3f} / {:.3f}", length.fit, length.recordings); }
std::string cell(const FitFigure& figure) {
  if (!figure.recorded) return "-";
  return fmt::format("{:.3g} in {:.3g} to {:.3g}", *figure.recorded, figure.fitted.low, figure.fitted.high);
}
std::string reuse_cell(const FitFigure& reuse) {
  return reuse.recorded ? fmt::format("{:.1f} % / {:.1f} %", 100 * reuse.fitted.mean, 100 * *reuse.recorded) : "-";
}

// A trace with the figures that its second half has otherwise than its first, so that no fit of the first can have
// them.
struct Case {
  const char *name, *path;
  bool reuse_misses = false;
};

}  // namespace

// The table is that of docs/trace-fit.md.
TEST_CASE("a workload fitted to the first half of an open trace is like its second half") {
  if (folder().empty()) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  std::string table =
      "| trace | prompts, KS | outputs, KS | Fano 1 s | Fano 60 s | prefix reuse |\n|---|---|---|---|---|---|\n";
  for (const auto& [name, path, reuse_misses] :
       {Case{"Azure 2023, code", "azure_llm_2023/code.csv"},
        Case{"Azure 2023, conversation", "azure_llm_2023/conv.csv"},
        Case{"Mooncake, conversation", "mooncake/conversation_first_half.jsonl.gz"},
        // Its conversations all begin at the start and are longer in the second half: reuse rises from 33 % to 70 %.
        Case{"Mooncake, synthetic", "mooncake/synthetic_trace.jsonl.gz", true},
        Case{"RAGPulse, week 1", "ragpulse/week1_days1-4.jsonl.gz"},
        Case{"RAGPulse, week 2", "ragpulse/week2_days1-4.jsonl.gz"},
        Case{"LMCache, agent", "lmcache_agent/miniswe_sessions_1-12.csv"}}) {
    CAPTURE(name);
    const FitScore score = scored(folder() + path);
    table += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, cell(score.prompt), cell(score.output),
                         cell(score.fano_1_s), cell(score.fano_60_s), reuse_cell(score.reuse));
    CHECK(score.prompt.holds());
    CHECK(score.output.holds());
    CHECK((score.fano_1_s.in_band() || !score.fano_1_s.recorded));
    CHECK(score.fano_60_s.in_band());
    CHECK(score.reuse_holds() == !reuse_misses);
  }
  MESSAGE("\n", table);
}

TEST_CASE("fits of sessions and of passages reuse what the other half of the trace does") {
  if (folder().empty()) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const FitScore sessions = scored(folder() + "lmcache_agent/miniswe_sessions_1-12.csv", FitStream::sessions);
  MESSAGE("LMCache, sessions\n", text_of(sessions));
  CHECK(sessions.prompt.holds());
  CHECK(sessions.output.holds());
  CHECK(sessions.reuse_holds());
  for (const char* week : {"ragpulse/week1_days1-4.jsonl.gz", "ragpulse/week2_days1-4.jsonl.gz"}) {
    CAPTURE(week);
    const FitScore passages = scored(folder() + week, FitStream::passages);
    MESSAGE(std::string(week), ", passages\n", text_of(passages));
    CHECK(passages.output.holds());
    CHECK(passages.reuse_holds());
    CHECK(passages.anywhere_holds());
  }
}
