// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/random.hpp"
#include "workloads/program.hpp"

namespace llmscape::testing {

// Programs of up to six stages: calls with shared prefixes, tools, retrieval, delays, priorities, calls that are given
// up. Calls ask for one of `models` models.
inline std::vector<workloads::Program> random_programs(RandomStream& random, int count, int models = 1) {
  using workloads::Stage;
  std::vector<workloads::Program> programs;
  double at = 0;
  for (int p = 0; p < count; ++p) {
    workloads::Program program;
    at += random.chance(0.3) ? 0 : random.exponential(0.02);
    program.start = Seconds(at);
    program.priority = static_cast<int>(random.integer(0, 2));
    const std::int64_t stages = random.integer(1, 6);
    for (int s = 0; s < stages; ++s) {
      Stage& stage = program.stages.emplace_back();
      if (s > 0 && random.chance(0.8)) stage.after.push_back(static_cast<int>(random.integer(0, s - 1)));
      if (random.chance(0.3)) stage.delay = Seconds(random.exponential(0.05));
      if (random.chance(0.25)) {
        stage.kind = random.chance(0.5) ? Stage::Kind::retrieval : Stage::Kind::tool;
        stage.service = Seconds(random.exponential(0.05));
        continue;
      }
      if (random.chance(0.6)) stage.prompt.push_back({random.below(4) + 1, random.integer(1, 120)});
      stage.prompt.push_back({1000 + static_cast<ContentId>(100 * p + s), random.integer(1, 200)});
      stage.output_tokens = random.integer(1, 60);
      if (random.chance(0.3)) stage.give_up = Seconds(random.exponential(0.2));
      if (models > 1) stage.model = static_cast<int>(random.integer(0, models - 1));
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace llmscape::testing
