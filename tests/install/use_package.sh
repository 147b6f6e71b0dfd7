#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# use_package.sh SUITE FOLDER: FOLDER/SUITE.deb in a copy of the root that build_package.sh made, where nothing but the package and
# python3 is installed: the program, the Python package and a consumer of find_package have to work, and to leave nothing behind.
set -euo pipefail
suite=$1 folder=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clean=$folder/$suite-clean
source "$here/root.sh"

rm -rf "$clean"
cp -a "$folder/$suite-base" "$clean"
cp "$folder/$suite.deb" "$clean/root/llmscape.deb"
cp -r "$here/consumer" "$clean/root/"
inside "$clean" sh -euxc '
  apt-get install -y --no-install-recommends /root/llmscape.deb python3
  cd /root
  chat=/usr/share/llmscape/examples/chat-h100/scenario.yaml
  llmscape --version
  llmscape run $chat --set workload.requests=200 --format json -q >by-program.json
  llmscape sweep $chat --axis workload.arrivals.rate="4 /s,8 /s" --set workload.requests=100 -o out
  llmscape pareto out --max output_tokens_per_s --min ttft_s.p99 --include-invalid
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
leave
chroot "$clean" /usr/bin/llmscape list devices >/dev/null  # without /proc
inside "$clean" sh -euxc 'dpkg -r llmscape && test ! -e /usr/share/llmscape/models'
echo "$suite: the package installs, runs, answers to Python, is linked to, and leaves nothing behind"
