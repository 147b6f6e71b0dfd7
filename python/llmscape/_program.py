# SPDX-License-Identifier: Apache-2.0
"""Where the program is, and how it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence, Union

Overrides = Union[Mapping[str, Any], Sequence[str], None]


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong with an input. Lines and columns count from 1; line 0 is the file as a whole."""

    file: str
    line: int
    column: int
    message: str
    severity: str = "error"
    suggestion: str = ""
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.severity}: {self.message}" + (f"; {self.suggestion}" if self.suggestion else "")


class Error(RuntimeError):
    """The program failed. `code` is its exit code: 3 some points failed, 4 an invariant broke, negative a signal."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code


class Refused(Error):
    """An input is wrong, and nothing ran. `mistakes` has all that is wrong, each with its place."""

    def __init__(self, mistakes: list[Mistake], message: str = ""):
        super().__init__("\n".join(str(each) for each in mistakes) or message, 2)
        self.mistakes = mistakes


def program() -> str:
    """The path of the program: $LLMSCAPE_PROGRAM, else the one that is installed with this package, else that of PATH."""
    named = os.environ.get("LLMSCAPE_PROGRAM")
    if named:
        return named
    for prefix in Path(__file__).resolve().parents:
        if (prefix / "bin" / "llmscape").is_file():
            return str(prefix / "bin" / "llmscape")
    found = shutil.which("llmscape")
    if not found:
        raise Error("there is no program 'llmscape': install it, or name it in LLMSCAPE_PROGRAM", 127)
    return found


def typed(value: Any, signs: str = "#\n\r") -> str:
    """A value as YAML has it: text as it is, so that "4 /s" keeps its unit, but in quotes where one of `signs`, or of the
    ends of lines, would end it; all else as JSON."""
    if isinstance(value, str) and not any(sign in value for sign in signs):
        return value
    return json.dumps(value, ensure_ascii=not isinstance(value, str))


def set_options(overrides: Overrides, option: str = "--set") -> list[str]:
    if overrides is None:
        return []
    lines = [f"{path}={typed(value)}" for path, value in overrides.items()] if isinstance(overrides, Mapping) else overrides
    return [word for line in lines for word in (option, line)]


def failure(code: int, told: str) -> Error:
    """What an exit code and stderr come to."""
    start = told.find("[\n")
    try:
        mistakes = [Mistake(**each) for each in json.loads(told[start:])] if start >= 0 else []
    except (ValueError, TypeError):
        mistakes = []
    if code == 2:
        return Refused(mistakes, told.strip())
    return Error(told.strip() or f"llmscape ended with {code}", code)


def ask(arguments: Sequence[str], accepted: Sequence[int] = (0,)) -> str:
    """What the program prints; raises Refused or Error."""
    ran = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ran.returncode not in accepted:
        raise failure(ran.returncode, ran.stderr)
    return ran.stdout
