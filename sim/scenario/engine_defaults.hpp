// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "models/execution.hpp"
#include "sim/serving/replica/stream_reports.hpp"

namespace llmscape::scenario {

// Which serving engine stands behind a pool: it chooses what the scenario leaves open, and how a model is executed
// (models/execution.hpp). Key `engine`.
struct EngineChoice {
  std::string name = "vllm";
  std::string version;  // compared component by component: "0.9" < "0.13"; empty: the newest that the table knows
  std::string kernels;  // whose, of the sets that devices know; empty: its own
  models::KvCacheForm kv_cache = models::KvCacheForm::paged;
  models::AttentionForm attention = models::AttentionForm::flash;
  models::LogitRows logits = models::LogitRows::last;
  models::Sampling sampling = models::Sampling::streamed;
  std::int64_t stream_interval = 1;  // tokens of an answer that are sent together
  enum class FirstReport : std::uint8_t { at_once, with_interval };
  FirstReport first_report = FirstReport::at_once;  // of the answer, where tokens are held back

  // Of the host, beside what the device's entry says of it (engine::EngineHost).
  Seconds per_step, per_sequence;

  // The kernel set that devices are asked for.
  [[nodiscard]] const std::string& kernel_set() const { return kernels.empty() ? name : kernels; }
  [[nodiscard]] serving::StreamInterval stream() const {
    return {stream_interval, first_report == FirstReport::at_once};
  }
};
const Fields<EngineChoice>& engine_fields();

// What such an engine takes for a key of `serving` ("batcher": its policy) unless told otherwise; empty: it is not
// known, or says nothing of it.
std::string_view engine_default(std::string_view engine, std::string_view version, std::string_view key);

// Lays the defaults of each engine into `serving` and its pools, where the user has said nothing: a value of the file
// or of an override always wins. Where no engine is named it is the one whose batcher is used, vLLM if that is of none.
// Writes `true` and `false` of cuda_graphs as the mode that they stand for. A name, a version or a batcher that do not
// go together are reported. Before fields are read, after pools have inherited.
void lay_engine_defaults(YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
