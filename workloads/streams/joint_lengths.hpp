// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/generator.hpp"

namespace llmscape::workloads {

// What is known of the calls whose prompts are of one part of all, by their length.
struct LengthPart {
  std::vector<double> output;  // tokens of the answer at each share
  // Share of the prompt that stands at the head of an earlier prompt, at each share, from 0 to 1; empty: nothing.
  std::vector<double> reused;
};

// Which earlier prompt a call continues.
struct Continuation {
  std::vector<double> age;       // seconds of the arrivals' time since that prompt, at each share
  std::int64_t granularity = 1;  // reused heads are whole multiples of this many tokens
};

// Single calls whose lengths are drawn together: the prompt by its quantiles, the answer by those of the prompts of
// like length. Where heads of prompts are reused, a call continues one that came before.
struct JointLengths : Stream {
  std::vector<double> shares;     // rising from 0 to 1; of each table below
  std::vector<double> prompt;     // tokens of the prompt at each share
  std::vector<LengthPart> parts;  // equal parts of all prompts, from the shortest to the longest
  std::optional<Continuation> continues;
  [[nodiscard]] std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
  [[nodiscard]] std::shared_ptr<const Stream> faster(double factor) const override;
};

}  // namespace llmscape::workloads
