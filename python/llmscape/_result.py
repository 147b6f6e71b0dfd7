# SPDX-License-Identifier: Apache-2.0
"""Results as objects."""

from __future__ import annotations

import json
from typing import Any, Iterator


class Result:
    """A part of a result (schema run/1) whose keys are attributes: `result.latency.ttft_s.p99`. Keys stand in docs/metrics.md; what
    was not computed is not there."""

    def __init__(self, values: dict[str, Any]):
        self._values = values

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no '{key}' here; there are {', '.join(self._values)}") from None

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._values[key])

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._values == other._values

    def __repr__(self) -> str:
        return f"Result({json.dumps(self._values)[:200]})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries, lists and numbers: what `run --format json` prints."""
        return self._values


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Result(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value
