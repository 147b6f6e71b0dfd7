#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installation, moved: run.sh CMAKE BUILD COMPILER FLAGS. The program, the Python package and a consumer of find_package
# work from where it is, with the data that came with it, and give the same bytes. The consumer is compiled as BUILD was: the
# library of one with sanitizers wants them in the program.
set -euo pipefail
cmake=$1 build=$2 compiler=$3 flags=$4 here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

"$cmake" --install "$build" --prefix "$place/first" >"$place/log"
mv "$place/first" "$place/moved"
scenario=$place/moved/share/llmscape/examples/chat-h100/scenario.yaml
cd "$place"
env -i PATH=/usr/bin:/bin moved/bin/llmscape run "$scenario" --set workload.requests=200 --format json -q >by-program.json
test -s moved/share/man/man1/llmscape.1
# Where README leads to, and its commands: examples are found from any folder.
for link in $(grep -o ']([^)#:]*[)#]' moved/share/doc/llmscape/README.md | tr -d '](#)' | sort -u); do
  test -e "moved/share/doc/llmscape/$link" || { echo "README.md links to $link, which is not installed" >&2; exit 1; }
done
env -i PATH=/usr/bin:/bin moved/bin/llmscape run examples/chat-h100/scenario.yaml --set workload.requests=200 --format json -q |
  cmp - by-program.json

if command -v python3 >/dev/null; then
  env -i PATH=/usr/bin:/bin PYTHONPATH="$place/moved/lib/python3/dist-packages" python3 -B - "$scenario" <<'PYTHON'
import json, sys
import llmscape
assert llmscape.program().endswith("/moved/bin/llmscape"), llmscape.program()
result = llmscape.run(sys.argv[1], {"workload.requests": 200})
assert result.to_dict() == json.load(open("by-program.json"))
PYTHON
fi

sed 's/requests: 2000/requests: 200/' "$scenario" >moved/share/llmscape/examples/chat-h100/short.yaml
"$cmake" -S "$here/consumer" -B consumer -D CMAKE_PREFIX_PATH="$place/moved" -D CMAKE_CXX_COMPILER="$compiler" \
  -D CMAKE_CXX_FLAGS="$flags" >>log
"$cmake" --build consumer >>log
consumer/consumer moved/share/llmscape/examples/chat-h100/short.yaml >by-consumer.json 2>told
grep -q 'the same again' told
cmp by-program.json by-consumer.json
echo "nonsense: 1" >>moved/share/llmscape/examples/chat-h100/short.yaml
if consumer/consumer moved/share/llmscape/examples/chat-h100/short.yaml >/dev/null 2>told; then exit 1; fi
grep -q "unknown key 'nonsense'" told
