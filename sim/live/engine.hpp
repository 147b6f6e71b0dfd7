// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/live/clock.hpp"
#include "sim/live/executor.hpp"
#include "sim/live/paged_memory.hpp"
#include "sim/serving/batcher.hpp"
#include "traces/engine_record.hpp"

namespace llmscape::live {

struct LiveRequest {
  double arrival_s = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0;
};

struct EngineSettings {
  std::int64_t kv_blocks = 0;
  Clock::Kind clock = Clock::Kind::thread_cpu_time;
  // From here on, on the engine's clock, no request is taken up; those under way are finished.
  double closes_s = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;  // of the prompts' tokens
};

// A continuous-batching engine: the batcher and the books of the simulator's replicas around a model that is really
// computed. Each step is planned, run and answered before the next (no asynchronous scheduling); content is random, so
// there is no prefix cache. Requests must fit: prompt and answer into the model's positions and the pool.
class Engine {
 public:
  Engine(const LlamaShape& shape, const serving::BatcherPolicy& policy, Executor& executor,
         const EngineSettings& settings);

  // Serves the requests, in order of arrival, once. `progress` is told after each step which share is done.
  void run(const std::vector<LiveRequest>& requests, const std::function<void(double share)>& progress);

  // What run() saw: its steps, and the requests that were finished.
  [[nodiscard]] traces::EngineRecord record() const;
  // What the model answered to a request.
  [[nodiscard]] std::span<const std::int32_t> answer(std::size_t request) const;

 private:
  struct Sequence : serving::Request {
    std::vector<std::int32_t> tokens;  // prompt and answer so far
    std::vector<std::int32_t> blocks;
    bool decodes = false;      // its prompt is complete
    std::int32_t givings = 0;  // preemptions that the KV memory knows of
  };

  void prepare(const std::vector<LiveRequest>& requests);
  void serve(const std::function<void(double share)>& progress);
  void read_arrivals();
  void close();
  void plan();
  void gather();
  void end_step(double end);
  [[nodiscard]] double share_done() const;
  [[nodiscard]] bool idle() const { return active_.empty() && state_.waiting.empty(); }

  LlamaShape shape_;
  EngineSettings settings_;
  std::int64_t max_sequences_, max_tokens_;
  std::unique_ptr<serving::Batcher> batcher_;
  Executor& executor_;
  serving::EngineState state_;
  PagedMemory memory_;
  Clock clock_;

  std::deque<Sequence> sequences_;          // in order of arrival
  std::size_t arrived_ = 0, finished_ = 0;  // of them
  std::vector<Sequence*> active_;           // admitted, in order of admission
  std::vector<Sequence*> decoding_;         // in this step
  serving::StepPlan plan_;
  StepInput input_;
  std::vector<std::int32_t> next_;
  std::vector<traces::EngineStep> steps_;
  std::optional<double> energy_j_;  // of the run
};

}  // namespace llmscape::live
