#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cross_arm64.sh SUITE FOLDER PACKAGE...: a copy of SUITE's root in FOLDER gets a compiler for arm64 and the arm64 PACKAGEs that
# building needs, builds this tree, and runs a scenario under qemu-user. Where build/release is built, its program has to give the
# same figures to nine digits: C libraries of two processors may differ in the last. Wants root and some 3 GB.
set -euo pipefail
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd) here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shift 2
tree=$(cd "$here/../.." && pwd) scenario=examples/chat-h100/scenario.yaml
source "$here/root.sh"

maker=$(root_for "$suite" "$folder" arm64)
libraries=() tools=(cmake ninja-build git ca-certificates pkgconf g++-aarch64-linux-gnu qemu-user-static python3)
for package; do
  case $package in
    lib* | zlib*) libraries+=("$package:arm64") ;;
    nlohmann-*) libraries+=("$package") ;;
  esac
done
inside "$maker" dpkg --add-architecture arm64
inside "$maker" apt-get update
inside "$maker" apt-get install -y --no-install-recommends "${tools[@]}" "${libraries[@]}"
put_tree "$tree" "$maker"
inside "$maker" sh -euxc '
  cd /llmscape
  cat >arm64.cmake <<TOOLCHAIN
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
TOOLCHAIN
  PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig \
    cmake --preset release -D CMAKE_TOOLCHAIN_FILE=arm64.cmake -D CMAKE_CXX_FLAGS=-Wno-psabi -D LLMSCAPE_TESTS=OFF
  cmake --build --preset release
  qemu-aarch64-static build/release/llmscape --version
  qemu-aarch64-static build/release/llmscape run '"$scenario"' --set workload.requests=200 --format json -q >/arm64.json
  qemu-aarch64-static build/release/llmscape run examples/fat-tree/scenario.yaml --format json -q >/dev/null'

[[ -x $tree/build/release/llmscape ]] || { echo "$suite: built for arm64, and runs under qemu-user"; exit 0; }
"$tree/build/release/llmscape" run "$tree/$scenario" --set workload.requests=200 --format json -q >"$maker/amd64.json"
inside "$maker" python3 - <<'PYTHON'
import json, math

def pairs(a, b, where=""):
    assert type(a) is type(b), (where, a, b)
    if isinstance(a, dict):
        assert a.keys() == b.keys(), (where, a.keys() ^ b.keys())
        for key in a: yield from pairs(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), (where, len(a), len(b))
        for i in range(len(a)): yield from pairs(a[i], b[i], f"{where}/{i}")
    else:
        yield where, a, b

# What names the program or the files, not what it computed.
told = list(pairs(json.load(open("/amd64.json")), json.load(open("/arm64.json"))))
apart = [(where, a, b) for where, a, b in told
         if not where.startswith("/provenance") and (not math.isclose(a, b, rel_tol=1e-9) if isinstance(a, float) else a != b)]
for line in apart: print(*line)
print(len(told), "values,", sum(a == b for _, a, b in told), "the same to the bit,", len(apart), "apart")
assert not apart
PYTHON
echo "$suite: built for arm64, and runs under qemu-user with the figures of amd64"
