#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep under GNU parallel: on the cores of this machine, or on others that see the same folder.
#   parallel.sh plan.yaml out 16 [--sshloginfile hosts --workdir .]
set -euo pipefail
plan=$1 out=$2 parts=$3
shift 3

# parallel ends with the number of parts that did not end with 0: some that have failed points; --merge says so.
seq "$parts" | parallel --will-cite "$@" llmscape sweep "$plan" -o "$out" --shard "{}/$parts" -j 1 --quiet || true
llmscape sweep --merge "$out"
