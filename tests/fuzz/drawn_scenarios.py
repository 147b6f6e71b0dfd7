# SPDX-License-Identifier: Apache-2.0
"""drawn_scenarios.py PROGRAM COUNT [FIRST]: runs COUNT scenarios that are drawn from the schemas, from seed FIRST (1) on.

An example is changed in one to four places to what its schema allows there: any policy, degree, list or quantity. The program has
to answer with a run or with a refusal, in time and in its own words. Prints what breaks, as a command line that repeats it, and
ends with 1 if anything did.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ("agents-h200", "autoscaling-faults", "chat-h100", "closed-loop-dataflow", "edge-cim", "heterogeneous-cluster",
            "hybrid-states", "infilling-l4", "kv-budget", "kv-tiers", "mixture-slo", "prefill-decode-pools", "rag-a100")
SECTIONS = {"serving": 8, "workload": 4, "hardware": 4, "model": 3, "faults": 2, "slo": 1, "cost": 1, "window": 1, "horizon": 1}
REQUESTS = 40
SECONDS = 60


class Drawing:
    """One scenario: an example and what is set in it."""

    def __init__(self, seed, catalogues):
        self.random = random.Random(seed)
        self.catalogues = catalogues
        self.base = self.random.choice(EXAMPLES)
        text = (TREE / "examples" / self.base / "scenario.yaml").read_text()
        self.names = re.findall(r"\b(?:name|preset): ([a-z0-9.-]+)", text)
        self.changes = []
        for _ in range(self.random.choice((1, 1, 2, 3, 4))):
            section = self.random.choices(list(SECTIONS), list(SECTIONS.values()))[0]
            self.change(section, {"$ref": f"scenario.schema.json#/properties/{section}"})
        if self.random.random() < 0.3:
            self.changes.append(("hardware.devices[0].count", self.random.choice((1, 2, 3, 4, 8, 16))))
        if self.random.random() < 0.2:
            self.changes.append(("hardware.devices[0].preset", self.random.choice(catalogues.names("devices"))))
        if not any(path in ("workload", "workload.requests") for path, _ in self.changes):
            self.changes.append(("workload.requests", REQUESTS))

    def change(self, path, schema):
        node, file = self.catalogues.resolved(schema, "scenario.schema.json")
        while "allOf" in node or "anyOf" in node:
            node, file = self.catalogues.resolved((node.get("allOf") or node["anyOf"])[-1], file)
        keys = [key for key in node.get("properties", {}) if (path, key) != ("hardware", "devices")]
        if not keys or path == "model":
            self.changes.append((path, self.value(schema, "scenario.schema.json", 0)))
            return
        key = self.random.choice(keys)
        value = self.value(node["properties"][key], file, 1)
        self.changes.append((f"{path}.{key}", min(value, 5 * REQUESTS) if key == "requests" else value))

    def value(self, schema, file, depth):
        node, file = self.catalogues.resolved(schema, file)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self.random.choice(node["enum"])
        for several in ("allOf", "anyOf", "oneOf"):
            if several in node:
                return self.value(self.random.choice(node[several]), file, depth)
        kind = node.get("type", "object")
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        return getattr(self, kind)(node, file, depth)

    def boolean(self, *_):
        return self.random.random() < 0.5

    def number(self, node, *_):
        low = node.get("minimum", node.get("exclusiveMinimum", -3))
        high = node.get("maximum", node.get("exclusiveMaximum", 1e6))
        some = (low, high, 0.01, 0.5, 0.9, 1, 2, 3, 7, 16, 100, self.random.uniform(low, min(high, low + 1e4)))
        return self.random.choice([value for value in some if low <= value <= high])

    def integer(self, node, *_):
        low, high = node.get("minimum", -3), node.get("maximum", 10**6)
        some = (low, high, 0, 1, 2, 3, 4, 5, 8, 16, 64, 1000, self.random.randint(low, min(high, low + 10**4)))
        return self.random.choice([value for value in some if low <= value <= high])

    def string(self, node, *_):
        catalogue = re.fullmatch(r"name of an entry of the catalogue (\w+)", node.get("description", ""))
        if catalogue:
            return self.random.choice(self.catalogues.names(catalogue.group(1)))
        if "examples" in node and "pattern" in node:  # a quantity: of any size, in the unit of the example
            unit = node["examples"][0].split()[-1]
            return f"{self.random.choice((0, 0.001, 0.1, 1, 3, 20, 200, 5e4, 1e12))} {unit}"
        return self.random.choice(node.get("examples") or [*self.names, "nobody", "0.5"])

    def array(self, node, file, depth):
        return [self.value(node.get("items", {}), file, depth + 1) for _ in range(self.random.choice((1, 1, 2, 3)))]

    def object(self, node, file, depth):
        out = {}
        for key, schema in node.get("properties", {}).items():
            if key in node.get("required", ()) or self.random.random() < (0.25 if depth < 2 else 0.12):
                out[key] = self.value(schema, file, depth + 1)
        if isinstance(node.get("additionalProperties"), dict) and self.random.random() < 0.5:
            out[self.random.choice([*self.names, "nobody"])] = self.value(node["additionalProperties"], file, depth + 1)
        return out

    def arguments(self):
        out = [f"examples/{self.base}/scenario.yaml"]
        for path, value in self.changes:
            out += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
        return out


class Catalogues:
    """Schemas and names of catalogue entries, each read once."""

    def __init__(self, program):
        self.program = program
        self.read, self.listed = {}, {}

    def names(self, catalogue):
        if catalogue not in self.listed:
            table = subprocess.run([self.program, "list", catalogue, "--format", "markdown"], capture_output=True, text=True)
            self.listed[catalogue] = re.findall(r"^\| ([a-z0-9][^ |]*) +\|", table.stdout, re.M)[1:] or ["nobody"]
        return self.listed[catalogue]

    def resolved(self, node, file):
        """Behind its references: the node, and the schema that it stands in."""
        while "$ref" in node:
            named, path = node["$ref"].split("#/")
            file = named or file
            if file not in self.read:
                self.read[file] = json.loads((TREE / "schemas" / file).read_text())
            node = self.read[file]
            for key in path.split("/"):
                node = node[key]
        return node, file


def answer(program, arguments):
    """What is wrong with the program's answer, and its exit code."""
    try:
        done = subprocess.run([program, "run", "-q", *arguments], cwd=TREE, capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return f"no answer in {SECONDS} s", 2
    if done.returncode not in (0, 2):
        return f"exit code {done.returncode}\n{done.stderr[-600:]}", done.returncode
    if done.returncode == 2 and "error" not in done.stderr or re.search(r"std::|yaml-cpp|terminate", done.stderr):
        return f"not in our words:\n{done.stderr[-600:]}", 2
    return "", done.returncode


def main(program, count, first=1):
    program = str(pathlib.Path(program).resolve())
    catalogues = Catalogues(program)
    broken = ran = 0
    for seed in range(int(first), int(first) + int(count)):
        arguments = Drawing(seed, catalogues).arguments()
        wrong, code = answer(program, arguments)
        ran += code == 0
        if wrong:
            broken += 1
            quoted = " ".join(f"'{word}'" for word in arguments)
            print(f"seed {seed}: llmscape run {quoted}\n{wrong}", flush=True)
    print(f"{count} scenarios, {ran} run, {broken} broken")
    return 1 if broken or ran < int(count) // 8 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
