// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "workloads/program.hpp"

namespace llmscape::metrics {

// What calls of tasks to one model came to: the sums that prefill token equivalents are made of (arXiv 2604.05404).
struct CallTokens {
  double prompts = 0;   // prompt tokens, those of earlier calls counted again in each call
  double computed = 0;  // of measured requests: prompt tokens that were computed, recomputed ones too
  double decoding = 0;  // sum over calls of answer tokens x tokens of prompt and answer
};

class TaskTokens {
 public:
  // The calls of a completed task.
  void add(const workloads::Program& task);
  // Prompt tokens that one measured request had computed.
  void add_computed(int model, std::int64_t tokens) { of(model).computed += static_cast<double>(tokens); }

  [[nodiscard]] const std::vector<CallTokens>& by_model() const { return by_model_; }
  // Of all tasks: a piece of content counts once in a task, however many of its prompts hold it.
  [[nodiscard]] std::int64_t different() const { return different_; }

 private:
  CallTokens& of(int model);

  std::vector<CallTokens> by_model_;
  std::int64_t different_ = 0;
  std::vector<Segment> contents_;  // of the task that is counted
};

}  // namespace llmscape::metrics
