// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay.hpp"

#include "base/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmscape::workloads {
namespace {

Program program_of(traces::TraceRecord record, int model, Seconds start) {
  Program program;
  program.start = start;
  if (!record.session.empty()) program.session = std::max<std::uint64_t>(1, hash64(record.session));
  Stage& call = program.stages.emplace_back();
  call.model = model;
  call.prompt = std::move(record.prompt);
  call.output_tokens = record.output_tokens;
  if (record.give_up) call.give_up = *record.give_up;
  return program;
}

}  // namespace

Replay::Replay(std::unique_ptr<traces::TraceReader> reader, const ReplayConfig& config, double speedup, int model,
               Limits limits, Diagnostics& diagnostics)
    : reader_(std::move(reader)), speedup_(speedup), model_(model), limits_(limits) {
  if (config.count) limits_.programs = std::min(limits_.programs, *config.count);
  const auto refuse = [&](std::int64_t skipped) {
    if (!diagnostics.has_errors())
      diagnostics.error(
          {}, fmt::format("replay.first: {} passes over all {} requests of {}", config.first, skipped, config.trace));
  };
  for (std::int64_t skipped = 0; skipped < config.first; ++skipped)
    if (!reader_->next(diagnostics)) {
      refuse(skipped);
      return;
    }
  advance(diagnostics);
  if (config.first > 0 && !first_arrival_) refuse(config.first);
}

void Replay::advance(Diagnostics& diagnostics) {
  pending_.reset();
  if (limits_.programs == 0) return;
  auto record = reader_->next(diagnostics);
  if (!record) return;
  if (!first_arrival_) first_arrival_ = record->arrival;
  const Seconds start = (record->arrival - *first_arrival_) / speedup_;
  if (start <= limits_.duration) pending_ = program_of(std::move(*record), model_, start);
}

std::optional<Program> Replay::next(Diagnostics& diagnostics) {
  if (!pending_) return std::nullopt;
  Program program = std::move(*pending_);
  --limits_.programs;
  advance(diagnostics);
  return program;
}

}  // namespace llmscape::workloads
