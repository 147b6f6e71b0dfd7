#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian package in a root that has never seen this project: clean_root.sh SUITE FOLDER PACKAGE... In FOLDER, debootstrap
# makes a minimal root of SUITE (bookworm, trixie); a copy of it gets the PACKAGEs that building needs, builds this tree and
# packs it; another copy installs nothing but the package and python3, and there the program, the Python package and a
# consumer of find_package have to work. Wants root and some 4 GB.
set -euo pipefail
suite=$1 folder=$2
shift 2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
base=$folder/$suite-base maker=$folder/$suite-build clean=$folder/$suite-clean
unmount() { for root in "$maker" "$clean"; do mountpoint -q "$root/proc" && umount "$root/proc" || true; done; }
trap unmount EXIT

inside() {  # ROOT COMMAND...
  local root=$1
  shift
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

[[ -e $base/etc/debian_version ]] || debootstrap --variant=minbase "$suite" "$base" "${LLMSCAPE_DEBIAN:-http://deb.debian.org/debian}"
unmount
rm -rf "$maker/llmscape" "$clean"
[[ -d $maker ]] || cp -a "$base" "$maker"
cp -a "$base" "$clean"

inside "$maker" apt-get install -y --no-install-recommends "$@" file
mkdir -p "$maker/llmscape"
git -c safe.directory="$tree" -C "$tree" ls-files -z | tar -C "$tree" --null -T - -c | tar -C "$maker/llmscape" -x
inside "$maker" sh -c 'cd /llmscape && cmake --preset release -D LLMSCAPE_TESTS=OFF && cmake --build --preset release && cd build/release && cpack -G DEB'

cp "$maker"/llmscape/build/release/llmscape_*.deb "$clean/root/"
cp -r "$tree/tests/install/consumer" "$clean/root/"
inside "$clean" sh -euxc '
  apt-get install -y --no-install-recommends /root/llmscape_*.deb python3
  cd /root
  chat=/usr/share/llmscape/examples/chat-h100/scenario.yaml
  llmscape --version
  llmscape run $chat --set workload.requests=200 --format json -q >by-program.json
  llmscape sweep $chat --axis workload.arrivals.rate="4 /s,8 /s" --set workload.requests=100 -o out
  llmscape pareto out --max output_tokens_per_s --min ttft_s.p99
  llmscape optimize --help >/dev/null
  llmscape bench --help >/dev/null
  python3 - $chat <<PYTHON
import json, sys
import llmscape
result = llmscape.run(sys.argv[1], {"workload.requests": 200})
assert result.to_dict() == json.load(open("by-program.json"))
print(result.verdict.state, result.latency.ttft_s.p99)
PYTHON
  apt-get install -y --no-install-recommends g++ cmake make pkg-config $(dpkg-query -W -f "\${Suggests}" llmscape | tr -d ,)
  cmake -S consumer -B consumer-build -D CMAKE_BUILD_TYPE=Release
  cmake --build consumer-build
  sed "s/requests: 2000/requests: 200/" $chat >$(dirname $chat)/short.yaml
  consumer-build/consumer $(dirname $chat)/short.yaml >by-consumer.json
  cmp by-program.json by-consumer.json
  consumer-build/consumer /usr/share/llmscape/examples/fat-tree/scenario.yaml >/dev/null'
unmount
chroot "$clean" /usr/bin/llmscape list devices >/dev/null  # without /proc
inside "$clean" sh -euxc 'dpkg -r llmscape && test ! -e /usr/share/llmscape/models'
echo "$suite: the package installs, runs, answers to Python, is linked to, and leaves nothing behind"
