// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shard.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace llmscape::cli {
namespace {

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? whole(text) : std::nullopt;
}

std::optional<explore::Shard> rank(const char* rank_name, const char* size_name) {
  const auto index = from_environment(rank_name), count = from_environment(size_name);
  return index && count && *index < *count ? std::optional(explore::Shard{*index, *count}) : std::nullopt;
}

// The tasks of an array are numbered from SLURM_ARRAY_TASK_MIN on by SLURM_ARRAY_TASK_STEP.
std::optional<explore::Shard> array_task() {
  const auto id = from_environment("SLURM_ARRAY_TASK_ID"), count = from_environment("SLURM_ARRAY_TASK_COUNT");
  const std::uint64_t first = from_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::uint64_t step = from_environment("SLURM_ARRAY_TASK_STEP").value_or(1);
  if (!id || !count || step == 0 || *id < first || (*id - first) / step >= *count) return std::nullopt;
  return explore::Shard{(*id - first) / step, *count};
}

// A task of a step. The script of a job is none, and runs once, though it has SLURM_PROCID and SLURM_NTASKS as well;
// submitted from inside a step it even inherits SLURM_STEP_ID.
std::optional<explore::Shard> slurm_task() {
  if (const auto task = rank("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")) return task;
  return std::getenv("SLURM_JOB_ID") ? std::optional(explore::Shard{}) : std::nullopt;
}

// Of an array like 1,3,7 a task knows the least and the most number and how many there are, not its own place.
bool in_array_with_gaps() {
  const auto count = from_environment("SLURM_ARRAY_TASK_COUNT"), first = from_environment("SLURM_ARRAY_TASK_MIN"),
             last = from_environment("SLURM_ARRAY_TASK_MAX");
  const std::uint64_t step = from_environment("SLURM_ARRAY_TASK_STEP").value_or(1);
  return from_environment("SLURM_ARRAY_TASK_ID") && count && first && last && step > 0 && *first <= *last &&
         (*last - *first) / step + 1 != *count;
}

std::optional<explore::Shard> from_launcher() {
  const auto shard = array_task();
  // MPI before Slurm, because mpirun in a job starts its daemons, whose environment it passes on, by srun.
  auto part = rank("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!part) part = rank("PMI_RANK", "PMI_SIZE");
  if (!part) part = slurm_task();
  if (shard && part) return explore::Shard{shard->index * part->count + part->index, shard->count * part->count};
  return shard ? shard : part;
}

}  // namespace

std::optional<explore::Shard> read_shard(const std::string& text, Diagnostics& diagnostics) {
  if (text.empty()) return explore::Shard{};
  const SourceRange where{std::make_shared<const SourceText>(SourceText{"--shard " + text, text}), 1, 1,
                          static_cast<int>(text.size())};
  if (text == "auto") {
    if (in_array_with_gaps()) {
      diagnostics.error(where,
                        "the numbers of this Slurm array have gaps, so that a task's place among them is not known",
                        "number the tasks without gaps (--array=1-16), or use --shard I/N");
      return std::nullopt;
    }
    auto shard = from_launcher();
    if (!shard)
      diagnostics.error(where, "neither Slurm nor MPI started this process, so there is no rank to take a part by",
                        "use --shard I/N");
    return shard;
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = whole(std::string_view(text).substr(0, slash));
  const auto count = slash < text.size() ? whole(std::string_view(text).substr(slash + 1)) : std::nullopt;
  if (!index || !count || *index < 1 || *index > *count) {
    diagnostics.error(where, "a part is written I/N, with I from 1 to N", "for example --shard 3/16");
    return std::nullopt;
  }
  return explore::Shard{*index - 1, *count};
}

}  // namespace llmscape::cli
