#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep under mpirun (Open MPI, MPICH, Intel MPI): one process for each slot.
#   mpirun.sh plan.yaml out 16 [--hostfile hosts]
set -euo pipefail
plan=$1 out=$2 ranks=$3
shift 3

# mpirun ends all ranks when one does not end with 0, and a part that has failed points ends with 3: --merge says so.
mpirun -n "$ranks" "$@" bash -c 'llmscape sweep "$0" -o "$1" --shard auto -j 1 --quiet || [[ $? -eq 3 ]]' "$plan" "$out"
llmscape sweep --merge "$out"
