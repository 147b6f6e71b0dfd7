// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/batch.hpp"
#include "sim/live/llama.hpp"

namespace llmscape::live {

inline constexpr std::int64_t kBlockTokens = 16;  // of a KV block

// What one step of the model computes: a row for each token, those of the decodes first, then the chunks'. Sequences
// are in the same order. The step answers a token for each decode, then for each chunk that ends its prompt.
struct StepInput {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> positions;
  std::vector<std::int64_t> contexts;        // of the decodes, the new token included
  std::vector<models::PrefillChunk> chunks;  // behind them
  // The KV blocks of each sequence in its order, those of the new tokens included.
  std::vector<std::span<const std::int32_t>> tables;

  [[nodiscard]] std::int64_t answers() const {
    auto count = static_cast<std::int64_t>(contexts.size());
    for (const models::PrefillChunk& chunk : chunks) count += chunk.ends_prompt ? 1 : 0;
    return count;
  }
  void clear() {
    tokens.clear();
    positions.clear();
    contexts.clear();
    chunks.clear();
    tables.clear();
  }
};

// What an executor sets memory aside for.
struct ExecutorLimits {
  std::int64_t tokens = 0;     // of a step
  std::int64_t sequences = 0;  // of a step
  std::int64_t length = 0;     // of a sequence
  std::int64_t kv_blocks = 0;
};

struct StepTimes {
  double launch_s = 0;  // host: until the last kernel was launched; 0 where the host computes itself
  double device_s = 0;  // the kernels: thread CPU time on a CPU, time between events on a GPU
};

// A Llama-shaped model with random weights and its KV memory on one device.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual std::string_view backend() const = 0;  // "cpu", "cuda"
  [[nodiscard]] virtual std::string_view format() const = 0;   // of all numbers: "fp32", "bf16"
  [[nodiscard]] virtual std::map<std::string, std::string> context() const = 0;
  // What the device has taken since some moment, as it counts itself; nothing where it does not.
  [[nodiscard]] virtual std::optional<double> joules() const { return std::nullopt; }
  // Makes beforehand what a first step of its kind would make: kernels for numbers of rows, graphs.
  virtual void prepare() = 0;
  // Runs the step and waits for it. `next` holds input.answers() tokens: the likeliest next ones.
  virtual StepTimes run(const StepInput& input, std::span<std::int32_t> next) = 0;
};

// Nothing, with the reason, where there is no such device or the program was built without it.
std::unique_ptr<Executor> make_cuda_executor(const LlamaShape& shape, const ExecutorLimits& limits, bool graphs,
                                             std::string& reason);

}  // namespace llmscape::live
