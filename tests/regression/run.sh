#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the plan beside this script and holds it against baseline.json: run.sh PROGRAM [OPTION OF check...]. A change that is
# meant to move numbers ends with run.sh PROGRAM --update. LLMSCAPE_JUNIT=FILE asks for JUnit XML.
set -euo pipefail
program=$1
shift
[[ -z ${LLMSCAPE_JUNIT:-} ]] || set -- --junit "$LLMSCAPE_JUNIT" "$@"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
here=$(dirname "${BASH_SOURCE[0]}")
"$program" sweep "$here/plan.yaml" -o "$out" --quiet
"$program" check "$out" --baseline "$here/baseline.json" "$@"
