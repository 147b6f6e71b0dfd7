// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/program.hpp"

namespace llmscape::metrics {

// What calls of tasks to one model came to: the sums that prefill token equivalents are made of (arXiv 2604.05404).
struct CallTokens {
  double prompts = 0;   // prompt tokens, those of earlier calls counted again in each call
  double computed = 0;  // prompt tokens that were computed, those computed again too
  double decoding = 0;  // sum over calls of answer tokens x tokens of prompt and answer
};

class TaskTokens {
 public:
  // The calls of a completed task, and what each of its stages computed of its prompt.
  void add(const workloads::Program& task, std::span<const std::int64_t> computed);

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
