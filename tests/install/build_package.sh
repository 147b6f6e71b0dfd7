#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_package.sh SUITE FOLDER PACKAGE...: in FOLDER, debootstrap makes a minimal root of SUITE (bookworm, trixie); a copy of it
# gets the PACKAGEs that building needs, builds this tree, packs it, and leaves FOLDER/SUITE.deb. Wants root and some 3 GB.
set -euo pipefail
suite=$1 folder=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
base=$folder/$suite-base maker=$folder/$suite-build
source "$here/root.sh"

[[ -e $base/etc/debian_version ]] || debootstrap --variant=minbase "$suite" "$base" "${LLMSCAPE_DEBIAN:-http://deb.debian.org/debian}"
[[ -d $maker ]] || cp -a "$base" "$maker"
inside "$maker" apt-get install -y --no-install-recommends "$@" file
rm -rf "$maker/llmscape"
mkdir -p "$maker/llmscape"
git -c safe.directory="$tree" -C "$tree" ls-files -z | tar -C "$tree" --null -T - -c | tar -C "$maker/llmscape" -x
inside "$maker" sh -c 'cd /llmscape && cmake --preset release -D LLMSCAPE_TESTS=OFF && cmake --build --preset release && cd build/release && cpack -G DEB'
cp "$maker"/llmscape/build/release/llmscape_*.deb "$folder/$suite.deb"
