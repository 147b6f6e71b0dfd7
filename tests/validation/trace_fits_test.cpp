// SPDX-License-Identifier: Apache-2.0
// Workloads fitted to the first half of each open trace, scored on the second.
#include <doctest/doctest.h>

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

FitScore scored(const std::string& path) {
  Diagnostics diagnostics;
  const auto reader = traces::open_trace(path, "", {}, diagnostics);
  REQUIRE_MESSAGE(reader, diagnostics.text(false));
  const auto [first, second] = halves(record(*reader, diagnostics));
  const auto fitted = fit_workload(first, path, diagnostics);
  REQUIRE_MESSAGE(fitted, diagnostics.text(false));
  const FitScore score = workloads::score(*fitted, first, second);
  MESSAGE(path, "\n", text_of(score));
  return score;
}

}  // namespace

TEST_CASE("a workload fitted to the first half of an open trace is like its second half") {
  if (folder().empty()) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  for (const char* name :
       {"azure_llm_2023/code.csv", "azure_llm_2023/conv.csv", "mooncake/conversation_first_half.jsonl.gz",
        "mooncake/synthetic_trace.jsonl.gz", "ragpulse/week1_days1-4.jsonl.gz", "ragpulse/week2_days1-4.jsonl.gz",
        "lmcache_agent/miniswe_sessions_1-12.csv"}) {
    const FitScore score = scored(folder() + name);
    CHECK(score.prompt.holds());
    CHECK(score.output.holds());
  }
}
