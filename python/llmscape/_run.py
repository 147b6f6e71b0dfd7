# SPDX-License-Identifier: Apache-2.0
"""One scenario."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterator, Mapping, Union

from llmscape._program import Overrides, ask, set_options
from llmscape._result import Result

Description = Union[str, "os.PathLike[str]", Mapping[str, Any]]


@contextlib.contextmanager
def file_of(description: Description, folder: Union[str, "os.PathLike[str]", None]) -> Iterator[str]:
    """A path of the description; one that is a mapping stands in a file of `folder` meanwhile, from where its relative paths
    start."""
    if not isinstance(description, Mapping):
        yield os.fspath(description)
        return
    with tempfile.NamedTemporaryFile(
        "w", prefix=".llmscape-", suffix=".json", dir=Path(folder or "."), encoding="utf-8"
    ) as file:
        json.dump(description, file)
        file.flush()
        yield file.name


def run(
    scenario: Description,
    overrides: Overrides = None,
    *,
    seed: Union[int, None] = None,
    intervals: bool = False,
    folder: Union[str, "os.PathLike[str]", None] = None,
) -> Result:
    """Runs a scenario: a path, or a mapping with its keys, whose relative paths start from `folder` (the working one).

    overrides: {"workload.arrivals.rate": "4 /s"} or ["workload.arrivals.rate=4 /s"].
    seed: of every random stream, instead of the scenario's.
    intervals: runs 19 more, and gives 90 % intervals of the main metrics.

    Raises Refused with all mistakes of the scenario, each with its place; Error for anything else.
    """
    options = ["--format", "json", "--quiet", "--error-format", "json", *set_options(overrides)]
    if seed is not None:
        options += ["--seed", str(seed)]
    if intervals:
        options.append("--intervals")
    with file_of(scenario, folder) as path:
        return Result(json.loads(ask(["run", path, *options])))
