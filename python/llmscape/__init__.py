# SPDX-License-Identifier: Apache-2.0
"""Predicts how a language model is served on hardware that may not exist yet.

    import llmscape
    result = llmscape.run("scenario.yaml", {"workload.arrivals.rate": "4 /s"})
    print(result.verdict.state, result.latency.ttft_s.p99)      # seconds
    for point in llmscape.sweep("scenario.yaml", axes={"hardware.devices[0].count": [1, 2, 4]}):
        print(point.values, point.result.throughput.output_tokens_per_s)

Every run is a process of the program `llmscape`: a notebook survives whatever happens in it, and results are the bytes that
the command line gives. Figures have the units in their names: `_s` seconds, `_per_s` per second, `_j` joules, `_w` watts.
"""

from llmscape import catalog, trace
from llmscape._program import Error, Mistake, Refused, program
from llmscape._result import Result
from llmscape._run import run
from llmscape._sweep import Point, sweep

__all__ = ["Error", "Mistake", "Point", "Refused", "Result", "catalog", "program", "run", "sweep", "trace"]
