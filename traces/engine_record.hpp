// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "models/batch.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::traces {

// One step that a real engine took.
struct EngineStep {
  std::vector<models::PrefillChunk> chunks;
  std::vector<std::int64_t> decodes;  // context of each decoding sequence, the new token included
  double start_s = 0;                 // since the engine's start, on the engine's clock
  double schedule_s = 0;              // host: choosing what to compute
  double issue_s = 0;                 // host: preparing inputs, launching kernels
  double device_s = 0;                // the model's kernels: thread CPU time on a CPU, event time on a GPU
  double wall_s = 0;                  // start of this step to its end
};

// One request as the engine saw it; times as EngineStep::start_s.
struct EngineRequest {
  std::string id;
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  double arrival_s = 0, scheduled_s = 0, first_token_s = 0, last_token_s = 0;
};

// A run of `llmscape engine`: {"schema": "llmscape.engine/1", "context": {...}, "model": {...}, "settings": {...},
// "energy_j": ..., "steps": [...], "requests": [...]}.
struct EngineRecord {
  std::map<std::string, std::string> context;  // tool version, machine, date, clock: what a reader may want to know
  std::string model;                           // the native model/1 description as YAML text
  std::string backend;                         // "cpu" or "cuda"
  std::string clock;                           // of start_s and the requests: "thread cpu time" or "wall"
  std::int64_t max_sequences = 0, max_batched_tokens = 0, block_tokens = 0, kv_blocks = 0;
  bool graphs = false;
  // Of the device, as it counts them itself, from the engine's start to the end of the last step; nothing where it does
  // not.
  std::optional<double> energy_j;
  std::vector<EngineStep> steps;
  std::vector<EngineRequest> requests;
};

// Plain or compressed. Nothing after reporting mistakes with their place.
std::optional<EngineRecord> read_engine_record(const std::string& path, Diagnostics& diagnostics);
void write_engine_record(const EngineRecord& record, const std::string& path);

}  // namespace llmscape::traces
