#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_package.sh SUITE FOLDER PACKAGE...: in FOLDER, debootstrap makes a minimal root of SUITE (bookworm, trixie); a copy of it
# gets the PACKAGEs that building needs, builds this tree, packs it, and leaves FOLDER/SUITE.deb. Wants root and some 3 GB.
set -euo pipefail
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd) here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shift 2
source "$here/root.sh"

maker=$(root_for "$suite" "$folder" build)
inside "$maker" apt-get install -y --no-install-recommends "$@" dpkg-dev file
put_tree "$(cd "$here/../.." && pwd)" "$maker"
inside "$maker" sh -c 'cd /llmscape && cmake --preset release -D LLMSCAPE_TESTS=OFF && cmake --build --preset release && cd build/release && cpack -G DEB'
cp "$maker"/llmscape/build/release/llmscape_*.deb "$folder/$suite.deb"
inside "$maker" sh -c 'dpkg-deb -f /llmscape/build/release/llmscape_*.deb Depends | grep libfmt' || { echo "the package depends on nothing" >&2; exit 1; }
