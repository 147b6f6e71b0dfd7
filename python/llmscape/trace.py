# SPDX-License-Identifier: Apache-2.0
"""Recorded request traces."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Union

from llmscape._program import ask


def read(path: Union[str, "os.PathLike[str]"], format: str = "") -> Iterator[dict[str, Any]]:
    """The records of a trace in any format that `llmscape list formats` names, plain or compressed, by their arrival:
    `arrival_s` in seconds, `prompt_tokens` (or `prompt`, a list of [content id, tokens] and perhaps an offset),
    `output_tokens`, and `session` where it is known.

    Raises Refused where a record is broken, with its place.
    """
    options = ["--error-format", "json"] + (["--trace-format", format] if format else [])
    # Texts may hold what splitlines() takes for the end of one: U+2028, U+0085.
    lines = ask(["trace", "convert", os.fspath(path), "-o", "-", *options]).split("\n")
    for line in lines[1:]:  # the first one names the schema
        if not line:
            continue
        record = json.loads(line)
        if "prompt" in record:
            record["prompt_tokens"] = sum(segment[1] for segment in record["prompt"])
        yield record
