# SPDX-License-Identifier: Apache-2.0
"""Ready devices, models, workloads, and what else there is to name."""

from __future__ import annotations

import builtins
import re

from llmscape._program import ask


def list(kind: str = "devices") -> builtins.list[dict[str, str]]:
    """What there is of a kind, a row each as `llmscape list` has it: [{"device": "a100-40", "description": ...}, ...]. Kinds:
    devices, hosts, nodes, links, tiers, models, workloads, studies, batchers, routers, metrics, formats, ...

    Raises Refused for a kind that there is not.
    """
    lines = ask(["list", kind, "--format", "markdown", "--error-format", "json"]).strip("\n").split("\n")
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [dict(zip(cells[0], row)) for row in cells[2:]]


def show(name: str) -> str:
    """An entry as YAML, with the source of each value behind it: show("hardware/h100-sxm").

    Raises Refused for a name that there is not.
    """
    return ask(["show", name, "--error-format", "json"])
