# SPDX-License-Identifier: Apache-2.0
"""Many variants of a scenario."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, Union

from llmscape._program import Overrides, failure, program, set_options, typed
from llmscape._result import Result
from llmscape._run import Description, file_of

_LOOK = 0.1  # s between looks at the folder
_SIGNS = ",[]{}#:\"'\n\r"  # what a text in a list of YAML may mean otherwise
_LOGS = 20  # of points that failed, as many as are told


@dataclass(frozen=True)
class Point:
    """One point of a sweep that has run. `values` are those of its axes, as written ("4 /s"); `id` is its name."""

    id: str
    values: dict[str, str]
    seed: int
    result: Result


def _point(path: Path) -> Point:
    point = json.loads(path.read_text(encoding="utf-8"))
    return Point(point["id"], point["values"], point["seed"], Result(point["result"]))


def sweep(
    plan: Description,
    *,
    axes: Union[Mapping[str, Sequence[Any]], None] = None,
    overrides: Overrides = None,
    repeat: Union[int, None] = None,
    jobs: Union[int, None] = None,
    output: Union[str, "os.PathLike[str]", None] = None,
    progress: Union[Callable[[int], None], None] = None,
    folder: Union[str, "os.PathLike[str]", None] = None,
) -> Iterator[Point]:
    """Runs a plan, or a scenario with `axes` ({path: values}), and yields each point when it has run, in the order in which
    they end.

    output: folder that keeps the results; points that it holds are not run again. A temporary one without it.
    progress: is called with the number of points that have ended.

    Text among `axes` is text, whatever signs it holds; mappings and lists are written as those.

    Raises Refused before anything runs; Error at the end where points failed (its text has their logs, of up to 20). Who
    stops iterating stops the sweep; what has run is kept in `output`.
    """
    words = ["--quiet", "--error-format", "json", *set_options(overrides)]
    for path, values in (axes or {}).items():
        words += ["--axis", f"{path}=[{', '.join(typed(value, _SIGNS) for value in values)}]"]
    if repeat is not None:
        words += ["--repeat", str(repeat)]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    with tempfile.TemporaryDirectory(prefix="llmscape-") as own, file_of(plan, folder) as file:
        out = Path(output) if output is not None else Path(own) / "out"
        yield from _points([program(), "sweep", file, "-o", str(out), "--resume", *words], out, progress)


def _failures(folder: Path) -> str:
    """Why points failed, by their names; the folder may be gone when this is read."""
    logs = sorted(folder.glob("*.log"))
    told = [f"{log.stem}: {log.read_text(encoding='utf-8', errors='replace').strip()}" for log in logs[:_LOGS]]
    rest = [f"and {len(logs) - _LOGS} more"] if len(logs) > _LOGS else []
    count = "1 point" if len(logs) == 1 else f"{len(logs)} points"
    return "\n".join([f"{count} failed", *told, *rest]) if logs else ""


def _points(command: list[str], out: Path, progress: Union[Callable[[int], None], None]) -> Iterator[Point]:
    old = {path.name for path in (out / "points").glob("*.json")}
    seen: set[str] = set()

    def fresh(names: Iterable[str]) -> Iterator[Point]:
        for name in names:
            if name not in seen:
                seen.add(name)
                if progress:
                    progress(len(seen))
                yield _point(out / "points" / name)

    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        sweeping = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told)
        try:
            while sweeping.poll() is None:
                time.sleep(_LOOK)
                yield from fresh(sorted({path.name for path in (out / "points").glob("*.json")} - old))
        finally:
            if sweeping.poll() is None:  # who iterates has stopped
                sweeping.send_signal(signal.SIGINT)
                sweeping.wait()
        told.seek(0)
        if sweeping.returncode not in (0, 3):
            raise failure(sweeping.returncode, told.read())
        with open(out / "results.csv", encoding="utf-8", newline="") as table:
            yield from fresh([f"{row['id']}.json" for row in csv.DictReader(table)])
        if sweeping.returncode != 0:
            raise failure(3, _failures(out / "failed") or told.read())
