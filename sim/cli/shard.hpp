// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "sim/explore/sweep.hpp"

namespace llmscape::cli {

// "3/16": the third of sixteen. "auto": what the launcher of this process says, namely a Slurm job array
// (SLURM_ARRAY_TASK_ID), a Slurm step (SLURM_PROCID), Open MPI (OMPI_COMM_WORLD_RANK) or another MPI (PMI_RANK); with
// an array, every rank of every task. The script of a plain Slurm job runs once and takes everything. Empty:
// everything. Nothing after reporting.
std::optional<explore::Shard> read_shard(const std::string& text, Diagnostics& diagnostics);

}  // namespace llmscape::cli
