#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.mjs: runs a test under node; says what is missing and answers 77 where it cannot.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

skip() {
  echo "skipped: $*"
  exit 77
}

node=$(command -v node) || skip "no node here (Debian: nodejs)"
if [[ $1 != modules_* ]]; then
  LLMSCAPE_CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no chromium here"
  export LLMSCAPE_CHROMIUM
  for package in playwright-core axe-core; do
    [[ -d $here/node_modules/$package ]] || skip "no $package here: npm ci --prefix tests/browser"
  done
fi
exec "$node" --test "$here/$1"
